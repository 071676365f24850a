//! All comparisons of one kind, judged together: which differences and which equalities are shown,
//! each of the two corrected over the whole family (Holm). Every verdict of a report comes from here.

use stats::crossing::{LevelResult, Sign, more_blocks_of, signs};
use stats::{Estimate, RatioComparison, equivalence, holm, ratio_comparison};

use super::{CONFIDENCE_LEVEL, Shown};
use plan::Plan;

/// Two sides in the blocks that both have; less is faster.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides {
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    /// The same with time-outs counted at the limit; none where nothing timed out.
    pub with_time_outs: Option<(Vec<f64>, Vec<f64>)>,
}

/// Result of one comparison, among its family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The level of the swept factor, 0 where none is swept.
    pub level: f64,
    /// The ratio of times a/b.
    pub ratio: Estimate,
    /// The difference that is shown.
    pub sign: Sign,
    /// Whether equality within the plan's margin is shown; a small difference may be shown too.
    pub equal: bool,
    /// A difference would be shown, but with time-outs counted at the limit another one or none is.
    pub time_outs_could_turn: bool,
    /// For how many verdicts `sign` was corrected.
    pub verdicts: usize,
}

impl Compared {
    /// The verdict. A difference within the margin of equality is an equality first.
    pub fn shown(&self) -> Shown {
        match self.sign {
            _ if self.equal => Shown::Equal,
            sign => sign.into(),
        }
    }

    /// Whether it is settled, one way or the other.
    pub fn is_settled(&self) -> bool {
        self.shown() != Shown::Undecided
    }

    /// About how many more blocks would settle it; none if more than a thousand.
    pub fn more_blocks(&self) -> Option<usize> {
        more_blocks_of(&self.level_result())
    }

    /// The sign that crossings rest on: differences alone.
    pub(super) fn level_result(&self) -> LevelResult {
        LevelResult {
            level: self.level,
            ratio: self.ratio,
            sign: self.sign,
            verdicts: self.verdicts,
        }
    }
}

/// Judges `family`, each comparison with its level, in the order given; none where a side has no
/// value to compare. The plan may come to hold `planned` of them.
pub(super) fn judge(
    plan: &Plan,
    family: &[(f64, Option<Sides>)],
    planned: usize,
) -> Vec<Option<Compared>> {
    let ratio = |(a, b): (&Vec<f64>, &Vec<f64>)| ratio_comparison(a, b, CONFIDENCE_LEVEL);
    let compared: Vec<Option<(f64, &Sides, RatioComparison)>> = family
        .iter()
        .map(|(level, sides)| {
            let sides = sides.as_ref()?;
            Some((*level, sides, ratio((&sides.a, &sides.b))?))
        })
        .collect();
    let present = || compared.iter().flatten();
    let comparisons: Vec<RatioComparison> = present().map(|(.., comparison)| *comparison).collect();
    let shown = signs(&comparisons, planned, CONFIDENCE_LEVEL);
    let at_limit = present().map(|(_, sides, comparison)| {
        let with = sides.with_time_outs.as_ref();
        with.map_or(Some(*comparison), |(a, b)| ratio((a, b))).unwrap_or(*comparison)
    });
    let shown_at_limit = signs(&at_limit.collect::<Vec<_>>(), planned, CONFIDENCE_LEVEL);
    let equal = equalities(plan, present().map(|(_, sides, _)| *sides), planned);
    let measured = comparisons.iter().filter(|comparison| comparison.p_value.is_some()).count();
    let verdicts = measured.max(planned);
    let mut judged = shown.into_iter().zip(shown_at_limit).zip(equal);
    compared
        .iter()
        .map(|one| {
            let (level, _, comparison) = one.as_ref()?;
            let ((sign, at_limit), equal) = judged.next()?;
            let turns = sign != at_limit;
            Some(Compared {
                level: *level,
                ratio: comparison.ratio,
                sign: if turns { Sign::Undecided } else { sign },
                equal: equal && !turns,
                time_outs_could_turn: turns,
                verdicts,
            })
        })
        .collect()
}

/// Two one-sided tests each, also with time-outs counted at the limit, corrected together.
fn equalities<'s>(
    plan: &Plan,
    family: impl Iterator<Item = &'s Sides>,
    planned: usize,
) -> Vec<bool> {
    let margin = plan.equivalent_within.0;
    let test = |a: &[f64], b: &[f64]| equivalence(a, b, margin).map_or(1.0, |it| it.p_value);
    let mut p_values: Vec<f64> = family
        .map(|sides| {
            let with = sides.with_time_outs.as_ref();
            test(&sides.a, &sides.b).max(with.map_or(0.0, |(a, b)| test(a, b)))
        })
        .collect();
    let count = p_values.len();
    p_values.resize(count.max(planned), 1.0);
    holm(&p_values).into_iter().take(count).map(|p| p <= 1.0 - CONFIDENCE_LEVEL).collect()
}
