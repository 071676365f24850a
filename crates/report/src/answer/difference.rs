//! The size of a difference at one level: of how much, what a wrong choice costs, at how many cores.

use stats::Estimate;
use stats::crossing::Side;

use super::names::{capital, of};
use super::wording::{Wording, label, other};
use super::{place, size};
use crate::analysis::{Compared, Shown, Sweep, Treatment};

/// A smaller share of the other's time is written as a number of times as fast.
const FAR_BELOW: f64 = 0.1;

/// A level of a sweep at which one side is shown faster.
pub(super) struct Decided {
    pub level: f64,
    pub faster: Side,
    /// The response of the faster side by that of the other.
    pub ratio: Estimate,
    /// The response of either, the faster side first.
    pub values: (f64, f64),
}

impl Wording<'_> {
    /// The level with the largest cost of a wrong choice among those at which `side` (or any) is
    /// shown faster.
    pub(super) fn dearest(&self, sweep: &Sweep, side: Option<Side>) -> Option<Decided> {
        let decided = sweep.results.iter().filter_map(|one| self.decided(sweep, one));
        let wanted = decided.filter(|one| side.is_none_or(|side| one.faster == side));
        let cost = |one: &Decided| (one.values.0 - one.values.1).abs();
        wanted.max_by(|x, y| cost(x).total_cmp(&cost(y)))
    }

    fn decided(&self, sweep: &Sweep, one: &Compared) -> Option<Decided> {
        let faster = one.sign.faster().filter(|_| one.shown() != Shown::Equal)?;
        let of_a = self.plan.response().ratio(one.ratio);
        let [fast, slow] =
            [faster, other(faster)].map(|side| self.value(sweep, label(sweep, side), one.level));
        let ratio = match faster {
            Side::A => of_a,
            Side::B => inverse(of_a),
        };
        Some(Decided { level: one.level, faster, ratio, values: (fast?, slow?) })
    }

    /// `PostgreSQL 18 answers a year of data in 0.44 of SQLite's time (410 ms against 940 ms,
    /// 1 client; 95%: 0.42 to 0.46)`.
    pub(super) fn size(&self, sweep: &Sweep, one: &Decided, others: &str) -> String {
        let plan = self.plan;
        let response = plan.response();
        let (fast, slow) = (self.side(sweep, one.faster), self.side(sweep, other(one.faster)));
        let axis = place::axis(plan, sweep);
        let data = axis.and_then(|factor| place::data(plan, factor, one.level));
        // From ten times on a share has too many zeros to be read.
        let is_far = response.lower_is_better() && one.ratio.value < FAR_BELOW;
        let ratio = if is_far { inverse(one.ratio) } else { one.ratio };
        let share = size::share(ratio.value);
        let verb = match (plan.rules().copies_data(), &data) {
            (true, Some(data)) => format!("answers {data} in"),
            (true, None) => "answers in".to_owned(),
            (false, _) => "needs".to_owned(),
        };
        let said = match (response.lower_is_better(), is_far) {
            (false, _) => {
                let what = of(slow, &response.label().to_lowercase());
                format!("does {share} times {what}")
            }
            (true, false) => format!("{verb} {share} of {}", of(slow, "time")),
            (true, true) => {
                let verb = verb.trim_end_matches(" in").replace("needs", "is");
                format!("{verb} {share} times as fast as {slow}")
            }
        };
        let values = size::against(response, one.values);
        let at =
            axis.filter(|_| data.is_none()).map(|factor| place::level(plan, factor, one.level));
        let at = at.into_iter().chain((!others.is_empty()).then(|| others.to_owned()));
        let at: String = at.map(|level| format!(", {level}")).collect();
        let certainty = size::interval(&ratio).map(|interval| format!("; 95%: {interval}"));
        format!("{} {said} ({values}{at}{})", capital(fast), certainty.unwrap_or_default())
    }

    /// `Choosing SQLite costs up to 530 ms per request at a year; choosing PostgreSQL 18 costs up to
    /// 2 ms at a week.`: of two engines, the largest over all sets of levels.
    pub(super) fn costs(&self, together: &[&Sweep]) -> Option<String> {
        let response = self.plan.response();
        let each = match response.lower_is_better() {
            false => format!(" {}", response.label().to_lowercase()),
            true => format!(" per {}", self.plan.rules().unit_of_work()),
        };
        let loss = |one: &Decided| (one.values.0 - one.values.1).abs();
        let cost = |side: Side| {
            let all = together
                .iter()
                .filter_map(|sweep| self.dearest(sweep, Some(other(side))).map(|one| (sweep, one)));
            let (sweep, one) = all.max_by(|x, y| loss(&x.1).total_cmp(&loss(&y.1)))?;
            let size = size::value(response, loss(&one));
            let at = place::axis(self.plan, sweep)
                .map(|factor| place::level(self.plan, factor, one.level));
            let others = Some(place::others(self.plan, &sweep.levels));
            let others = others.filter(|others| together.len() > 1 && !others.is_empty());
            let at: Vec<String> = at.into_iter().chain(others).collect();
            let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
            Some(format!("choosing {} costs up to {size}{each}{at}", self.side(sweep, side)))
        };
        let said: Vec<String> = [Side::A, Side::B].into_iter().filter_map(cost).collect();
        let mut said = said.join("; ");
        said.get_mut(..1)?.make_ascii_uppercase();
        Some(said + ".")
    }

    /// `At a year PostgreSQL 18 used 1.98 cores, SQLite 1.00.`: at the level of the size.
    pub(super) fn cores(&self, sweep: &Sweep) -> Option<String> {
        let one = self.dearest(sweep, None)?;
        let levels = self.levels_at(sweep, one.level);
        let of = |side: Side| {
            let engine = label(sweep, side);
            let is_it = |t: &&Treatment| t.engine == engine && t.levels == levels;
            self.treatments.iter().find(is_it)?.cores_used
        };
        let (fast, slow) = (of(one.faster)?, of(other(one.faster))?);
        let at = place::in_words(self.plan, &levels).join(", ");
        let (faster, slower) = (self.side(sweep, one.faster), self.side(sweep, other(one.faster)));
        let said = format!("{faster} used {fast:.2} cores, {slower} {slow:.2}.");
        Some(if at.is_empty() { capital(&said) } else { format!("At {at}: {said}") })
    }
}

fn inverse(ratio: Estimate) -> Estimate {
    let of = |bound: Option<f64>| bound.map(|bound| 1.0 / bound);
    Estimate { value: 1.0 / ratio.value, low: of(ratio.high), high: of(ratio.low), ..ratio }
}
