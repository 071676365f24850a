//! Quotas of rows by day: an exact total, by weekday and a slow decline, and on no day more than
//! there are pairs of published article and country.

/// Weight of each weekday, Monday first: programmers read at work.
const SEASON: [u128; 7] = [100, 106, 108, 105, 95, 52, 56];

/// Rows of each day from `start` on. `maxima` has the largest possible number for each day and
/// must add up to at least `rows`.
///
/// Shares are rounded by largest remainders; what a full day cannot take goes to the others.
pub fn daily_quotas(start: i32, maxima: &[u64], rows: u64) -> Vec<u64> {
    let weights = weights(start, maxima.len());
    let mut quotas = vec![0; maxima.len()];
    let mut open: Vec<usize> = (0..maxima.len()).collect();
    let mut left = u128::from(rows);
    loop {
        let total: u128 = open.iter().map(|&day| weights[day]).sum();
        let is_full = |day: &usize| left * weights[*day] / total >= u128::from(maxima[*day]);
        let (full, rest): (Vec<_>, Vec<_>) = open.iter().partition(|day| is_full(day));
        if full.is_empty() {
            share_out(left, total, &weights, &open, &mut quotas);
            return quotas;
        }
        for day in full {
            quotas[day] = maxima[day];
            left -= u128::from(maxima[day]);
        }
        open = rest;
    }
}

/// Gives each open day its share of `left`, and the remainder to the largest fractions.
fn share_out(left: u128, total: u128, weights: &[u128], open: &[usize], quotas: &mut [u64]) {
    let mut given = 0;
    let mut fractions = Vec::with_capacity(open.len());
    for &day in open {
        let share = left * weights[day] / total;
        quotas[day] = share as u64;
        given += share;
        fractions.push((left * weights[day] % total, day));
    }
    fractions.sort_unstable_by_key(|&(fraction, day)| (std::cmp::Reverse(fraction), day));
    for &(_, day) in fractions.iter().take((left - given) as usize) {
        quotas[day] += 1;
    }
}

/// From 110% on the first day to 90% on the last, times the season.
fn weights(start: i32, days: usize) -> Vec<u128> {
    let last = (days.max(2) - 1) as u128;
    (start..)
        .take(days)
        .enumerate()
        .map(|(place, day)| SEASON[weekday(day)] * (110 * last - 20 * place as u128))
        .collect()
}

/// 0 is Monday.
fn weekday(day: i32) -> usize {
    // Day 0, 1970-01-01, was a Thursday.
    (day.rem_euclid(7) as usize + 3) % 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_week_begins_on_monday() {
        // 2021-05-31 and 1960-02-29
        for monday in [18_778, -3_594] {
            assert_eq!([weekday(monday), weekday(monday + 6)], [0, 6]);
        }
    }

    #[test]
    fn quotas_add_up_and_respect_the_maxima() {
        let maxima: Vec<u64> = (0..100).map(|day| day * 3).collect();
        let most: u64 = maxima.iter().sum();
        for rows in [0, 1, 99, 5_000, 14_000, most - 1, most] {
            let quotas = daily_quotas(18_353, &maxima, rows);
            assert_eq!(quotas.iter().sum::<u64>(), rows);
            assert!(quotas.iter().zip(&maxima).all(|(quota, most)| quota <= most), "{rows}");
        }
    }

    #[test]
    fn a_weekend_has_about_half_the_rows() {
        let monday = 18_358;
        let quotas = daily_quotas(monday, &[1_000_000; 700], 7_000_000);
        let weekend: u64 = quotas.chunks(7).map(|week| week[5] + week[6]).sum();
        let workdays: u64 = quotas.chunks(7).map(|week| week[0] + week[1]).sum();
        assert!((0.5..0.55).contains(&(weekend as f64 / workdays as f64)));
    }
}
