//! crossover
fn main() {}
