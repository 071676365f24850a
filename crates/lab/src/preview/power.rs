//! Power of a plan's comparisons: the smallest difference that they are likely to show.

use notation::counted;
use plan::{Compare, Design};
use record::Finished;
use report::analysis::{CONFIDENCE_LEVEL, OtherPairs, analyse, planned_verdicts};
use serde::Serialize;
use stats::{log_deviation, smallest_difference};

/// The smallest difference that is shown nine times in ten.
#[derive(Clone, Debug, Serialize)]
pub struct ExpectedPower {
    /// As a share of the other engine: 0.05 is a ratio of 1.05.
    pub smallest_difference: f64,
    /// Comparisons that verdicts are corrected for.
    pub verdicts: usize,
    /// The standard deviation of a trial that was assumed, as a share.
    pub noise: f64,
    /// The earlier run that had it; none where 5% was assumed.
    pub noise_by_run: Option<String>,
    /// Where every pair is compared: the same of comparisons with the first engine alone.
    pub smallest_difference_with_first: Option<f64>,
    /// The comparisons of the pairs without the first engine, a family of their own.
    pub other_verdicts: usize,
    /// The same among these; none where they are not compared.
    pub smallest_difference_of_others: Option<f64>,
    /// Why they are not compared; none where they are, or there are none.
    #[serde(skip)]
    not_compared: Option<&'static str>,
}

/// The noise of a trial where no earlier run tells it.
const NOISE: f64 = 0.05;
/// Nine times in ten.
const POWER: f64 = 0.9;

impl ExpectedPower {
    pub(super) fn of(
        design: &Design<'_>,
        blocks: usize,
        earlier: Option<&Finished>,
    ) -> Option<Self> {
        let verdicts = planned_verdicts(design, design.cells());
        // Two trials make a ratio.
        let pair = std::f64::consts::SQRT_2;
        let known = earlier.and_then(|run| Some((noise(run)?, run.run.id.clone())));
        let (noise, noise_by_run) = match known {
            Some((deviation, run)) => (deviation / pair, Some(run)),
            None => (NOISE, None),
        };
        let smallest = |verdicts: usize| {
            smallest_difference(blocks, noise * pair, verdicts, CONFIDENCE_LEVEL, POWER)
        };
        let engines = design.engines.len();
        let of_all = design.compare.unwrap_or(Compare::First).pairs(engines);
        let of_first = Compare::First.pairs(engines);
        let OtherPairs { are_compared: compared, verdicts: others } = OtherPairs::of(design);
        let smallest_of_others = smallest(others).filter(|_| compared);
        Some(Self {
            smallest_difference: smallest(verdicts).filter(|_| verdicts > 0)?,
            verdicts,
            noise,
            noise_by_run,
            smallest_difference_with_first: match of_all > of_first {
                true => smallest(verdicts * of_first / of_all),
                false => None,
            },
            other_verdicts: if compared { others } else { 0 },
            smallest_difference_of_others: smallest_of_others,
            not_compared: match design.compare {
                _ if compared || others == 0 => None,
                Some(Compare::All) => None,
                Some(Compare::First) => Some("the plan compares with the first alone"),
                None => Some("they are too many for these blocks; --compare all, or 10 blocks"),
            },
        })
    }

    /// `The smallest difference shown nine times in ten: 12%, among 3 comparisons, ...`.
    pub fn in_words(&self) -> String {
        let percent = |share: f64| format!("{}%", notation::digits(share * 100.0));
        let noise = match &self.noise_by_run {
            Some(run) => format!("at the noise of run {run} ({} of a trial)", percent(self.noise)),
            None => format!(
                "assuming trials vary by {} (no earlier run of this plan found)",
                percent(self.noise)
            ),
        };
        let with_first = self.smallest_difference_with_first.map(|smallest| {
            format!("; of comparisons with the first engine alone {}", percent(smallest))
        });
        let others = self.smallest_difference_of_others.map(|smallest| {
            let verdicts = counted(self.other_verdicts, "comparison");
            format!(
                " Pairs without the first engine, a family of their own: {}, among {verdicts}.",
                percent(smallest)
            )
        });
        let not_compared = self
            .not_compared
            .map(|why| format!(" Pairs without the first engine are not compared: {why}."));
        format!(
            "The smallest difference shown nine times in ten: {}{}, among {}, {noise}.{}",
            percent(self.smallest_difference),
            with_first.unwrap_or_default(),
            counted(self.verdicts, "comparison"),
            others.or(not_compared).unwrap_or_default()
        )
    }
}

/// The median over all comparisons of a run of the standard deviation of its blocks' ratios.
fn noise(run: &Finished) -> Option<f64> {
    let analysis = analyse(&Design::of(&run.plan), &run.cells(), &run.trials);
    let together = analysis.sweeps.iter().filter(|sweep| sweep.is_primary());
    let results = together.flat_map(|sweep| &sweep.results);
    let mut deviations: Vec<f64> = results.filter_map(|one| log_deviation(&one.ratio)).collect();
    deviations.sort_by(f64::total_cmp);
    deviations.get(deviations.len() / 2).copied().filter(|deviation| *deviation > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(days: &str, rest: &str) -> String {
        let text = format!(
            "title = 't'\nworkload = 'http'\nreplicates = 5\n{rest}\
             engines = ['sqlite', 'postgres:18', 'postgres:17', 'postgres:16', 'postgres:15']\n\
             application = {{ start = ['app', '{{listen}}', '{{database_url}}'] }}\nrequest = [{{ path = '/{{days}}' }}]\n\
             [factors]\ndays = {{ levels = [{days}], swept = 'log' }}\n"
        );
        let plan = plan::read(&text, "power.toml").unwrap();
        ExpectedPower::of(&Design::of(&plan), 5, None).unwrap().in_words()
    }

    #[test]
    fn the_price_of_other_pairs_is_said_or_why_there_are_none() {
        let few = words("1, 10", "");
        assert!(few.contains("among 8 comparisons"), "{few}");
        let others = "Pairs without the first engine, a family of their own: ";
        assert!(few.contains(others) && few.ends_with(", among 12 comparisons."), "{few}");
        let many = words("1, 2, 4, 8, 16, 32, 64", "");
        assert!(
            many.ends_with("too many for these blocks; --compare all, or 10 blocks."),
            "{many}"
        );
        let first = words("1, 10", "compare = 'first'\n");
        assert!(first.ends_with("the plan compares with the first alone."), "{first}");
        assert!(!words("1, 10", "compare = 'all'\n").contains("Pairs without"));
    }
}
