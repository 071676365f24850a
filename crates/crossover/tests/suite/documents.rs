//! Commands of README.md and docs/, run as written, each page in a folder of its own. A comment
//! before a block, which a renderer hides, marks it: `<!-- long -->` is run by `make prove`,
//! `<!-- not run: REASON -->` is counted, `<!-- file: NAME -->` makes a file of the block.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::place::{Place, error, text};

/// First words of the lines that are commands.
const PROGRAMS: [&str; 13] = [
    "crossover",
    "python3",
    "python",
    "node",
    "sed",
    "pip",
    "psql",
    "venv/bin/pip",
    "npm",
    "tar",
    "export",
    "make",
    ".",
];

/// Exit codes of a command that did its work: done; done, with findings; a regression found.
const DONE: [i32; 3] = [0, 3, 99];

#[derive(Clone, PartialEq)]
enum Mark {
    Short,
    Long,
    NotRun(String),
}

struct Page {
    /// Below the repository.
    name: String,
    text: String,
    commands: Vec<(Mark, String)>,
    /// By name what the page says is in them.
    files: Vec<(String, String)>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found =
        paths.flat_map(|path| if path.is_dir() { markdown_files(&path) } else { vec![path] });
    found.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

impl Page {
    fn read(path: &Path) -> Self {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let text = std::fs::read_to_string(path).unwrap();
        let mut page = Self { name, text: String::new(), commands: Vec::new(), files: Vec::new() };
        let mut mark = Mark::Short;
        let mut file = None;
        // The language after the fence, and the lines since.
        let mut fence: Option<(String, String)> = None;
        let mut command = String::new();
        for line in text.lines() {
            if let Some(language) = line.strip_prefix("```") {
                fence = match fence.take() {
                    None => Some((language.to_owned(), String::new())),
                    Some((_, lines)) => {
                        page.files.extend(file.take().map(|name: String| (name, lines)));
                        mark = Mark::Short;
                        None
                    }
                };
                continue;
            }
            if let Some((_, lines)) = &mut fence {
                let _ = writeln!(lines, "{line}");
            }
            if let Some(comment) =
                line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"))
            {
                match comment.split_once(": ") {
                    Some(("file", name)) => file = Some(name.to_owned()),
                    Some(("not run", reason)) => mark = Mark::NotRun(reason.to_owned()),
                    _ => {
                        assert_eq!(comment, "long", "{}: unknown mark", page.name);
                        mark = Mark::Long;
                    }
                }
                continue;
            }
            let code = match &fence {
                Some((language, _)) => language.is_empty().then_some(line),
                None => line.strip_prefix("    "),
            };
            let Some(code) = code else {
                if fence.is_none() && file.is_none() {
                    mark = Mark::Short;
                }
                continue;
            };
            let first = code.split_whitespace().next().unwrap_or_default();
            if command.is_empty() && !PROGRAMS.contains(&first) {
                continue;
            }
            let (code, goes_on) = match code.strip_suffix('\\') {
                Some(begun) => (begun, true),
                None => (code, false),
            };
            command.push_str(code);
            if !goes_on {
                page.commands.push((mark.clone(), std::mem::take(&mut command)));
            }
        }
        Self { text, ..page }
    }
}

fn pages() -> Vec<Page> {
    let mut paths = markdown_files(&root().join("docs"));
    paths.push(root().join("README.md"));
    paths.sort();
    paths.iter().map(|path| Page::read(path)).collect()
}

/// The page that CROSSOVER_TEST_DOCUMENT names, or all: one takes a minute.
fn wanted_pages(all: &[Page]) -> impl Iterator<Item = &Page> {
    let name = std::env::var("CROSSOVER_TEST_DOCUMENT").unwrap_or_default();
    all.iter().filter(move |page| page.name.contains(&name))
}

fn tutorial(pages: &[Page]) -> &Page {
    pages.iter().find(|page| page.name == "docs/tutorial.md").unwrap()
}

/// The files that the pages name, in a folder of its own for each page.
struct World {
    place: Place,
    shop: String,
}

impl World {
    fn new(page: &Page, tutorial: &Page) -> Self {
        let mut world = Self { place: Place::new(), shop: String::new() };
        let path = |name: &str| world.place.path(name);
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), text).unwrap();
        };
        symlink(env!("CARGO_BIN_EXE_crossover"), path("crossover")).unwrap();
        symlink(root().join("experiments"), path("experiments")).unwrap();
        let clients = root().join("target/foreign-clients");
        symlink(clients.join("venv"), path("venv")).unwrap();
        symlink(clients.join("node/node_modules"), path("node_modules")).unwrap();
        for (name, text) in tutorial.files.iter().chain(&page.files) {
            write(name, text);
            if name == "app.py" {
                write("old/app.py", text);
                write("new/app.py", text);
            }
        }
        write("slow.sql", "SELECT count(*) FROM orders WHERE cents > 5000;\n");
        write("queries/days.sql", "SELECT day, count(*) FROM orders GROUP BY day ORDER BY day;\n");
        write("password.txt", "a long password\n");
        let asked = "GET /orders?page=1 HTTP/1.1\" 200 512";
        write(
            "access.log",
            &format!("::1 - - [24/Nov/2026:10:00:00 +0000] \"{asked} \"-\" \"-\"\n"),
        );
        for application in ["django", "node"] {
            if page.name.ends_with(&format!("{application}.md")) {
                let from = root().join(format!("experiments/foreign-app-{application}/."));
                world.bash(&format!("cp -r {} . && rm -f shop.db", from.display()));
            }
        }
        if !["tutorial.md", "node.md"].iter().any(|makes_it| page.name.ends_with(makes_it)) {
            let made = world.bash("python3 make_shop.py 3000");
            assert!(made.status.success(), "{}", error(&made));
        }
        if page.text.contains("\"$SHOP\"") {
            let started = world.bash("crossover server start postgres:18");
            world.shop = text(&started.stdout).trim().to_owned();
        }
        world
    }

    fn bash(&self, command: &str) -> Output {
        let search = std::env::var("PATH").unwrap();
        let folder = self.place.folder.path().display();
        let mut timeout = Command::new("timeout");
        timeout.args(["--kill-after=10", "3600", "bash", "-c", command]);
        timeout
            .current_dir(self.place.folder.path())
            .env("PATH", format!("{folder}:{folder}/venv/bin:{search}"))
            .env("SHOP", &self.shop)
            .env("CROSSOVER_DATA_DIR", self.place.path("data"))
            .env("CROSSOVER_NO_WAIT_FOR_QUIET", "true")
            .env_remove("DATABASE_URL")
            .env_remove("CROSSOVER_DATABASE")
            .stdin(std::process::Stdio::null());
        timeout.output().unwrap()
    }
}

/// Runs the commands of a page that `wanted` lets through, and names those that fail.
fn failures(page: &Page, tutorial: &Page, wanted: impl Fn(&Mark) -> bool) -> Vec<String> {
    let commands: Vec<_> = page.commands.iter().filter(|(mark, _)| wanted(mark)).collect();
    if commands.is_empty() {
        return Vec::new();
    }
    let world = World::new(page, tutorial);
    let run = |(_, command): &&(Mark, String)| {
        let output = world.bash(command);
        let is_done = output.status.code().is_some_and(|code| DONE.contains(&code));
        let said = error(&output);
        (!is_done).then(|| format!("{}: {command}\n{}: {said}", page.name, output.status))
    };
    commands.iter().filter_map(run).collect()
}

/// Their number, and what is not run with its reason, for the end of `make test`.
#[test]
fn short_commands_of_documents_run() {
    let all = pages();
    let run = |page: &Page| failures(page, tutorial(&all), |mark| *mark == Mark::Short);
    let failed: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = wanted_pages(&all).map(|page| scope.spawn(|| run(page))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let marks: Vec<(Mark, String)> = all.into_iter().flat_map(|page| page.commands).collect();
    let count = |wanted: Mark| marks.iter().filter(|(mark, _)| *mark == wanted).count();
    let not_run = marks.iter().filter_map(|(mark, command)| match mark {
        Mark::NotRun(reason) => {
            let words: Vec<&str> = command.split_whitespace().take(4).collect();
            Some(format!("  {} ...: {reason}\n", words.join(" ")))
        }
        _ => None,
    });
    let not_run: Vec<String> = not_run.collect();
    let text = format!(
        "of the commands in documents {} ran, {} run in make prove, {} never:\n{}",
        count(Mark::Short),
        count(Mark::Long),
        not_run.len(),
        not_run.concat()
    );
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents"), text).unwrap();
}

#[test]
#[ignore = "half an hour, and the packages of target/foreign-clients; make prove runs it"]
fn proof_all_commands_of_documents_run() {
    let all = pages();
    let is_run = |mark: &Mark| !matches!(mark, Mark::NotRun(_));
    let failed = wanted_pages(&all).flat_map(|page| failures(page, tutorial(&all), is_run));
    let failed: Vec<String> = failed.collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn links_of_documents_lead_somewhere() {
    let mut paths = markdown_files(&root().join("docs"));
    let beside = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    paths.extend(beside.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            let is_file = !target.is_empty() && !target.contains("://");
            let found = path.parent().unwrap().join(target);
            assert!(!is_file || found.exists(), "{}: {target} is missing", path.display());
        }
    }
}
