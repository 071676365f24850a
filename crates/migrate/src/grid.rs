//! Table layout of all text reports: a header, a rule below it, no borders.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// An empty table with this header; the columns named by position are aligned to the right.
pub fn grid<const COLUMNS: usize>(header: [&str; COLUMNS], right: &[usize]) -> Table {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')))
        .force_no_tty()
        .set_header(header);
    for &position in right {
        if let Some(column) = table.column_mut(position) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
