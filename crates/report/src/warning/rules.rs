//! Rule behind each warning; the table of section 11 in METHOD.md is written from here.

use std::path::Path;

use strum::VariantNames as _;

use super::Warning;
use super::clients::OPERATION_COST_MIN;
use super::effects::WITHOUT_EFFECT_MAX;
use super::engines::{
    CORES_RATIO_MAX, DRIFT_RATIO_MAX, OUTLIER_RATIO_MIN, OUTLIER_SIGNIFICANCE, STEADY_BLOCKS_MIN,
    STEADY_RATIO_MAX,
};
use super::machine::{
    CLIENT_SHARE_MAX, CLIENT_WAIT_MAX, IDLE_SHARE_MAX, MEMORY_PRESSURE_MAX, OTHER_CORES_MAX,
    QUIET_WAIT_MAX_SECONDS, SATURATED_SHARE, STEAL_FRACTION_MAX, WAKE_NOTICED_MS,
};
use super::weight::{DOUBTS, REMARKS};
use record::counter::FROM_STORAGE_SHARE_MAX;

const BEGIN: &str = "<!-- Written by crates/report/src/warning/rules.rs -->\n";
const END: &str = "<!-- End of the table -->\n";

fn percent(share: f64) -> String {
    format!("{}%", share * 100.0)
}

/// None of a kind without a rule, which the test refuses.
#[expect(clippy::too_many_lines, reason = "a sentence for each warning")]
fn rule(kind: &str) -> Option<String> {
    let rule = match kind {
        "answers_differ" => "a request of the engine got a wrong answer (section 4)".to_owned(),
        "answered_without_engine" => {
            "of the requests sent after the last trial of each turn, some \
            did not use the database (section 4)"
                .to_owned()
        }
        "reach_out_of_sight" => "whether requests use the database could not be seen, or the plan \
            says `own_database = true`"
            .to_owned(),
        "failures" => "a request failed in a trial (section 4)".to_owned(),
        "void_trials" => "a trial does not count (section 4)".to_owned(),
        "incomplete" => "planned trials are not recorded".to_owned(),
        "cut_by_budget" => "the budget ended before all planned trials".to_owned(),
        "too_few_blocks" => {
            format!("fewer than {} blocks: no interval, no verdict", stats::INTERVAL_MIN_REPLICATES)
        }
        "durability_differs" => {
            "engines promise differently what a committed transaction survives \
            (below)"
                .to_owned()
        }
        "durability_unknown" => {
            "engines are compared by an application's requests that may write, and what a committed transaction \
             survives is not known of one of them"
                .to_owned()
        }
        "saturated" => {
            "open load: right answers did not keep up with what was due (section 1)".to_owned()
        }
        "client_starved" => format!(
            "client threads were ready and had no processor for more than {} of a trial \
             (`/proc/thread-self/schedstat`)",
            percent(CLIENT_WAIT_MAX)
        ),
        "client_busy" => format!(
            "client threads used more than {} of the machine in a trial",
            percent(CLIENT_SHARE_MAX)
        ),
        "relay_saturated" => format!(
            "both sides and the relay of a distance used more than {} of the processors in a trial",
            percent(SATURATED_SHARE)
        ),
        "clients_are_threads" => {
            "workload `sql` or `oltp` has several clients of SQLite, which are \
            threads of one process in every trial (`clients_as`)"
                .to_owned()
        }
        "cheaper_operations" => format!(
            "processor time per operation falls below {OPERATION_COST_MIN} of that at the fewest \
             clients, while more than {} of the processors is used",
            percent(SATURATED_SHARE)
        ),
        "unequal_cores" => format!(
            "for one client an engine used more than one core, and {CORES_RATIO_MAX} times those of \
             another"
        ),
        "steal" => format!(
            "the hypervisor took more than {} of the processors' time in a trial",
            percent(STEAL_FRACTION_MAX)
        ),
        "busy_machine" => {
            format!("other programs used more than {OTHER_CORES_MAX} cores, on average over trials")
        }
        "not_quiet" => format!("a wait for quiet took {QUIET_WAIT_MAX_SECONDS} s, its limit"),
        "drift" => format!(
            "an engine's last block took {DRIFT_RATIO_MAX} times as long as its first, or the first \
             as the last (geometric mean over its treatments)"
        ),
        "not_steady" => format!(
            "the halves of a treatment's trials differ by {STEADY_RATIO_MAX} times, in the same \
             direction in all of its blocks, {STEADY_BLOCKS_MIN} or more; or a warm-up ended at its \
             cap"
        ),
        "not_warm" => format!(
            "workload `blob`: a warm read trial took more than {} of its bytes from storage, offered \
             three times (section 3); not where the plan limits memory",
            percent(FROM_STORAGE_SHARE_MAX)
        ),
        "swapped" => "the machine read or wrote swap space during a trial".to_owned(),
        "memory_pressure" => format!(
            "processes waited for memory for more than {} of a trial without a limit in the plan",
            percent(MEMORY_PRESSURE_MAX)
        ),
        "data_exceeds_memory" => {
            "the files of all engines together are larger than the machine's memory".to_owned()
        }
        "statistics_missing" => {
            "no ANALYZE has left anything, and the plan did not ask for that by \
            `analyze=`"
                .to_owned()
        }
        "plan_changed" => {
            "an operation's plan hash differs between two blocks of a treatment".to_owned()
        }
        "settings_differ" => "releases of PostgreSQL do not show the same settings, except those \
            that the plan sets differently"
            .to_owned(),
        "writes_without_effect" => format!(
            "in some trial, more than {} of the executions of a statement that inserts, changes or \
             deletes changed no row",
            percent(WITHOUT_EFFECT_MAX)
        ),
        "uneven_checkpoints" => "of a treatment that writes, some trials held fewer than two \
            checkpoints and some at least one, or otherwise than `oltp.checkpoints` asked"
            .to_owned(),
        "writes_stay" => "your own application or database is measured where it is, by a mix that \
            writes"
            .to_owned(),
        "debug_build" => "the program was built without optimisation".to_owned(),
        "warm_up_failures" => "requests failed in a warm-up (section 3)".to_owned(),
        "outlier" => format!(
            "Grubbs' test (1969) on the logarithms of a treatment's blocks, its {} divided by the \
             number of treatments, and at least {} from the median",
            percent(OUTLIER_SIGNIFICANCE),
            percent((OUTLIER_RATIO_MIN * 100.0 - 100.0).round() / 100.0)
        ),
        "shared_cores" => {
            "in some trial the processors of client and server overlap; a side bound \
            to none may run on any"
                .to_owned()
        }
        "idle_cores" => format!(
            "one client of a server, a mean under {WAKE_NOTICED_MS} ms (workload `oltp`: by \
             statement), less than {} of the machine used: a core that sleeps takes up to some 100 \
             microseconds to wake. An engine inside the client's process has no other process to \
             wake",
            percent(IDLE_SHARE_MAX)
        ),
        "histogram_damaged" => {
            "the file with the distribution of a trial's response times cannot be read".to_owned()
        }
        "resumed" => "the run was interrupted and resumed".to_owned(),
        _ => return None,
    };
    Some(rule)
}

/// A row for each kind, the gravest first.
fn table() -> String {
    let kinds = DOUBTS.iter().chain(&REMARKS).filter(|kind| Warning::VARIANTS.contains(kind));
    let row = |kind: &&str| {
        let rule = rule(kind).unwrap_or_else(|| panic!("{kind} has no rule"));
        format!("| {} | {rule} |\n", kind.replace('_', " "))
    };
    format!("| warning | rule |\n|---|---|\n{}", kinds.map(row).collect::<String>())
}

#[test]
fn the_method_has_the_rule_of_every_warning() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../METHOD.md");
    let text = std::fs::read_to_string(&path).expect("METHOD.md can be read");
    let (before, rest) = text.split_once(BEGIN).expect("METHOD.md has the beginning of the table");
    let (_, after) = rest.split_once(END).expect("METHOD.md has the end of the table");
    let current = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    if std::env::var_os("CROSSOVER_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &current).expect("METHOD.md can be written");
        return;
    }
    assert!(
        text == current,
        "the table of METHOD.md, section 11, is out of date; write it by \
         CROSSOVER_WRITE_REFERENCE=1 cargo test -p report --lib warning::rules"
    );
}
