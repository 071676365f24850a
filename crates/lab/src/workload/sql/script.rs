//! A statement of the plan as one kind of engine gets it: factors filled in, parameters marked in
//! the engine's way, each step with the line of its file for messages.

use engine::EngineKind;
use plan::{Placeholders, PlanError, ResultComparison, Statement, TransactionBegin, expand};
use serde::{Deserialize, Serialize};
use sql::{Dialect, Scanned, scan};

/// One operation of the mix, ready to be prepared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Script {
    /// Its number among all scripts of an engine; equal texts with equal values share it.
    pub id: usize,
    /// Its index in the mix.
    pub operation: usize,
    /// Its name in the plan.
    pub name: String,
    pub place: String,
    /// Statements that are executed one after another.
    pub steps: Vec<ScriptStep>,
    pub transaction: bool,
    /// Its transaction takes SQLite's write lock at its BEGIN.
    pub locks_at_begin: bool,
    /// Whether it may change data.
    pub writes: bool,
    /// How its answers are compared.
    pub comparison: ResultComparison,
    pub digits: u8,
    /// Columns that are not compared.
    pub ignored: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScriptStep {
    pub sql: String,
    /// For each parameter in the order of binding: its place among the values drawn.
    pub binds: Vec<usize>,
    /// The line where `sql` begins.
    pub line: usize,
    /// `true` if it inserts, changes or deletes rows.
    pub changes_rows: bool,
}

impl Script {
    /// `true` if an execution should change a row.
    pub(crate) fn changes_rows(&self) -> bool {
        self.steps.iter().any(|step| step.changes_rows)
    }

    /// Whether a column of the answer is not compared.
    pub(crate) fn ignores(&self, column: &str) -> bool {
        self.ignored.iter().any(|name| name.eq_ignore_ascii_case(column))
    }
}

/// Reads the text of `statement` for engines of `kind`. `names` are the parameters that have
/// values, in the order in which these are drawn.
pub(crate) fn script(
    statement: &Statement,
    operation: usize,
    kind: EngineKind,
    placeholders: &Placeholders,
    names: &[String],
) -> Result<Script, PlanError> {
    let text = expand(statement.text_at(kind, placeholders), "statement", placeholders)?;
    let dialect = plan::dialect(kind).unwrap_or(Dialect::Sqlite);
    let place = statement.place(placeholders);
    let at_line = |line: usize, message: String| match statement.file {
        Some(_) => PlanError::Malformed { place: format!("{place}, line {line}"), message },
        None => {
            let message = format!("{}, line {line}: {message}", statement.name);
            PlanError::impossible(&format!("statement.{operation}.text"), message)
        }
    };
    let scanned = scan(&text, dialect).map_err(|(line, message)| at_line(line, message))?;
    let first = scanned.first().ok_or_else(|| at_line(1, "there is no statement".to_owned()))?;
    if let (Some(second), false) = (scanned.get(1), statement.transaction) {
        let message = "a second statement begins here; write transaction = true to have them \
                       executed as one, or give each an entry of its own";
        return Err(at_line(second.line, message.to_owned()));
    }
    if let Some(control) = scanned.iter().find(|one| is_control(one)) {
        let message = "transactions are begun and ended by transaction = true, not by statements";
        return Err(at_line(control.line, message.to_owned()));
    }
    if !statement.transaction && first.words.is_empty() {
        return Err(at_line(first.line, "there is no statement".to_owned()));
    }
    let mut steps = Vec::new();
    for one in &scanned {
        if let Some((line, mark)) = one.unnamed {
            return Err(at_line(line, unfilled(mark)));
        }
        let rendered = one.render(dialect);
        let bind = |name: &String| {
            names.iter().position(|known| known == name).ok_or_else(|| {
                let message = format!(
                    ":{name} has no values; write parameters = {{ {name} = {{ range = [1, 1000] }} \
                     }} in {} (bench sql: --parameter {name}=1..1000), or make {name} a factor",
                    statement.name
                );
                at_line(one.line, message)
            })
        };
        let binds = rendered.parameters.iter().map(bind).collect::<Result<_, _>>()?;
        steps.push(ScriptStep {
            sql: rendered.sql,
            binds,
            line: one.first_line,
            changes_rows: one.changes_rows(),
        });
    }
    let writes = scanned.iter().any(Scanned::writes);
    Ok(Script {
        id: 0,
        operation,
        name: statement.name.clone(),
        steps,
        transaction: statement.transaction,
        locks_at_begin: writes && statement.begin != TransactionBegin::Deferred,
        writes,
        comparison: statement.answer.clone(),
        digits: statement.digits,
        ignored: statement.ignore_columns.clone(),
        place,
    })
}

/// A value belongs to a parameter by its name: any other would be NULL, or another one's.
fn unfilled(mark: &str) -> String {
    format!(
        "nothing gives {mark} a value; write :NAME instead, and parameters = {{ NAME = {{ range = \
         [1, 1000] }} }} (bench sql: --parameter NAME=1..1000)"
    )
}

fn is_control(statement: &Scanned<'_>) -> bool {
    const CONTROL: [&str; 6] = ["begin", "start", "commit", "rollback", "end", "savepoint"];
    statement.words.first().is_some_and(|word| CONTROL.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, transaction: bool, names: &[&str]) -> Result<Script, String> {
        let statement = Statement {
            name: "one".to_owned(),
            file: Some("shop/one.sql".into()),
            text: text.to_owned(),
            transaction,
            ..Statement::default()
        };
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let values = Placeholders::from([("days".to_owned(), "7".to_owned())]);
        script(&statement, 0, EngineKind::Postgres, &values, &names)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn factors_are_text_and_parameters_are_bound_by_name() {
        let script = of("SELECT {days}, :b, :a, :b", false, &["a", "b"]).unwrap();
        assert_eq!(script.steps[0].sql, "SELECT 7, $1, $2, $1");
        assert_eq!(script.steps[0].binds, [1, 0]);
        assert!(!script.writes);
    }

    #[test]
    fn parameters_without_a_name_are_refused() {
        let message = of("SELECT :a\nFROM t WHERE b = $1", false, &["a"]).unwrap_err();
        let expected = "shop/one.sql, line 2: nothing gives $1 a value; write :NAME instead";
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn mistakes_name_file_and_line() {
        let message = of("-- a\nSELECT :a", false, &[]).unwrap_err();
        assert!(message.starts_with("shop/one.sql, line 2: :a has no values"), "{message}");
        let message = of("SELECT 1;\nSELECT 2", false, &[]).unwrap_err();
        assert!(message.starts_with("shop/one.sql, line 2: a second statement"), "{message}");
        let message = of("SELECT 1;\n\nSELECT 'a", true, &[]).unwrap_err();
        assert!(
            message.starts_with("shop/one.sql, line 3: this string is not closed"),
            "{message}"
        );
        let message = of("BEGIN; SELECT 1; COMMIT", true, &[]).unwrap_err();
        assert!(message.contains("begun and ended by transaction = true"), "{message}");
        assert!(of(" -- nothing\n", true, &[]).unwrap_err().contains("there is no statement"));
        assert!(of("SELECT {weeks}", false, &[]).unwrap_err().contains("{weeks}"));
    }
}
