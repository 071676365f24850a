//! The modules of a crate import in one direction: each only from layers below its own. The layers
//! are written down once, in ARCHITECTURE.md.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// By crate its modules with the number of their layer, from the block in ARCHITECTURE.md.
fn layers() -> BTreeMap<String, BTreeMap<String, usize>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let block = text.split("```layers\n").nth(1).unwrap().split("```").next().unwrap();
    let of_crate = |line: &str| {
        let (name, layers) = line.split_once(": ").unwrap();
        let layers = layers.split(" | ").enumerate();
        let modules = layers.flat_map(|(layer, modules)| {
            modules.split_whitespace().map(move |module| (module.to_owned(), layer))
        });
        (name.to_owned(), modules.collect())
    };
    block.lines().map(of_crate).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Without comments and unit tests, which may import anything.
fn code_of(path: &Path) -> String {
    static TESTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)#\[cfg\(test\)\]\s*mod \w+ \{.*").unwrap());
    static COMMENTS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"//.*").unwrap());
    let text = std::fs::read_to_string(path).unwrap();
    COMMENTS.replace_all(&TESTS.replace(&text, ""), "").into_owned()
}

/// A path from the root of the crate or from a module above, up to its first name.
static PATHS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:^|[^:\w])(crate|super(?:::super)*)::(\w+|\{)").unwrap());

/// The names right behind `prefix::`, those in braces too.
fn names_behind(prefix: &str, code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for found in PATHS.captures_iter(code).filter(|found| &found[1] == prefix) {
        let first = found.get(2).unwrap();
        if first.as_str() != "{" {
            names.insert(first.as_str().to_owned());
            continue;
        }
        let (mut depth, mut word) = (1, String::new());
        for letter in code[first.end()..].chars() {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            if depth == 0 || (depth == 1 && letter == ',') {
                let name = word.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next();
                names.insert(name.unwrap().to_owned());
                word.clear();
            } else {
                word.push(letter);
            }
            if depth == 0 {
                break;
            }
        }
    }
    names
}

/// Names that the root of the crate hands on, with their modules.
fn handed_on(root: &Path) -> BTreeMap<String, String> {
    let code = code_of(root);
    let uses = Regex::new(r"pub(?:\([^)]*\))? use (?:self::)?(\w+)::(\{[^;]*\}|[^;]+);").unwrap();
    let word = Regex::new(r"\w+").unwrap();
    let names = uses.captures_iter(&code).flat_map(|one| {
        let module = one[1].to_owned();
        let names: Vec<String> = word.find_iter(&one[2]).map(|n| n.as_str().to_owned()).collect();
        names.into_iter().map(move |name| (name, module.clone()))
    });
    names.collect()
}

fn top_module(source: &Path, path: &Path) -> String {
    let first = path.strip_prefix(source).unwrap().components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

/// Each module of a crate with those that it imports from.
fn imports(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let top = |path: &Path| top_module(source, path);
    let files: Vec<PathBuf> = files(source).into_iter().filter(|f| is_rust(f)).collect();
    let is_root = |module: &String| ["lib", "main", "tests"].contains(&module.as_str());
    let modules: BTreeSet<String> = files.iter().map(|f| top(f)).filter(|m| !is_root(m)).collect();
    let root = files.iter().find(|file| is_root(&top(file)) && file.parent() == Some(source));
    let handed_on = handed_on(root.unwrap());
    let mut imports: BTreeMap<String, BTreeSet<String>> =
        modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
    let is_test = |file: &Path| {
        file.components()
            .any(|part| ["tests", "tests.rs"].map(std::ffi::OsStr::new).contains(&part.as_os_str()))
    };
    for file in files.iter().filter(|file| !is_test(file.strip_prefix(source).unwrap())) {
        let Some(own) = imports.get_mut(&top(file)) else { continue };
        let depth = file.strip_prefix(source).unwrap().components().count();
        let depth = depth - usize::from(file.file_name().unwrap() == "mod.rs");
        let code = code_of(file);
        let mut names = names_behind("crate", &code);
        // `super::` leads to the root of the crate from a file right below it, and so on.
        names.extend(names_behind(&vec!["super"; depth].join("::"), &code));
        for name in names {
            let module = if modules.contains(&name) { Some(&name) } else { handed_on.get(&name) };
            own.extend(module.filter(|module| **module != top(file)).cloned());
        }
    }
    imports
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rs")
}

#[test]
fn modules_import_from_lower_layers_only() {
    let layers = layers();
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(layers) = layers.get(&name) else {
            wrong.push(format!("ARCHITECTURE.md names no layers of {name}"));
            continue;
        };
        let imports = imports(&path.join("src"));
        let gone = layers.keys().filter(|module| !imports.contains_key(*module));
        wrong.extend(gone.map(|module| format!("{name} has no module {module}")));
        for (module, imported) in &imports {
            let Some(own) = layers.get(module) else {
                wrong.push(format!("ARCHITECTURE.md names no layer of {name}'s {module}"));
                continue;
            };
            let upward = imported.iter().filter(|other| layers.get(*other) >= Some(own));
            wrong.extend(upward.map(|other| format!("{name}: {module} imports {other}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Methods of a crate's types that stand outside of their type's module: each name, unique in the crate,
/// with its own module.
fn methods_elsewhere(codes: &[(String, String)]) -> BTreeMap<String, String> {
    let found = |pattern: &str| {
        let pattern = Regex::new(pattern).unwrap();
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (module, code) in codes {
            for one in pattern.captures_iter(code) {
                places.entry(one[1].to_owned()).or_default().push(module.clone());
            }
        }
        places
    };
    let types = found(r"\b(?:struct|enum|union) (\w+)");
    let functions = found(r"\bfn (\w+)");
    let block = Regex::new(r"(?ms)^impl(?:<[^>]*>)? (\w+)(?:<[^{]*>)? \{\n(.*?)^\}").unwrap();
    let method = Regex::new(r"(?m)^    (?:pub(?:\([^)]*\))? )?(?:const |async )*fn (\w+)").unwrap();
    let mut methods = BTreeMap::new();
    for (module, code) in codes {
        for one in block.captures_iter(code) {
            if types.get(&one[1]).is_none_or(|places| places.contains(module)) {
                continue;
            }
            let names = method.captures_iter(&one[2]).map(|name| name[1].to_owned());
            let unique = names.filter(|name| functions[name].len() == 1);
            methods.extend(unique.map(|name| (name, module.clone())));
        }
    }
    methods
}

#[test]
fn methods_outside_of_their_types_module_are_called_from_above() {
    let call = Regex::new(r"(?:\.|::)(\w+)\(").unwrap();
    let (mut wrong, mut methods_found) = (Vec::new(), 0);
    for (name, layers) in layers() {
        let source = root().join("crates").join(&name).join("src");
        let is_test = |file: &Path| file.iter().any(|part| part == "tests" || part == "tests.rs");
        let codes: Vec<(String, String)> = files(&source)
            .iter()
            .filter(|file| is_rust(file) && !is_test(file.strip_prefix(&source).unwrap()))
            .map(|file| (top_module(&source, file), code_of(file)))
            .collect();
        let methods = methods_elsewhere(&codes);
        methods_found += methods.len();
        for (module, code) in &codes {
            let Some(own) = layers.get(module) else { continue };
            for called in call.captures_iter(code) {
                let place = methods.get(&called[1]).filter(|place| *place != module);
                if let Some(place) = place.filter(|place| layers.get(*place) >= Some(own)) {
                    wrong.push(format!("{name}: {module} calls {} of {place}", &called[1]));
                }
            }
        }
    }
    assert!(methods_found > 10, "the crate plan has some");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_in_braces_and_comments_are_told_apart() {
    let code = "use crate::{Error, copy::{self, Part}, state};\nlet a = crate::value::of(b);";
    let names = names_behind("crate", code);
    assert_eq!(names, ["Error", "copy", "state", "value"].map(str::to_owned).into());
}

/// The crates of the workspace that each depends on, by its manifest.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let names: BTreeSet<String> =
        crates.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let name = Regex::new(r"(?m)^(\w+)(?:\.workspace| = )").unwrap();
    let of = |krate: &String| {
        let path = root().join("crates").join(krate).join("Cargo.toml");
        let manifest = std::fs::read_to_string(path).unwrap();
        let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        let found = name.captures_iter(section).map(|found| found[1].to_owned());
        (krate.clone(), found.filter(|name| names.contains(name)).collect())
    };
    names.iter().map(of).collect()
}

fn reached(from: &str, all: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let next = all[from].iter();
    next.flat_map(|name| std::iter::once(name.clone()).chain(reached(name, all))).collect()
}

#[test]
fn the_picture_shows_the_dependencies_of_the_crates() {
    let all = dependencies();
    let mut picture = String::from("flowchart TD\n");
    for (krate, direct) in &all {
        let follows =
            |name: &String| direct.iter().any(|other| reached(other, &all).contains(name));
        for name in direct.iter().filter(|name| !follows(name)) {
            picture.push_str(&format!("  {krate} --> {name}\n"));
        }
    }
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let shown = text.split("```mermaid\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(shown, picture);
}

#[test]
fn the_table_gives_each_crate_its_depth() {
    let all = dependencies();
    let depth = |name: &str| {
        fn depth_of(name: &str, all: &BTreeMap<String, BTreeSet<String>>) -> usize {
            1 + all[name].iter().map(|below| depth_of(below, all)).max().unwrap_or(0)
        }
        depth_of(name, &all)
    };
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let row = Regex::new(r"(?m)^\| *(\d+) *\| `crates/(\w+)`").unwrap();
    let rows: Vec<_> = row.captures_iter(&text).collect();
    let development = ["testing", "prove"];
    assert_eq!(rows.len(), all.len() - development.len(), "crates in the table");
    for row in rows {
        assert_eq!(row[1].parse::<usize>().unwrap(), depth(&row[2]), "the layer of {}", &row[2]);
    }
}
