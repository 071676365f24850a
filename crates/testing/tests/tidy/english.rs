//! Words of our own English, in comments, strings, help texts, documents and pages.

use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::{files, root};

/// A blank in a pattern stands for any white space.
const PRIVATE_WORDS: [(&str, &str); 18] = [
    (r"\b[Hh](?:e|is|im)\b", "programs and clients are `it`, users are `they`"),
    (r"\b[Ss]o (?:many|much)\b", "state the number or its name"),
    (r"\banew\b", "again"),
    (r"\bin vain\b", "without result"),
    (r"\b(?:is|was|are|were) to be\b", "must, should, or will"),
    (r"\b(?:of|by) (?:ours|yours)\b", "our own, your own, or the owner's name"),
    (r"\b(?:no|some|every)body\b", "the program or the user that does it"),
    (r"\b[Ww]hoever\b", "the program or the user that does it"),
    (r"\b(?:is|are|was|were) told\b", "reported, passed, set"),
    (r"\btells? of\b", "reports"),
    (r"\bmeanwhile\.", "in the same time, or leave it out"),
    (r"[,;] else\b", "otherwise"),
    (r"\b(?:is|are|was|were) no [a-z]+", "is not a ..."),
    (r"\b(?:that|which) (?:is|are) (?:that|those) of\b", "name the thing again, or match"),
    (r"\b[Aa]s (?:it|they) (?:is|was|are|were)\b", "unchanged, or as with a participle"),
    (r"\b(?:stand|stands|stood|standing) (?:in|at|beside)\b", "is in, is beside"),
    (r"\bmend(?:s|ed|ing)\b|\bmend (?:it|that|this|the|an?)\b", "repair"),
    (r"\basker", "client"),
];

static PRIVATE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let pattern = |words: &str| Regex::new(&words.replace(' ', r"\s+")).unwrap();
    PRIVATE_WORDS.iter().map(|(words, instead)| (pattern(words), *instead)).collect()
});

/// A sentence continues behind the mark of a comment and behind a backslash.
static BREAKS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\\\n\s*|\n\s*(?://[/!]?|\*) ").unwrap());

/// Plain English with the same words, the account `nobody`, and `; else` of TypeScript.
static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
    let plain = [
        r"\b[Tt]here\s+(?:is|are|was|were)\s+no\b",
        r"\b(?:is|are|was|were)\s+no\s+(?:longer|more)\b",
        r#"["`]nobody["`]"#,
        r"[;}]\s+else\b",
    ];
    Regex::new(&plain.join("|")).unwrap()
});

static UNIT_TESTS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)#\[cfg\(test\)\]\s*mod \w+ \{.*").unwrap());

/// Each private word with its line and what to write instead.
fn private_words(text: &str) -> Vec<(usize, String, &'static str)> {
    // Places stay, so that lines can be counted.
    let blanks = |found: &Captures<'_>| " ".repeat(found[0].len());
    let sentences = BREAKS.replace_all(text, blanks);
    let sentences = PLAIN.replace_all(&sentences, blanks);
    let found = PRIVATE.iter().flat_map(|(words, instead)| {
        words.find_iter(&sentences).map(|word| {
            let line = 1 + text[..word.start()].matches('\n').count();
            (line, word.as_str().split_whitespace().collect::<Vec<_>>().join(" "), *instead)
        })
    });
    found.collect()
}

fn is_read(name: &str) -> bool {
    let is_product = |name: &str| name.split('/').nth(2) == Some("src") && !name.contains("tests");
    !name.starts_with("crates/") || is_product(name)
}

#[test]
fn everything_that_is_read_is_plain_english() {
    let mut paths = files(&root().join("crates"), &["rs"]);
    paths.extend(files(&root().join("docs"), &["md"]));
    paths.extend(files(&root().join("web/src"), &["ts", "svelte", "css"]));
    paths.extend(files(&root().join("experiments"), &["toml", "md"]));
    let beside = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    paths.extend(beside.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    let name = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    let mut wrong = String::new();
    for path in paths.iter().filter(|path| is_read(&name(path))) {
        let text = std::fs::read_to_string(path).unwrap();
        let text = UNIT_TESTS.replace(&text, "");
        for (line, word, instead) in private_words(&text) {
            wrong.push_str(&format!("{}:{line}: \"{word}\": {instead}\n", name(path)));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn private_words_are_found_across_lines_and_plain_ones_pass() {
    let words = |text: &str| private_words(text).into_iter().map(|(line, ..)| line).collect();
    let found: Vec<usize> = words("/// The text is\n/// no plan.\nlet a = \"is no \\\n  date\";");
    assert_eq!(found, [1, 3]);
    let plain = "There is no plan; it is no longer here. `nobody`\nif (a) b();\nelse c();";
    assert_eq!(words(plain), Vec::<usize>::new());
}
