//! Planted truths: ratios of times along an axis from 7 to 365 days, with the places where they
//! are one. Shapes and numbers are drawn at random within bounds.

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use stats::crossing::Side;

/// The article's periods, and a finer grid.
pub const GRIDS: [&[f64]; 2] = [&[7.0, 31.0, 90.0, 365.0], &[7.0, 14.0, 31.0, 90.0, 180.0, 365.0]];

/// What two lines may do along the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Both times grow linearly, one from a lower start and faster.
    Linear,
    /// The ratio is a power of the level.
    Power,
    /// A constant ratio up to a knee, then a power of up to the third degree.
    FlatThenSteep,
    /// A constant ratio: no crossing.
    Parallel,
    /// The lines touch and part again: no crossing.
    Tangent,
    /// The faster engine changes twice.
    TwoCrossings,
    /// A power that is one within 20% of an end of the axis, inside or outside.
    GridEdge,
}

impl Shape {
    pub const ALL: [Self; 7] = [
        Self::Linear,
        Self::Power,
        Self::FlatThenSteep,
        Self::Parallel,
        Self::Tangent,
        Self::TwoCrossings,
        Self::GridEdge,
    ];
}

/// The true ratio of times a/b along the axis.
pub struct Truth {
    log_ratio: Box<dyn Fn(f64) -> f64>,
    /// Where it is one and changes sides, in ascending order, inside or outside of the grid.
    pub crossings: Vec<f64>,
}

impl Truth {
    pub fn ratio(&self, level: f64) -> f64 {
        self.log_ratio(level).exp()
    }

    pub fn log_ratio(&self, level: f64) -> f64 {
        (self.log_ratio)(level)
    }

    pub fn faster(&self, level: f64) -> Side {
        if self.log_ratio(level) < 0.0 { Side::A } else { Side::B }
    }

    /// The ratio that is `exp(of(ln(level)))`.
    fn of_logarithm(of: impl Fn(f64) -> f64 + 'static, crossings: &[f64]) -> Self {
        let crossings = crossings.iter().map(|logarithm| logarithm.exp()).collect();
        Self { log_ratio: Box::new(move |level| of(level.ln())), crossings }
    }

    /// Draws a truth of this shape; either engine may be the one that is faster at first.
    pub fn draw(shape: Shape, random: &mut Xoshiro256PlusPlus) -> Self {
        let side = if random.random_bool(0.5) { 1.0 } else { -1.0 };
        let place = random.random_range(8.0_f64.ln()..330.0_f64.ln());
        match shape {
            Shape::Linear => {
                let (fixed, slope) =
                    (random.random_range(10.0..200.0), random.random_range(0.1..0.9));
                let fixed_b = fixed + (2.0 - slope) * place.exp();
                let a = move |x: f64| (fixed + 2.0 * x.exp()).ln();
                let b = move |x: f64| (fixed_b + slope * x.exp()).ln();
                Self::of_logarithm(move |x| side * (a(x) - b(x)), &[place])
            }
            Shape::Power => {
                let slope = random.random_range(0.03..0.8);
                Self::of_logarithm(move |x| side * slope * (x - place), &[place])
            }
            Shape::FlatThenSteep => {
                let (below, slope) =
                    (random.random_range(0.05..0.6), random.random_range(0.5..3.0));
                let knee = place.min(250.0_f64.ln());
                let ratio = move |x: f64| side * (slope * (x - knee).max(0.0) - below);
                Self::of_logarithm(ratio, &[knee + below / slope])
            }
            Shape::Parallel => {
                let distance = side * random.random_range(0.0..0.3);
                Self::of_logarithm(move |_| distance, &[])
            }
            Shape::Tangent => {
                let curvature = random.random_range(0.02..0.4);
                Self::of_logarithm(move |x| side * curvature * (x - place).powi(2), &[])
            }
            Shape::TwoCrossings => {
                let centre = random.random_range(25.0_f64.ln()..120.0_f64.ln());
                let (half, curvature) =
                    (random.random_range(0.3..1.2), random.random_range(0.1..0.8));
                let ratio = move |x: f64| side * curvature * ((x - centre).powi(2) - half * half);
                Self::of_logarithm(ratio, &[centre - half, centre + half])
            }
            Shape::GridEdge => {
                let end: f64 = if random.random_bool(0.5) { 7.0 } else { 365.0 };
                let (place, slope) =
                    (end.ln() + random.random_range(-0.2..0.2), random.random_range(0.1..0.8));
                Self::of_logarithm(move |x| side * slope * (x - place), &[place])
            }
        }
    }
}
