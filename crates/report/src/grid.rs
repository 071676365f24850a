//! Tables and headings for a terminal or as Markdown.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle, presets};

/// What a table is drawn for.
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
    let mut table = Table::new();
    match form {
        Form::Terminal(width) => {
            let line = LineStyle::new('─', '─', '─', '─');
            table.load_style(TableStyle::new().header_separator(line));
            if let Some(width) = width {
                table.set_width(width);
            }
        }
        Form::Markdown => {
            table.load_style(presets::ASCII_MARKDOWN);
        }
    }
    table.force_no_tty();
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

pub(crate) fn heading(words: &str, form: Form) -> String {
    match form {
        Form::Terminal(_) => format!("{words}:"),
        Form::Markdown => format!("## {words}"),
    }
}
