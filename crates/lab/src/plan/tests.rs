//! What a plan's reader promises: a round trip, and mistakes named with their place.

use super::*;

const ARTICLE: &str = include_str!("../../../../experiments/article.toml");

fn refusal(from: &str, to: &str) -> String {
    assert!(ARTICLE.contains(from), "{from}");
    let text = ARTICLE.replacen(from, to, 1);
    read(&text, "plan.toml").unwrap_err().to_string()
}

#[test]
fn a_resolved_plan_reads_back_as_itself() {
    let plan = read(ARTICLE, "article.toml").unwrap();
    let again = read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
    assert_eq!(again, plan);
    let (name, days) = plan.swept().unwrap();
    assert_eq!(name, "days");
    assert_eq!(days.levels, [7.0, 31.0, 90.0, 365.0].map(Level::Number));
    assert_eq!(days.labels, ["week", "month", "quarter", "year"]);
}

#[test]
fn mistakes_are_named_with_their_place_and_a_way_out() {
    insta::assert_snapshot!(
        [
            refusal("replicates", "replikates"),
            refusal("workload = \"http\"", "workload = \"htp\""),
            refusal("replicates = 7", "replicates = 0"),
            refusal("replicates = 7", "replicates = \"seven\""),
            refusal("\"sqlite\", ", "\"sqlite\", \"sqlite\", "),
            refusal("\"sqlite\"", "\"sqlight\""),
            refusal("\"week\"", "\"weak\""),
            refusal("\"week\"", "\"7d\", \"week\""),
            refusal("2021-01-01", "2021-02-30"),
            refusal("[1, 2, 4]", "[0]"),
            refusal("[1, 2, 4]", "[]"),
            refusal("[1, 2, 4]", "{ levels = [1, 2], swept = \"log\" }"),
            refusal("time = \"10s\"", "time = \"10\""),
            refusal("title = ", "title == "),
        ]
        .join("\n---\n")
    );
}
