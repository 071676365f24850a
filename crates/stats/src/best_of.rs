//! The article's own statistic: the best of three passes.
//! Shown under its name beside the mean, since a minimum favours the noisier engine.

/// The smallest of the first `count` values, in the order measured. Always the same number of
/// values, whatever was measured in all: the minimum of more values would be lower.
///
/// None if `count` is 0, there are fewer values, or one of them is not finite.
pub fn best_of(values: &[f64], count: usize) -> Option<f64> {
    let first = values.get(..count)?;
    if first.iter().any(|x| !x.is_finite()) {
        return None;
    }
    first.iter().copied().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_passes_count() {
        assert_eq!(best_of(&[5.0, 3.0, 4.0, 1.0], 3), Some(3.0));
        assert_eq!(best_of(&[5.0, 3.0], 3), None);
        assert_eq!(best_of(&[5.0, f64::NAN, 3.0], 3), None);
        assert_eq!(best_of(&[5.0], 0), None);
    }
}
