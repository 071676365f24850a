//! Tables and headings for a terminal or as Markdown.

use comfy_table::presets;
use notation::column_table;

/// The medium of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A terminal, of this width where it is known.
    Terminal(Option<u16>),
    Markdown,
}

/// A table whose first `words` columns are words; the others are aligned as numbers.
pub(crate) fn drawn(
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    words: usize,
    form: Form,
) -> String {
    // A header may be of several lines.
    let header: Vec<String> = header
        .iter()
        .map(|cell| cell.split('\n').map(|line| escaped(line, form)).collect::<Vec<_>>().join("\n"))
        .collect();
    let width = if let Form::Terminal(width) = form { width } else { None };
    let mut table = column_table(&header, words..header.len(), width);
    if form == Form::Markdown {
        table.load_style(presets::ASCII_MARKDOWN);
    }
    for row in rows {
        table.add_row(row.iter().map(|cell| escaped(cell, form)));
    }
    notation::drawn(&table).trim_end().to_owned()
}

/// The same without as many of the `spare` columns, the first one first, as a narrow terminal has no
/// room for: cells that are broken into lines cannot be read. A line below names them.
pub(crate) fn fitted(
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    words: usize,
    spare: &[String],
    form: Form,
) -> String {
    let (header, rows, left_out, _) = without_spare(header, rows, words, spare, form);
    with_left_out(drawn(header, rows, words, form), &left_out)
}

/// The same; none where cells would be broken all the same.
pub(crate) fn fitted_whole(
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    words: usize,
    spare: &[String],
    form: Form,
) -> Option<String> {
    let (header, rows, left_out, fits) = without_spare(header, rows, words, spare, form);
    fits.then(|| with_left_out(drawn(header, rows, words, form), &left_out))
}

/// Header, rows, the columns left out, and whether the rest fits.
fn without_spare(
    mut header: Vec<String>,
    mut rows: Vec<Vec<String>>,
    words: usize,
    spare: &[String],
    form: Form,
) -> (Vec<String>, Vec<Vec<String>>, Vec<String>, bool) {
    let Form::Terminal(Some(width)) = form else { return (header, rows, Vec::new(), true) };
    let width = usize::from(width);
    let fits = |header: &[String], rows: &[Vec<String>]| {
        let whole = drawn(header.to_vec(), rows.to_vec(), words, Form::Terminal(None));
        whole.lines().all(|line| line.trim_end().chars().count() <= width)
    };
    let mut left_out = Vec::new();
    for name in spare {
        if fits(&header, &rows) {
            break;
        }
        let Some(index) = header.iter().position(|title| title == name) else { continue };
        header.remove(index);
        for row in &mut rows {
            row.remove(index);
        }
        left_out.push(name.replace('\n', ", "));
    }
    let fits = fits(&header, &rows);
    (header, rows, left_out, fits)
}

fn with_left_out(table: String, left_out: &[String]) -> String {
    match left_out.is_empty() {
        true => table,
        false => format!("{table}\n(no room for: {})", left_out.join("; ")),
    }
}

pub(crate) fn heading(words: &str, form: Form) -> String {
    let words = escaped(words, form);
    match form {
        Form::Terminal(_) => format!("{words}:"),
        Form::Markdown => format!("## {words}"),
    }
}

/// Words with names of the user's in them, so that these stay what they are: neither a column's border
/// nor an element of HTML in Markdown, and one line of a table.
pub(crate) fn escaped(words: &str, form: Form) -> String {
    let mut safe = String::with_capacity(words.len());
    for letter in words.chars() {
        match (letter, form) {
            (control, _) if control.is_control() => safe.push(' '),
            ('<', Form::Markdown) => safe.push_str("&lt;"),
            ('&', Form::Markdown) => safe.push_str("&amp;"),
            ('|' | '\\' | '`' | '*', Form::Markdown) => safe.extend(['\\', letter]),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_neither_a_border_nor_an_element() {
        let table = |form| {
            let rows = vec![vec!["a|b <i> = *c*\nd".to_owned(), "1".to_owned()]];
            drawn(vec!["Engine".to_owned(), "Mean".to_owned()], rows, 1, form)
        };
        let markdown = table(Form::Markdown);
        assert!(markdown.contains("| a\\|b &lt;i> = \\*c\\* d "), "{markdown}");
        assert_eq!(markdown.lines().count(), 3, "{markdown}");
        let terminal = table(Form::Terminal(None));
        assert!(terminal.contains("a|b <i> = *c* d"), "{terminal}");
        assert_eq!(heading("a<b>", Form::Markdown), "## a&lt;b>");
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns_not_broken_cells() {
        let header = ["Engine", "Mean, ms", "Cores", "Requests"].map(str::to_owned).to_vec();
        let row = ["postgres:18", "0.444 (0.42 to 0.46)", "1.98", "12345"].map(str::to_owned);
        let at = |width| {
            let rows = vec![row.to_vec()];
            let spare = ["Cores", "Requests"].map(str::to_owned);
            fitted(header.clone(), rows, 1, &spare, Form::Terminal(width))
        };
        assert_eq!(at(Some(80)), at(None));
        let narrow = at(Some(52));
        assert!(narrow.contains("12345") && narrow.ends_with("(no room for: Cores)"), "{narrow}");
        assert_eq!(narrow.lines().count(), 4, "{narrow}");
        let narrowest = at(Some(30));
        assert!(narrowest.lines().all(|line| line.chars().count() <= 30), "{narrowest}");
    }
}
