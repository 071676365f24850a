//! Plans of workload `oltp`: read, written, refused.

use engine::EngineKind;
use std::collections::BTreeSet;

use crate::oltp::*;

use crate::oltp::without_oltp_keys;

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

/// The same on texts alone.
fn encoding() -> String {
    PLAN.replace("[\"read_only\", \"read_write\"]", "[\"encoding\"]")
}

fn refusal(plan: &str, from: &str, to: &str) -> String {
    assert!(plan.contains(from), "{from}");
    crate::read(&plan.replacen(from, to, 1), "plan.toml").unwrap_err().to_string()
}

#[test]
fn a_plan_reads_back_as_itself_and_its_clients_are_the_axis() {
    let plan = crate::read(PLAN, "plan.toml").unwrap();
    let again = crate::read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
    assert_eq!(again, plan);
    assert_eq!(plan.swept().unwrap().0, "clients");
    assert_eq!(plan.most_clients(), 4);
    assert_eq!(plan.mixes().unwrap(), BTreeSet::from([Mix::ReadOnly, Mix::ReadWrite]));
    let settings = plan.oltp.as_ref().unwrap().settings_of(EngineKind::Postgres);
    let off = ("update_process_title".to_owned(), "off".to_owned());
    assert!(settings.contains(&off), "{settings:?}");
}

#[test]
fn what_the_workload_cannot_do_is_refused_by_its_key() {
    for (from, to, said) in [
        ("\"read_write\"", "\"read_right\"", "factors.mix.levels: unknown value `read_right`"),
        ("\"sqlite\"", "\"sqlite:mine.db\"", "is yours"),
        ("settings.postgres", "settings.postgre", "did you mean `postgres`"),
        ("[oltp]", "[oltp]\ncheckpoints = \"sustained\"", "at least 90s"),
        ("[factors]", "[load]\nthink_time = \"1s\"\n[factors]", "never pause"),
        ("\"oltp\"", "\"sql\"", "oltp:"),
    ] {
        let refusal = refusal(PLAN, from, to);
        assert!(refusal.contains(said), "{refusal}");
    }
}

#[test]
fn unsupported_character_sets_are_refused_with_their_engine() {
    let only = encoding();
    let engines = "\"postgres:14\", \"postgres:18\", \"sqlite\"";
    let one = only.replace(engines, "\"postgres:18[collation=bytes]\"");
    let (only, one) = (only.as_str(), one.as_str());
    for (plan, from, to, said) in [
        (PLAN, "[oltp]", "[oltp]\ncharacter_set = \"latin2\"", "by mix encoding, not by read_only"),
        (PLAN, "postgres:14", "postgres:14[collation=language]", "by mix encoding, not by read"),
        (only, "[oltp]", "[oltp]\ncharacter_set = \"latin2\"", "sqlite does not store latin2"),
        (only, "[oltp]", "[oltp]\ncharacter_set = \"utf16\"", "postgres:14 does not store utf16"),
        (only, "[oltp]", "[oltp]\nclient_character_set = \"latin2\"", "clients of sqlite do not"),
        (only, "[oltp]", "[oltp]\ncollation = \"language\"", "sqlite orders texts by their"),
        (only, "\"sqlite", "\"sqlite[character_set=latin2]", "does not store latin2"),
        (only, "postgres:14", "postgres:14[collation=hungarian]", "unknown value `hungarian`"),
        (one, "[factors]", "[factors]\ncollation = [\"bytes\", \"language\"]", "keep one of them"),
    ] {
        let refusal = refusal(plan, from, to);
        assert!(refusal.contains(said), "{refusal}");
    }
}

#[test]
fn an_engine_may_have_character_sets_of_its_own() {
    let own = "postgres:18[character_set=latin2,work_mem=1MB]";
    let plan =
        encoding().replace("postgres:18", own).replace("sqlite", "sqlite[character_set=utf16]");
    let plan = crate::read(&plan, "plan.toml").unwrap();
    let stored = |index: usize| {
        let engine = plan.engine_at(index, &plan.base()).unwrap();
        plan.oltp_of(&engine, &plan.base()).unwrap().character_set
    };
    assert_eq!(
        [0, 1, 2].map(stored),
        [CharacterSet::Utf8, CharacterSet::Latin2, CharacterSet::Utf16]
    );
    // It is no setting of the server's.
    let engine = without_oltp_keys(&plan.engines[1]).unwrap();
    assert_eq!(engine.engine_settings().collect::<Vec<_>>(), [("work_mem", "1MB")]);
    assert_eq!(engine.label(), own);
}
