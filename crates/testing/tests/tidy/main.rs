//! House rules of names, comments and sizes, as far as a machine can check them.
#![expect(clippy::unwrap_used, reason = "tests")]

mod english;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

const LINES_MAX: usize = 400;
const TEST_NAME_MAX: usize = 60;

static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^//! (?:What|Who|Whose|Whether|How|Where|When|Which)\b").unwrap()
});
/// Of an item's doc; help texts of the command line may ask.
static ITEM_OPENING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*/// (?:What|Who|Whose|Whoever)\b").unwrap());
static TEST_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"#\[(?:tokio::)?test[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:async )?fn (\w+)").unwrap()
});
static TYPE_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union) (\w+)").unwrap()
});
static COMPARED_KIND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[!=]= EngineKind::").unwrap());
static DOC_AND_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^[ ]*/// ([^\n]*)\n(?:[ ]*#\[[^\n]*\n)*[ ]*(?:pub(?:\([^)]*\))? )?(?:const )?(?:async )?(?:fn|struct|enum|trait|mod|const|static)? ?(\w+)",
    )
    .unwrap()
});

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder with one of these endings, sorted.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let has_ending = |path: &PathBuf| {
        path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one))
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let found = paths.flat_map(|path| match path.is_dir() {
        true => files(&path, endings),
        false => Some(path).filter(has_ending).into_iter().collect(),
    });
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found
}

/// A breach of a rule: where, and what to do.
struct Breach {
    rule: &'static str,
    what: String,
}

struct Source {
    /// Below `crates/`.
    name: String,
    text: String,
    /// In `src`, and no unit test's file.
    is_product: bool,
}

fn sources() -> Vec<Source> {
    let crates = root().join("crates");
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&crates).unwrap().display().to_string();
        let is_product = name.split('/').nth(1) == Some("src") && !name.contains("tests");
        Source { text: std::fs::read_to_string(path).unwrap(), name, is_product }
    };
    let own = |path: &PathBuf| path.ends_with("testing/tests/tidy/main.rs");
    files(&crates, &["rs"]).into_iter().filter(|path| !own(path)).map(read).collect()
}

fn is_repetition(doc: &str, name: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !c.is_alphanumeric());
        let plain = split.map(|word| word.to_lowercase().trim_end_matches('s').to_owned());
        plain
            .filter(|word| !["", "the", "a", "an", "it", "of", "this"].contains(&&**word))
            .collect()
    };
    let mut spaced = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            spaced.push(' ');
        }
        spaced.push(if letter == '_' { ' ' } else { letter });
    }
    let name = words(&spaced);
    let doc = words(doc);
    !doc.is_empty() && doc.iter().all(|word| name.contains(word))
}

fn breaches_of(source: &Source) -> Vec<Breach> {
    let mut found = Vec::new();
    let mut add = |rule, what: String| {
        found.push(Breach { rule, what });
    };
    let lines = source.text.lines().count();
    if lines > LINES_MAX {
        add("long-file", format!("{}: {lines} lines, at most {LINES_MAX}", source.name));
    }
    for test in TEST_NAME.captures_iter(&source.text) {
        if test[1].len() >= TEST_NAME_MAX {
            add(
                "long-test-name",
                format!(
                    "{}: {}: {} letters, at most {}",
                    source.name,
                    &test[1],
                    test[1].len(),
                    TEST_NAME_MAX - 1
                ),
            );
        }
    }
    if !source.is_product {
        return found;
    }
    let first = source.text.lines().next().unwrap_or_default();
    if !first.starts_with("//! ") || OPENING.is_match(first) {
        let what = "the first line says what the module is, as a noun phrase";
        add("opening", format!("{}: {what}: {first}", source.name));
    }
    let mut before = "";
    for (number, line) in source.text.lines().enumerate() {
        let begins = !std::mem::replace(&mut before, line).trim_start().starts_with("///");
        if begins && ITEM_OPENING.is_match(line) && !source.name.starts_with("crossover/") {
            let place = format!("{}:{}", source.name, number + 1);
            add("item-opening", format!("{place}: say what it is, as a noun phrase: {line}"));
        }
    }
    if COMPARED_KIND.is_match(&source.text) {
        let what = "ask `EngineKind::properties`, which each new kind of engine fills in";
        add("compared-kind", format!("{}: {what}", source.name));
    }
    for doc in DOC_AND_NAME.captures_iter(&source.text) {
        if is_repetition(&doc[1], &doc[2]) {
            add("repetition", format!("{}: {} repeats {}", source.name, &doc[1], &doc[2]));
        }
    }
    found
}

/// Types of one name in several places.
fn shared_type_names(sources: &[Source]) -> Vec<Breach> {
    let mut places: BTreeMap<String, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_product) {
        for name in TYPE_NAME.captures_iter(&source.text) {
            places.entry(name[1].to_owned()).or_default().push(source);
        }
    }
    // Used by the name of their module.
    let free = ["Error", "Options", "Arguments", "Command"];
    places.retain(|name, places| places.len() > 1 && !free.contains(&name.as_str()));
    let breaches = places.iter().flat_map(|(name, places)| {
        places.iter().map(move |source| Breach {
            rule: "shared-type-name",
            what: format!("{}: {name} has {} places", source.name, places.len()),
        })
    });
    breaches.collect()
}

#[test]
fn house_rules_hold() {
    let sources = sources();
    let mut breaches: Vec<Breach> = sources.iter().flat_map(breaches_of).collect();
    breaches.extend(shared_type_names(&sources));
    let wrong = breaches.iter().map(|breach| format!("{}: {}\n", breach.rule, breach.what));
    let wrong: String = wrong.collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn repetitions_are_told_from_documentation() {
    assert!(is_repetition("The data directory.", "data_directory"));
    assert!(is_repetition("Its name.", "names"));
    assert!(!is_repetition("Its first name.", "names"));
    assert!(!is_repetition("The data directory, in bytes.", "data_directory"));
}
