//! Guarantees of a plan's reader: a round trip, and mistakes named with their place.

mod oltp;

use super::*;

const FACTORS: &str = include_str!("../../../testing/fixtures/factors.toml");

const ARTICLE: &str = include_str!("../../../../experiments/article.toml");

/// A plan of workload `oltp` with these engines and factors.
pub(crate) fn of_oltp(engines: &str, factors: &str) -> Result<Plan, PlanError> {
    let text = format!(
        "title = \"t\"\nworkload = \"oltp\"\nengines = {engines}\n\
         trial = {{ mode = \"steady\", time = \"1s\" }}\n[factors]\n{factors}\n"
    );
    read(&text, "plan.toml")
}

fn refusal(from: &str, to: &str) -> String {
    assert!(ARTICLE.contains(from), "{from}");
    let text = ARTICLE.replacen(from, to, 1);
    let message = read(&text, "plan.toml").unwrap_err().to_string();
    // The lists of known names grow with every workload.
    match (message.split_once(", expected "), message.split_once(" (did you mean")) {
        (Some((before, _)), Some((_, after))) => format!("{before} (did you mean{after}"),
        _ => message,
    }
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

/// Every plan that ships, by its file's name.
fn shipped() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let plans = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    plans
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn every_shipped_plan_is_read_resolved_and_scheduled() {
    let plans = shipped();
    assert!(plans.len() >= 5);
    for (path, text) in plans {
        let plan = read(&text, &path).unwrap();
        let again = read(&plan.to_toml().unwrap(), &path).unwrap();
        assert_eq!(again, plan, "{path}");
        let design = Design::of(&plan);
        assert!(design.planned(&[design.first_round()]) > 0, "{path}");
    }
}

#[test]
fn what_factors_and_engines_cannot_be_is_refused() {
    insta::assert_snapshot!(
        [
            refusal("[1, 2, 4]", "[1, 2, 4]\nspeed = [1, 2]"),
            refusal("[1, 2, 4]", "{ levels = [1, 2], alone = true, bisect = true }"),
            refusal("\"postgres:18\"", "\"postgres:{release}\""),
            refusal("\"postgres:18\"", "\"postgresql://host:port:1/x\""),
            refusal("?start={start}", "?start={begin}"),
            refusal("\"{listen}\"", "\"{lissten}\""),
            refusal("--database\", \"sqlite://{path}\"", "--database\", \"sqlite://{file}\""),
            refusal("replicates = 7", "precision = \"3\""),
            refusal("replicates = 7", "server_memory = \"1 Gx\""),
            refusal("replicates = 7", "server_memory = \"64\""),
            refusal("replicates = 7", "on_error = \"ignore\""),
            refusal("[load]", "[thresholds]\nresponse_time = \"< 3\"\n[load]"),
            refusal("[load]", "[thresholds]\nresponse_time_ms_mean = \"3\"\n[load]"),
            refusal("data = { command", "data = { comand"),
        ]
        .join("\n---\n")
    );
}

#[test]
fn answers_belong_to_the_data_that_they_were_given_on() {
    let growth = read(include_str!("../../../../experiments/growth.toml"), "growth.toml").unwrap();
    assert_eq!(growth.data_scope(&growth.base()), "rows=20000 ");
    let article = read(ARTICLE, "article.toml").unwrap();
    assert_eq!(article.data_scope(&article.base()), "");
}

#[test]
fn a_changed_key_is_named() {
    let one = read(ARTICLE, "article.toml").unwrap();
    let mut other = one.clone();
    other.load.connection = ConnectionUse::PerRequest;
    assert_eq!(one.first_difference(&other).unwrap().as_deref(), Some("load.connection"));
    assert_eq!(one.first_difference(&one.clone()).unwrap(), None);
}

#[test]
fn data_that_no_command_moves_is_moved_by_our_own_migration() {
    let data = "data = { command = [\"make\", \"{path}\"] }\n    application = ";
    let text = FACTORS.replace("application = ", data);
    let plan = read(&text, "plan.toml").unwrap();
    let migrate =
        ["{crossover}", "migrate", "{data}", "{database_url}", "--accept-losses", "--types=values"];
    assert_eq!(plan.application.prepare, [migrate]);
    assert!(read(FACTORS, "plan.toml").unwrap().application.prepare.is_empty());
    let own = text.replace("application = {", "application = { prepare = [[\"fill\"]],");
    assert_eq!(read(&own, "plan.toml").unwrap().application.prepare, [["fill"]]);
}
