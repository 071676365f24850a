//! Families of verdicts: what is compared with the first engine keeps its power, the other pairs have
//! verdicts of their own where the blocks carry them.

use super::*;
use plan::Compare;

const SIX: &str =
    "'sqlite', 'postgres:18', 'postgres:17', 'postgres:16', 'postgres:15', 'postgres:14'";

fn plan_of(engines: &str, days: &str, replicates: usize) -> Plan {
    let text = format!(
        "title = 't'\nworkload = 'http'\nengines = [{engines}]\nreplicates = {replicates}\n\
         application = {{ start = ['app', '{{listen}}', '{{database_url}}'] }}\nrequest = [{{ path = '/{{days}}' }}]\n\
         [factors]\ndays = {{ levels = [{days}], swept = 'log', bisect = true }}\n"
    );
    plan::read(&text, "families.toml").unwrap()
}

fn analysed(plan: &Plan, rounds: &[Round]) -> Analysis {
    let cells: Vec<Levels> = rounds.iter().flat_map(|round| round.cells.clone()).collect();
    let time = |engine: usize, levels: &Levels| {
        levels["days"].number().unwrap() * (1.0 + 0.2 * engine as f64)
    };
    analyse(&Design::of(plan), &cells, &trials_by(plan, rounds, time))
}

/// Verdicts of a family, and for how many each is corrected.
fn verdicts(analysis: &Analysis, family: Family) -> (usize, Option<usize>) {
    let sweeps = analysis.sweeps.iter();
    let own = sweeps.filter(|sweep| sweep.request.is_none() && sweep.family == family);
    let results: Vec<&Compared> = own.flat_map(|sweep| &sweep.results).collect();
    (results.len(), results.first().map(|one| one.verdicts))
}

#[test]
fn other_pairs_cost_comparisons_with_the_first_nothing() {
    let mut plan = plan_of("'sqlite', 'postgres:18', 'postgres:17'", "10, 100", 5);
    let rounds = [plan.first_round()];
    let default = analysed(&plan, &rounds);
    // Two levels, and eight more that bisection may add.
    assert_eq!(verdicts(&default, Family::Primary), (4, Some(20)));
    assert_eq!(verdicts(&default, Family::OtherPairs), (2, Some(2)));
    plan.compare = Some(Compare::First);
    let first = analysed(&plan, &rounds);
    assert_eq!(verdicts(&first, Family::Primary), (4, Some(20)));
    assert_eq!(verdicts(&first, Family::OtherPairs), (0, None));
    plan.compare = Some(Compare::All);
    let all = analysed(&plan, &rounds);
    assert_eq!(verdicts(&all, Family::Primary), (6, Some(30)));
    assert_eq!(verdicts(&all, Family::OtherPairs), (0, None));
}

#[test]
fn other_pairs_are_compared_up_to_36_or_from_10_blocks_on() {
    let count = |days: &str, blocks: usize| {
        let plan = plan_of(SIX, days, blocks);
        verdicts(&analysed(&plan, &[plan.first_round()]), Family::OtherPairs).0
    };
    // Ten other pairs of six engines.
    assert_eq!(count("1, 10, 100", 5), 30);
    assert_eq!(count("1, 10, 100, 300", 5), 0);
    assert_eq!(count("1, 10, 100, 300", 9), 0);
    assert_eq!(count("1, 10, 100, 300", 10), 40);
    let mut precise = plan_of(SIX, "1, 10, 100, 300", 5);
    precise.precision = Some("3%".parse().unwrap());
    assert!(
        OtherPairs::of(&Design::of(&precise)).are_compared,
        "a precision begins with ten blocks"
    );
}

#[test]
fn other_pairs_are_never_bisected() {
    let plan = plan_of("'sqlite', 'postgres:18', 'postgres:17'", "10, 100", 5);
    // The second and the third cross, the first is slower than both.
    let time = |engine: usize, levels: &Levels| {
        let days = levels["days"].number().unwrap();
        [1_000.0, 30.0, days][engine]
    };
    let first = plan.first_round();
    let rounds = [first.clone()];
    let analysis = analyse(&Design::of(&plan), &first.cells, &trials_by(&plan, &rounds, time));
    let crossed = |family: Family| {
        let crosses = |sweep: &&Sweep| {
            sweep
                .crossings
                .iter()
                .any(|one| matches!(one, stats::crossing::Crossing::Bracketed { .. }))
        };
        analysis.sweeps.iter().filter(|sweep| sweep.family == family).filter(crosses).count()
    };
    assert_eq!((crossed(Family::Primary), crossed(Family::OtherPairs)), (0, 1));
    assert!(next_cells(&plan, &analysis).is_empty());
    // A level that bisection adds for another reason has no verdict of other pairs.
    let mut cell = first.cells[0].clone();
    cell.insert("days".to_owned(), Level::Number(30.0));
    let rounds = [first, Round { cells: vec![cell], blocks: 5 }];
    let analysis = analysed(&plan, &rounds);
    assert_eq!(verdicts(&analysis, Family::Primary).0, 6);
    assert_eq!(verdicts(&analysis, Family::OtherPairs), (2, Some(2)));
}
