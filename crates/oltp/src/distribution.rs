//! (API) Which keys a transaction chooses, as sysbench's --rand-type.

/// With sysbench's defaults.
pub enum Distribution {
    /// Every key as often as any other.
    Uniform,
    /// Three quarters of the draws fall on the one per cent of keys in the middle, the others are
    /// bell-shaped around it (mean of 12 draws).
    #[default]
    Special,
    /// Rank r with a probability proportional to r^-0.8, key 1 the most popular.
    Zipfian,
    /// 80% of the draws fall on the first 20% of the keys, of these 80% on 20%, and so on.
    Pareto,
}
// FromStr, Display ("uniform"), Distribution::ALL, serde snake_case
