//! The SQLite of the shell `sqlite3`, where no python3 can ask.

use std::process::Command;

use engine::SystemSqlite;

use super::{SystemPlans, output};

/// The shell's library and its plans; none where there is no shell.
pub(super) fn ask(uri: &str, statements: &[&str]) -> Option<SystemPlans> {
    let run = |arguments: &[&str]| output(Command::new("sqlite3").args(arguments), "");
    let told =
        run(&["-batch", "-noheader", ":memory:", "SELECT sqlite_version(), sqlite_source_id()"])?;
    let (version, source_id) = told.trim().split_once('|')?;
    let options = run(&["-batch", "-noheader", ":memory:", "PRAGMA compile_options"])?;
    let plan = |statement: &&str| {
        // An error is printed in its place, so that the shell's exit code says nothing.
        let script = format!(".bail off\n.eqp off\nEXPLAIN QUERY PLAN {statement};\n");
        let mut shell = Command::new("sh");
        shell.args(["-c", "sqlite3 -batch \"$1\" 2>&1 || true", "sh", uri]);
        let printed = output(&mut shell, &script).unwrap_or_default();
        plan_of(&printed)
    };
    Some(SystemPlans {
        library: SystemSqlite {
            origin: "the shell sqlite3".to_owned(),
            version: version.to_owned(),
            source_id: source_id.to_owned(),
            compile_options: options.lines().map(str::to_owned).collect(),
        },
        plans: statements.iter().map(plan).collect(),
    })
}

/// The tree that the shell draws, as two blanks for each step down.
fn plan_of(printed: &str) -> Result<String, String> {
    let Some((_, tree)) = printed.split_once("QUERY PLAN\n") else {
        // `Parse error near line 3: no such table: t`
        let said = printed.trim();
        return Err(said.split_once(": ").map_or(said, |(_, message)| message).to_owned());
    };
    let line = |line: &str| {
        let text = line.trim_start_matches(['|', '`', '-', ' ']);
        // Each step down is drawn by three characters.
        let depth = (line.len() - text.len()) / 3;
        format!("{}{text}", "  ".repeat(depth.saturating_sub(1)))
    };
    Ok(tree.lines().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::plan_of;

    #[test]
    fn a_drawn_tree_becomes_indented_lines() {
        let drawn = "QUERY PLAN\n`--MERGE (UNION)\n   |--LEFT\n   |  `--SEARCH t USING INDEX i (a=?)\n   `--RIGHT\n";
        let lines = "MERGE (UNION)\n  LEFT\n    SEARCH t USING INDEX i (a=?)\n  RIGHT";
        assert_eq!(plan_of(drawn).unwrap(), lines);
        assert_eq!(plan_of("Error: no such table: x\n").unwrap_err(), "no such table: x");
    }
}
