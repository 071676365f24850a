//! `crossover bench http` on applications of the tests' own: which database answers, writes, URLs.

mod reach;
mod sweep;
mod urls;
mod writes;

use std::process::Output;

use serde_json::Value;

use crate::place::{Place, error};

const ENGINES: [&str; 2] = ["sqlite", "postgres:18"];
const ADDRESS: &str = "DATABASE_URL={database_url}";
/// A name that the application does not read.
const MISSPELT: &str = "DATABSE_URL={database_url}";

/// The application in a folder of its own, with the file that it uses when it is not given another, and
/// with the data that engines are filled from.
struct OwnApplication {
    place: Place,
}

impl OwnApplication {
    fn new() -> Self {
        let place = Place::new();
        place.write("app.py", include_str!("app.py"));
        for (name, rows) in [("own.db", "(1), (2)"), ("item.db", "(1), (2), (3)")] {
            let file = rusqlite::Connection::open(place.path(name)).unwrap();
            let table = "CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER NOT NULL)";
            file.execute_batch(&format!("{table}; INSERT INTO item (price) VALUES {rows}"))
                .unwrap();
        }
        Self { place }
    }

    /// Measures one block of it on `engines`, by `more` flags.
    fn bench(&self, engines: &[&str], mode: &str, more: &[&str]) -> Output {
        let mut words = vec!["bench", "http", "--data=item.db", "--start=python3 app.py"];
        words.extend(["--environment=LISTEN={listen}", "--time=1s", "--replicates=1"]);
        words.extend(engines.iter().flat_map(|engine| ["--on", engine]));
        words.extend(["--output-format=json", "--no-wait-for-quiet"]);
        words.extend(more);
        self.place.command(&words).env("MODE", mode).output().unwrap()
    }

    fn own_file(&self) -> Vec<u8> {
        std::fs::read(self.place.path("own.db")).unwrap()
    }

    /// What it says of a run that ended before anything was measured.
    fn refusal(&self, engine: &str, mode: &str, more: &[&str]) -> String {
        let output = self.bench(&[engine], mode, more);
        let said = error(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(self.place.runs().is_empty(), "{said}");
        said
    }
}

/// The report of a run in which every request was answered as it must be.
fn report(output: &Output) -> Value {
    let code = output.status.code();
    assert!(code == Some(0) || code == Some(3), "{code:?}: {}", error(output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for treatment in report["treatments"].as_array().unwrap() {
        assert_eq!(treatment["failures"], 0, "{treatment}");
        assert!(treatment["requests"].as_u64().unwrap() > 0, "{treatment}");
    }
    report
}

fn warnings(report: &Value, kind: &str) -> Vec<String> {
    let all = report["warnings"].as_array().unwrap().iter();
    let wanted = all.filter(|warning| warning["kind"] == kind);
    wanted.map(|warning| warning["message"].as_str().unwrap().to_owned()).collect()
}
