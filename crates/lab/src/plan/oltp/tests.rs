//! Plans of workload `oltp`: read, written, refused.

use super::*;

const PLAN: &str = r#"
title = "Is the newer release faster?"
workload = "oltp"
engines = ["postgres:14", "postgres:18", "sqlite"]

[oltp]
table_size = 1000
warm_up = "1s"

[oltp.settings.postgres]
shared_buffers = "64MB"
max_connections = 100
update_process_title = false

[factors]
clients = [1, 4]
mix = ["read_only", "read_write"]
"#;

fn refusal(from: &str, to: &str) -> String {
    assert!(PLAN.contains(from), "{from}");
    crate::plan::read(&PLAN.replacen(from, to, 1), "plan.toml").unwrap_err().to_string()
}

#[test]
fn a_plan_reads_back_as_itself_and_its_clients_are_the_axis() {
    let plan = crate::plan::read(PLAN, "plan.toml").unwrap();
    let again = crate::plan::read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
    assert_eq!(again, plan);
    assert_eq!(plan.swept().unwrap().0, "clients");
    assert_eq!(plan.most_clients(), 4);
    assert_eq!(plan.mixes().unwrap(), BTreeSet::from([Mix::ReadOnly, Mix::ReadWrite]));
    let settings = plan.oltp.as_ref().unwrap().settings_of("postgres");
    let off = ("update_process_title".to_owned(), "off".to_owned());
    assert!(settings.contains(&off), "{settings:?}");
    assert_eq!(with_commas(1_000_000), "1,000,000");
}

#[test]
fn what_the_workload_cannot_do_is_refused_by_its_key() {
    let mix = refusal("\"read_write\"", "\"read_right\"");
    assert!(mix.contains("factors.mix") && mix.contains("read_write"), "{mix}");
    let file = refusal("\"sqlite\"", "\"sqlite:mine.db\"");
    assert!(file.contains("is yours"), "{file}");
    let kind = refusal("oltp.settings.postgres", "oltp.settings.postgre");
    assert!(kind.contains("did you mean `postgres`"), "{kind}");
    let short = refusal("[oltp]", "[oltp]\ncheckpoints = \"sustained\"");
    assert!(short.contains("at least 90s"), "{short}");
    let mixed = refusal("[oltp]", "[oltp]\ncharacter_set = \"latin2\"");
    assert!(mixed.contains("mix encoding, not by read_only"), "{mixed}");
    let texts = |key: &str, value: &str| {
        let plan = PLAN.replace("[\"read_only\", \"read_write\"]", "[\"encoding\"]");
        let plan = plan.replace("[oltp]\n", &format!("[oltp]\n{key} = \"{value}\"\n"));
        crate::plan::read(&plan, "plan.toml").unwrap_err().to_string()
    };
    let set = texts("character_set", "latin2");
    assert!(set.contains("sqlite does not store latin2"), "{set}");
    let set = texts("character_set", "utf16");
    assert!(set.contains("postgres:14 does not store utf16"), "{set}");
    let set = texts("client_character_set", "latin2");
    assert!(set.contains("clients of sqlite do not send latin2"), "{set}");
    let collation = texts("collation", "language");
    assert!(collation.contains("sqlite orders texts by their bytes"), "{collation}");
    let open = refusal("[factors]", "[load]\nthink_time = \"1s\"\n[factors]");
    assert!(open.contains("never pause"), "{open}");
    let other = PLAN.replacen("\"oltp\"", "\"sql\"", 1);
    let other = crate::plan::read(&other, "plan.toml").unwrap_err().to_string();
    assert!(other.contains("plan, oltp:"), "{other}");
}
