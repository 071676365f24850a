//! Steps as text: a table by statement, or a block of lines for each where it is too wide; what to do, what
//! was not measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use notation::digits;

use super::{bullets, gap};
use crate::analysis::Shown;
use crate::answer::quoted;
use crate::grid::{Form, fitted_whole, heading};
use crate::steps::{BestPart, StepColumn, StepRow, StepTimePart, StepsPart};

pub(super) fn sections(
    products: &BTreeMap<String, String>,
    part: &StepsPart,
    form: Form,
) -> Vec<String> {
    let text = StepsText { products, part, form };
    let mut sections = vec![text.table().unwrap_or_else(|| text.blocks())];
    let legend = text.legend();
    if !legend.is_empty() {
        sections.push(legend.join("\n"));
    }
    if !part.to_do.is_empty() {
        sections.push(heading(part.to_do_heading(), form));
        sections.push(text.to_do());
    }
    if !part.not_measured.is_empty() {
        sections.push(heading("Not measured", form));
        let left_out = part.not_measured.iter().map(|one| {
            let place = one.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
            format!("{}{place}: {}", quoted(&one.name), one.why)
        });
        sections.push(bullets(left_out, form));
    }
    if !part.notes.is_empty() {
        sections.push(format!(
            "Notes:\n{}{}",
            gap(form),
            bullets(part.notes.iter().cloned(), form)
        ));
    }
    sections
}

struct StepsText<'a> {
    /// Engines as people call them, by label.
    products: &'a BTreeMap<String, String>,
    part: &'a StepsPart,
    form: Form,
}

impl StepsText<'_> {
    fn product<'s>(&'s self, engine: &'s str) -> &'s str {
        self.products.get(engine).map_or(engine, String::as_str)
    }

    /// Mean response times, ms, by engine and step; how both compare at their best last. None where the
    /// terminal is too narrow.
    fn table(&self) -> Option<String> {
        let between = match self.form {
            Form::Terminal(_) => "\n",
            Form::Markdown => ", ",
        };
        let mut header = vec!["Mean ms".to_owned()];
        let (mut columns, mut spare) = (Vec::new(), Vec::new());
        for of in &self.part.engines {
            for StepColumn { step, title } in &of.measured {
                let title = format!("{}{between}{title}", self.product(&of.engine));
                if *step != of.best && of.steps.first() != Some(step) {
                    spare.push(title.clone());
                }
                header.push(title);
                columns.push((of, step));
            }
        }
        let others = || self.part.engines.iter().skip(1);
        header.extend(others().map(|of| match self.part.engines.len() {
            ..=2 => format!("times as fast{between}at their best"),
            _ => format!("times as fast{between}beside {}", self.product(&of.engine)),
        }));
        let line = |row: &StepRow| {
            let times = columns.iter().map(|(of, step)| {
                let mean = time(row, &of.engine, step).and_then(|time| time.response_time_ms_mean);
                mean.map_or_else(|| "-".to_owned(), |mean| digits(mean.value))
            });
            let best = others().map(|of| match best(row, &of.engine) {
                Some(best) => self.best(best, ""),
                None => "not compared".to_owned(),
            });
            std::iter::once(name(row)).chain(times).chain(best).collect()
        };
        let rows = self.part.rows.iter().map(line).collect();
        fitted_whole(header, rows, 1, &spare, self.form)
    }

    /// The same with a few lines for each statement: an engine's times in one, a column for each step.
    fn blocks(&self) -> String {
        let mut steps: Vec<&StepColumn> = Vec::new();
        for one in self.part.engines.iter().flat_map(|of| &of.measured) {
            if !steps.iter().any(|known| known.step == one.step) {
                steps.push(one);
            }
        }
        let order = |one: &&StepColumn| {
            let of = self.part.engines.first()?;
            of.steps.iter().position(|own| *own == one.step)
        };
        steps.sort_by_key(|step| order(step).unwrap_or(usize::MAX));
        let products = self.part.engines.iter().map(|of| self.product(&of.engine));
        let wide = products.map(str::len).chain(["Mean ms".len()]).max().unwrap_or(0);
        let column = |one: &&StepColumn| one.title.len().max(COLUMN_MIN);
        let mut text = format!("{:wide$}  ", "Mean ms");
        for step in &steps {
            let _ = write!(text, "  {:>width$}", step.title, width = column(step));
        }
        for row in &self.part.rows {
            let _ = write!(text, "\n{}", name(row));
            for of in &self.part.engines {
                let _ = write!(text, "\n  {:wide$}", self.product(&of.engine));
                for step in &steps {
                    let cell = match time(row, &of.engine, &step.step) {
                        None => String::new(),
                        Some(time) => time
                            .response_time_ms_mean
                            .map_or_else(|| "-".to_owned(), |mean| digits(mean.value)),
                    };
                    let _ = write!(text, "  {cell:>width$}", width = column(step));
                }
                let kept = text.trim_end().len();
                text.truncate(kept);
            }
            for of in self.part.engines.iter().skip(1) {
                let said = match best(row, &of.engine) {
                    None => "not compared".to_owned(),
                    Some(best) => self.best(best, " times as fast"),
                };
                let beside = match self.part.engines.len() {
                    ..=2 => String::new(),
                    _ => format!(" beside {}", self.product(&of.engine)),
                };
                let _ = write!(text, "\n  at their best{beside}: {said}");
            }
        }
        text
    }

    /// `SQLite 10.4` and the `unit`, `equal`; a mark where the difference decides nothing.
    fn best(&self, best: &BestPart, unit: &str) -> String {
        let mark = if best.is_felt { "" } else { NOT_FELT };
        let first = self.part.engines.first().map_or("", |of| self.product(&of.engine));
        match best.verdict {
            Shown::Faster => format!("{first} {}{unit}{mark}", digits(1.0 / best.ratio.value)),
            Shown::Slower => {
                let other = self.product(&best.engine);
                format!("{other} {}{unit}{mark}", digits(best.ratio.value))
            }
            shown => shown.name().to_owned(),
        }
    }

    /// The meaning of the table's marks, and limits of the comparison at their best.
    fn legend(&self) -> Vec<String> {
        let rows = &self.part.rows;
        let best = || rows.iter().flat_map(|row| &row.best);
        let is_marked = |best: &BestPart| {
            !best.is_felt && matches!(best.verdict, Shown::Faster | Shown::Slower)
        };
        let mut said = Vec::new();
        if best().any(is_marked) {
            said.push(format!("*: a difference {}.", self.part.not_felt));
        }
        let is_open = |row: &StepRow| {
            row.times.iter().any(|time| {
                time.response_time_ms_mean.is_none() && {
                    let of = self.part.engines.iter().find(|of| of.engine == time.engine);
                    of.is_some_and(|of| of.measured.iter().any(|one| one.step == time.step))
                }
            })
        };
        if rows.iter().any(is_open) {
            said.push("-: not measured there.".to_owned());
        }
        said.extend(self.part.limits.iter().cloned());
        said
    }

    fn to_do(&self) -> String {
        // Markdown takes indented lines for code.
        let indent = match self.form {
            Form::Terminal(_) => "  ",
            Form::Markdown => "    ",
        };
        let mut text = String::new();
        for one in &self.part.to_do {
            let _ = writeln!(text, "{indent}-- {}, {}", self.product(&one.engine), one.step);
            for sql in &one.sql {
                let _ = writeln!(text, "{indent}{sql}");
            }
            for setting in &one.settings {
                let _ = writeln!(text, "{indent}{setting} -- on every connection");
            }
        }
        text.trim_end().to_owned()
    }
}

/// Marks a difference that decides nothing.
const NOT_FELT: &str = " *";
/// The least width of a column of times.
const COLUMN_MIN: usize = 8;

fn name(row: &StepRow) -> String {
    let name = |name: &String| {
        let quoted = quoted(name);
        quoted[1..quoted.len() - 1].to_owned()
    };
    match (&row.statement, row.executions) {
        (None, _) => "the log's total".to_owned(),
        (Some(statement), None) => name(statement),
        (Some(statement), Some(count)) => format!("{} ({count} times)", name(statement)),
    }
}

fn time<'r>(row: &'r StepRow, engine: &str, step: &str) -> Option<&'r StepTimePart> {
    row.times.iter().find(|time| time.engine == engine && time.step == step)
}

fn best<'r>(row: &'r StepRow, engine: &str) -> Option<&'r BestPart> {
    row.best.iter().find(|best| best.engine == engine)
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use record::{AssessmentRecord, NotMeasured};

    use super::*;
    use crate::analysis::analyse;
    use crate::formula::steps::{plan, random, trials};

    fn at(width: Option<u16>) -> String {
        let mut plan = plan(3, "");
        plan.statements[1].steps = vec!["unchanged".to_owned(), "settings".to_owned()];
        shown(plan, width)
    }

    fn shown(mut plan: Plan, width: Option<u16>) -> String {
        for (statement, name) in plan.statements.iter_mut().zip([
            "select order_items by order_id, product_id",
            "count orders",
            "customers by key",
        ]) {
            statement.name = name.to_owned();
        }
        let time = |engine: usize, step: &str, statement: usize| match (engine, step, statement) {
            (0, "unchanged", 0) => 384.0,
            (0, _, 0) => 0.81,
            (0, ..) => 8.0,
            (_, _, statement) => [1.2, 2.0, 8.0][statement],
        };
        let all = trials(&plan, 0.01, &mut random(), time);
        let analysis = analyse(&plan::Design::of(&plan), &plan.first_round().cells, &all);
        let record = AssessmentRecord {
            not_measured: vec![NotMeasured {
                name: "orders of a day".to_owned(),
                place: Some("slow.sql, line 7".to_owned()),
                why: "answers differ".to_owned(),
            }],
            limits: vec!["The best step of each engine was chosen in the pilot.".to_owned()],
            notes: vec!["On disk: postgres:18 28 MiB.".to_owned()],
            ..AssessmentRecord::default()
        };
        let products = [("sqlite", "SQLite"), ("postgres:18", "PostgreSQL 18")];
        let products = products.map(|(label, name)| (label.to_owned(), name.to_owned())).into();
        let part = crate::steps::part(&plan, record, analysis.steps.first().unwrap(), &products);
        sections(&products, &part, Form::Terminal(width)).join("\n\n")
    }

    #[test]
    fn a_table_where_it_fits_otherwise_a_block_by_statement() {
        let shown = [None, Some(160), Some(100), Some(80)]
            .map(|width| format!("# {width:?}\n{}", at(width)));
        insta::assert_snapshot!(shown.join("\n\n"));
    }

    /// A gain belongs to all changes that were not measured by themselves.
    #[test]
    fn a_column_names_all_changes_since_the_one_before() {
        let mut plan = plan(3, "");
        for statement in &mut plan.statements {
            statement.steps = vec!["unchanged".to_owned(), "settings".to_owned()];
        }
        for width in [None, Some(80)] {
            let text = shown(plan.clone(), width);
            assert!(text.contains("2 indexes and settings"), "{text}");
        }
    }

    #[test]
    fn no_line_of_figures_is_wider_than_the_terminal() {
        for width in [60, 80, 100, 160] {
            let text = at(Some(width));
            let table = text.split("The best step").next().unwrap();
            let longest = table.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
            assert!(longest <= usize::from(width), "{width}: {longest}\n{text}");
        }
    }
}
