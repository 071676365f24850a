//! Table layout of all text reports: a header, a rule below it, no borders.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// An empty table with this header, no wider than the terminal; the columns named by position are
/// aligned to the right.
pub fn grid<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    right: &[usize],
    width: Option<u16>,
) -> Table {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')))
        .force_no_tty()
        .set_header(header);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    for &position in right {
        if let Some(column) = table.column_mut(position) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The table as text, without the blanks at the ends of its lines.
pub fn drawn(table: &Table) -> String {
    let drawn = table.to_string();
    drawn.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}
