//! Percentiles that thresholds are on: the right answers that a trial needs for them, and its length.

use plan::{PercentileNeed, Plan, TrialSettings};
use record::{Finished, Status};

/// The engine that gives the fewest right answers per second, in an earlier run.
struct Slowest<'f> {
    engine: &'f str,
    per_second: f64,
}

/// A sentence for each; with the rate of an earlier run where there is one.
pub(super) fn sentences(plan: &Plan, earlier: Option<&Finished>) -> Vec<String> {
    let needs = plan.percentile_needs().into_iter();
    needs.map(|need| sentence(plan, need, earlier)).collect()
}

fn sentence(plan: &Plan, need: PercentileNeed, earlier: Option<&Finished>) -> String {
    let needs = need.in_words();
    if let Some((run, slowest)) = earlier.and_then(|run| Some((run, slowest(run)?))) {
        let Slowest { engine, per_second } = slowest;
        let rate = notation::digits(per_second);
        let known = format!("{engine} gave {rate} per second in run {}", run.run.id);
        return match need.remedy(plan, per_second) {
            Some(remedy) => format!("{needs}; {known}, so {remedy}."),
            None => format!("{needs}; {known}, so these trials are long enough."),
        };
    }
    match plan.trial {
        TrialSettings::Steady { time } => {
            let least = need.answers as f64 / time.duration().as_secs_f64();
            let rate = notation::digits(least);
            format!("{needs}: trials of {time} have them from {rate} per second on.")
        }
        TrialSettings::Passes { .. } => {
            format!("{needs}, from the passes of all clients together.")
        }
    }
}

fn slowest(run: &Finished) -> Option<Slowest<'_>> {
    let counting = run.trials.iter().filter(|trial| trial.status == Status::Ok);
    let rates = counting
        .map(|trial| Slowest { engine: &trial.engine, per_second: trial.requests_per_second });
    let rates = rates.filter(|one| one.per_second > 0.0);
    rates.min_by(|x, y| x.per_second.total_cmp(&y.per_second))
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn a_threshold_on_a_percentile_says_what_it_needs_of_a_trial() {
        let of = |trial: &str| {
            let text = format!(
                "title = 't'\nworkload = 'http'\nengines = ['sqlite']\ntrial = {trial}\n\
                 application = {{ start = ['app', '{{listen}}', '{{database_url}}'] }}\nrequest = [{{ path = '/' }}]\n\
                 [thresholds]\nresponse_time_ms_p99 = '< 9'\nresponse_time_ms_mean = '< 9'\n"
            );
            sentences(&plan::read(&text, "t.toml").unwrap(), None)
        };
        assert_eq!(
            of("{ mode = 'steady', time = '5s' }"),
            ["p99 needs 1,000 right answers in each trial: trials of 5s have them from 200 per \
              second on."]
        );
        assert_eq!(
            of("{ mode = 'passes', passes = 3 }"),
            [
                "p99 needs 1,000 right answers in each trial, from the passes of all clients together."
            ]
        );
    }
}
