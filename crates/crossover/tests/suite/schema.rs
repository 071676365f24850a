//! Validation of the program's JSON against the published schemas of docs/schemas.

use std::path::Path;

use serde_json::Value;

/// Panics with what is wrong where `json` is not of the form that `docs/schemas/NAME.schema.json`
/// promises.
pub fn check(name: &str, json: &str) -> Value {
    let value: Value = serde_json::from_str(json).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let path = folder.join(format!("{name}.schema.json"));
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    let schema = std::fs::read_to_string(&path).unwrap();
    compiler.add_resource("schema.json", serde_json::from_str(&schema).unwrap()).unwrap();
    let index = compiler.compile("schema.json", &mut schemas).unwrap();
    if let Err(error) = schemas.validate(&value, index) {
        panic!("{name}: {error:#}");
    }
    value
}

/// Every run below `runs`: run.json and all trials.
pub fn check_runs(runs: &Path) {
    for run in std::fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path()) {
        check("run", &std::fs::read_to_string(run.join("run.json")).unwrap());
        for trial in std::fs::read_dir(run.join("trials")).unwrap() {
            let path = trial.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                check("trial", &std::fs::read_to_string(path).unwrap());
            }
        }
    }
}
