//! JSON schemas of what the program prints and records, docs/schemas, written from its types.

use std::path::Path;

use report::{Document, Several};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// Output of `report --format json`.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is asked for")]
enum Report {
    Document(Box<Document>),
    Several(Several),
}

/// Schema of printed output.
fn output<T: JsonSchema>(name: &str, title: &str, form: &str) -> (String, Schema) {
    schema::<T>(SchemaSettings::draft2020_12().for_serialize(), name, title, form)
}

/// Schema of a recorded file. Older programs did not write every key, so fewer are required.
fn recorded<T: JsonSchema>(name: &str, title: &str, form: &str) -> (String, Schema) {
    schema::<T>(SchemaSettings::draft2020_12().for_deserialize(), name, title, form)
}

fn schema<T: JsonSchema>(
    settings: SchemaSettings,
    name: &str,
    title: &str,
    form: &str,
) -> (String, Schema) {
    let generator = settings.into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    let path = format!("{name}.schema.json");
    let description = format!(
        "{form}. Readers ignore keys that they do not know, and refuse a larger schema_version."
    );
    schema.insert("$id".to_owned(), path.clone().into());
    schema.insert("title".to_owned(), title.into());
    schema.insert("description".to_owned(), description.into());
    (path, schema)
}

fn all() -> [(String, Schema); 6] {
    [
        recorded::<record::Run>("run", "Run", "The record of a run: runs/ID/run.json"),
        recorded::<record::Trial>(
            "trial",
            "Trial",
            "The record of a trial: runs/ID/trials/NNNN.json",
        ),
        output::<Report>(
            "report",
            "Report",
            "What `crossover report --format json` prints: the document of one run, or several",
        ),
        output::<report::comparison::Comparison>(
            "compare",
            "Comparison",
            "What `crossover compare --output-format json` prints: side B against side A",
        ),
        output::<Vec<report::RunSummary>>(
            "runs",
            "Runs",
            "What `crossover runs --output-format json` prints",
        ),
        output::<super::blob::RunResult>(
            "blob-run",
            "BlobRun",
            "What `crossover blob run --output-format json` prints",
        ),
    ]
}

#[test]
fn schemas_of_the_output_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    for (name, schema) in all() {
        let schema = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        // Links of rustdoc.
        let schema = schema.replace("[`", "`").replace("`]", "`");
        let path = folder.join(&name);
        if std::env::var_os("CROSSOVER_WRITE_REFERENCE").is_some() {
            std::fs::write(&path, &schema).expect("the schema can be written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == schema,
            "docs/schemas/{name} is out of date; write it by CROSSOVER_WRITE_REFERENCE=1 cargo \
             test -p crossover --bin crossover schemas, then the page's types by npm run types"
        );
    }
}
