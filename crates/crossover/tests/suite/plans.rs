//! Plans by the program itself: those that ship, one that is refused for each mistake, an engine
//! that dies in the middle of a trial, a disk that is full.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::killed;
use crate::own_sql::library::DEBIAN;
use crate::place::{Place, error, read_json, text};

impl Place {
    /// Writes the article's plan, small, with `from` replaced by `to`.
    fn article(&self, changes: &[(&str, &str)]) -> String {
        let mut text = std::fs::read_to_string(shipped().join("article.toml")).unwrap();
        let small = [("scale = \"1\"", "scale = \"0.01\""), ("time = \"10s\"", "time = \"1s\"")];
        for (from, to) in small.iter().chain(changes) {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        let path = self.path("plan.toml");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Kills the dashboard that this place's experiment measures.
    fn kill_the_application(&self) {
        let folder = self.folder.path().display().to_string();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let read = |name| std::fs::read(entry.path().join(name)).unwrap_or_default();
            let words = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            let ours = String::from_utf8_lossy(&read("environ")).contains(&folder);
            let number = entry.file_name().to_string_lossy().parse::<i32>();
            if let (true, true, Ok(number)) = (ours, words.contains(" dashboard serve "), number) {
                let process = rustix::process::Pid::from_raw(number).unwrap();
                let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
            }
        }
    }
}

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

#[test]
fn every_shipped_plan_lists_its_treatments_in_a_dry_run() {
    let place = Place::new();
    let plans = std::fs::read_dir(shipped()).unwrap().map(|entry| entry.unwrap().path());
    let plans = plans.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // One names a library of Debian's, which is loaded.
    let has_libraries =
        |path: &PathBuf| Path::new(DEBIAN).exists() || !path.ends_with("sqlite-builds.toml");
    for plan in plans.filter(has_libraries) {
        let plan = plan.display().to_string();
        // Some name files beside them.
        let output = place
            .command(&["bench", &plan, "--dry-run"])
            .current_dir(shipped().join(".."))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{plan}: {}", error(&output));
        let text = text(&output.stdout);
        for part in ["treatments and", "Duration: ", "Order with seed"] {
            assert!(text.contains(part), "{plan}: {text}");
        }
        assert!(text.lines().count() <= 24, "more than one screen: {text}");
    }
    let words = ["bench", "dashboard", "--on=sqlite", "--precision=3%", "--dry-run"];
    let output = place.run(&[&words[..], &["-v"]].concat());
    let all = text(&output.stdout);
    assert!(all.contains("\n  block 10\n"), "{all}");
    let output = place.run(&[&words[..], &["--output-format=json"]].concat());
    let preview: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&preview["blocks"], &preview["trials"]), (&10.into(), &120.into()));
    assert_eq!(preview["order"].as_array().unwrap().len(), 10);
    assert!(!place.path("data").exists() && !place.path("runs").exists());
}

#[test]
fn a_plan_is_measured_again_by_a_run_of_its_own() {
    let place = Place::new();
    let shop = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    shop.execute_batch("CREATE TABLE people (id INTEGER PRIMARY KEY)").unwrap();
    let plan = "title = \"t\"\nworkload = \"sql\"\nengines = [\"sqlite\"]\ndata = \"shop.db\"\n\
                replicates = 1\nseed = 7\ntrial = { mode = \"passes\", passes = 1 }\n\
                [[statement]]\nname = \"all\"\ntext = \"SELECT count(*) FROM people\"\n";
    place.write("plan.toml", plan);
    assert_eq!(place.run(&["bench", "plan.toml"]).status.code(), Some(0));
    let first = place.only_run();
    let recorded = std::fs::read(first.join("run.json")).unwrap();
    let again = ["bench", "--again", "latest", "--replicates", "2"];
    assert_eq!(place.run(&again).status.code(), Some(0));
    assert_eq!(std::fs::read(first.join("run.json")).unwrap(), recorded, "the first is unchanged");
    assert_eq!(place.trial_files().len(), 1 + 2);
    let second = place.runs().into_iter().find(|run| *run != first).unwrap();
    assert_ne!(read_json(&second.join("run.json"))["seed"], 7, "another order");
    let both = place.run(&["bench", "--again=latest", "--resume=latest"]);
    assert_eq!(both.status.code(), Some(2), "{}", error(&both));
}

#[test]
fn impossible_plans_are_refused_before_data_is_generated() {
    let place = Place::new();
    let dashboard: [(&[&str], &str); 11] = [
        (&["--on=postgres:99"], "no archive of PostgreSQL 99"),
        (&["--on=postgres:18[wrk_mem=16MB]"], "did you mean `work_mem`?"),
        (&["--on=postgres:18[work_mem=lots]"], "work_mem"),
        (&["--on=postgres:18[jit=on]"], "jit changes nothing there"),
        (&["--on=sqlite[analyze=maybe]"], "analyze is on, off or keep"),
        (&["--on=sqlite[journal_mode=wall]"], "`journal_mode`: asked for `wall`"),
        (&["--on=sqlite[mmap_size=90000000000]"], "compiled with that limit"),
        (&["--on=sqlite[page_size=8192]"], "page_size changes nothing there"),
        (&["--on=sqlite", "--server-cpus=4096"], "there is no processor 4096"),
        (&["--on=sqlite", "--server-memory=1MiB"], "server_memory"),
        (&["--on=sqlite", "--constant=speed=3"], "no such constant"),
    ];
    for (more, message) in dashboard {
        let words = [&["bench", "dashboard"], more].concat();
        let output = place.run(&words);
        assert!(error(&output).contains(message), "{words:?}: {}", error(&output));
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", error(&output));
    }
    let plans: [(&[(&str, &str)], &str); 7] = [
        (&[("replicates = 7", "replicates = 0")], "replicates: is 0"),
        (&[("replicates = 7", "replikates = 7")], "did you mean `replicates`?"),
        (&[("[1, 2, 4]", "[1]\nserver_cpus = [4096]")], "is not a number from 1 to"),
        (&[("[1, 2, 4]", "[1]\nspeed = [1, 2]")], "factors.speed: changes nothing"),
        (&[("\"sqlite\", ", "\"sqlite:nothing.db\", ")], "nothing.db"),
        (
            &[
                ("\"sqlite\", ", "\"sqlite[cache_size=-9]\", "),
                ("\"off\", \"{settings}\"", "\"off\""),
                ("\"init\",", "\"init\", \"{settings}\","),
            ],
            "cache_size changes nothing there: no word of application.start is {settings}",
        ),
        (
            &[("\"sqlite\", ", "\"http://127.0.0.1:9[work_mem=9MB]\", ")],
            "work_mem changes nothing there: the application runs already",
        ),
    ];
    for (changes, message) in plans {
        let plan = place.article(changes);
        let output = place.run(&["bench", &plan]);
        assert_eq!(output.status.code(), Some(2), "{message}: {}", error(&output));
        assert!(error(&output).contains(message), "{}", error(&output));
    }
    let output = place.run(&["bench", "no-such-plan.toml"]);
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    assert!(!place.path("runs").exists());
    assert!(!place.path("data").join("datasets").exists());
    let left = std::fs::read_dir(place.path("data")).into_iter().flatten().flatten();
    let mut names = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert_eq!(names.find(|name| name.starts_with("settings-")), None);
}

/// An engine, and how something of it is killed.
type Victim = (&'static str, fn(&Place));

/// Runs a plan of one engine and two trials, kills something in the second one, and gives what the
/// program said.
fn killed_in_the_second_trial(place: &Place, (engine, kill): Victim, on_error: &str) -> Output {
    let engines = format!("engines = [\"{engine}\"]");
    let plan = place.article(&[
        ("engines = [\"sqlite\", \"postgres:18\"]", engines.as_str()),
        (
            "levels = [\"week\", \"month\", \"quarter\", \"year\"], swept = \"log\", bisect = true",
            "levels = [7, 31]",
        ),
        ("clients = [1, 2, 4]", ""),
        ("replicates = 7", "replicates = 1"),
        // Long enough for the test to come in between, however busy the machine is.
        ("time = \"1s\"", "time = \"8s\""),
    ]);
    let on_error = format!("--on-error={on_error}");
    let mut child = place.command(&["bench", &plan, &on_error]).spawn().unwrap();
    place.wait_for_trials(&mut child, 1);
    kill(place);
    child.wait_with_output().unwrap()
}

/// The application itself, and the server under one that lives on and answers with errors.
const VICTIMS: [Victim; 2] =
    [("sqlite", Place::kill_the_application), ("postgres:18", killed::kill_the_server)];

#[test]
fn a_dead_application_or_server_voids_the_trial() {
    for victim in VICTIMS {
        let place = Place::new();
        let output = killed_in_the_second_trial(&place, victim, "continue");
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        let trials = place.trials();
        assert_eq!(trials.len(), 2);
        assert_eq!(trials[0]["status"], "ok");
        assert!(trials[1]["status"]["void"].is_string(), "{}", trials[1]["status"]);
    }
}

#[test]
fn a_dead_application_or_server_stops_the_run_on_request() {
    VICTIMS.into_iter().for_each(stopped_and_taken_up_again);
}

fn stopped_and_taken_up_again(victim: Victim) {
    let place = Place::new();
    let output = killed_in_the_second_trial(&place, victim, "stop");
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    assert!(error(&output).contains("ended in the middle of a trial"), "{}", error(&output));
    assert!(error(&output).contains("--resume"), "{}", error(&output));
    let output = place.run(&["bench", "--resume=latest"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let trials = place.trials();
    assert_eq!(trials.len(), 2, "a void trial is not repeated silently");
    assert!(trials[1]["status"]["void"].is_string());
}

#[test]
fn a_full_disk_is_told_in_one_line() {
    // Room for less than a run, then for less than the data.
    on_a_small_disk("40k", "data", "tiny");
    on_a_small_disk("1m", "tiny", "runs");
}

fn on_a_small_disk(size: &str, data: &str, runs: &str) {
    let place = Place::new();
    let tiny = place.path("tiny");
    std::fs::create_dir(&tiny).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={size} tmpfs {tiny} && exec {program} bench {plan} --runs {runs}",
        tiny = tiny.display(),
        runs = place.path(runs).display(),
        program = env!("CARGO_BIN_EXE_crossover"),
        plan = place.article(&[
            ("engines = [\"sqlite\", \"postgres:18\"]", "engines = [\"sqlite\"]"),
            ("replicates = 7", "replicates = 1"),
        ]),
    );
    let data = place.path(data);
    let environment = [("CROSSOVER_DATA_DIR", data.as_os_str())];
    let output = testing::run_with_own_mounts(&script, place.folder.path(), &environment);
    let Some(output) = output else { return };
    let said = error(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let last = said.lines().last().unwrap();
    // The kernel's words, or SQLite's.
    let words = ["No space left on device", "disk is full"];
    let told: usize = words.iter().map(|words| last.matches(words).count()).sum();
    assert!(last.starts_with("error: ") && told == 1, "{said}");
}

/// A key of the same name cannot be added twice.
const WRITING: &str = r#"
title = "writes"
workload = "http"
engines = ["sqlite", "postgres:18"]
data = "small.db"
replicates = 2
trial = { mode = "passes", passes = 1 }
[application]
prepare = [
    ["{crossover}", "dashboard", "init", "--database", "{database_url}"],
    ["{crossover}", "migrate", "{data}", "{database_url}", "--data-only"],
]
before = [["{crossover}", "dashboard", "key", "add", "ann", "--database", "{database_url}"]]
start = ["{crossover}", "dashboard", "serve", "--listen", "{listen}", "--database", "{database_url}"]
ready = "/healthz"
[[request]]
path = "/healthz"
answer = "status"
"#;

#[test]
fn an_applications_writes_are_gone_in_its_next_turn() {
    let place = Place::new();
    let url = format!("sqlite://{}", place.path("small.db").display());
    let words = ["dashboard", "generate", "--articles=80", "--rows=2000", "--database", &url];
    let made = place.run(&words);
    assert!(made.status.success(), "{}", error(&made));
    place.write("plan.toml", WRITING);
    for _ in 0..2 {
        let output = place.run(&["bench", "plan.toml"]);
        assert_eq!(output.status.code(), Some(3), "{}", error(&output));
        assert_eq!(place.trials().len(), 4);
        std::fs::remove_dir_all(place.path("runs")).unwrap();
    }

    // A template that something has changed all the same is not measured.
    let folders = std::fs::read_dir(place.path("data/postgres")).unwrap();
    let mut marks = folders.map(|folder| folder.unwrap().path().join("ready"));
    let mark = marks.find(|mark| mark.is_file()).unwrap();
    let noted = std::fs::read_to_string(&mark).unwrap();
    std::fs::write(&mark, noted.replace(" rows", "0 rows")).unwrap();
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    assert!(error(&output).contains("something has changed the kept data"), "{}", error(&output));
}
