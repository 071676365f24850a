//! Table layout of all text reports: a header, a rule below it, no borders.

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

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

/// Longest content that a narrow table does not break.
const WHOLE_WIDTH: u16 = 13;

/// Keeps words of ordinary length in these columns whole, where the table is narrow.
pub fn keep_whole(table: &mut Table, positions: &[usize]) {
    let widths = table.column_max_content_widths();
    for &position in positions {
        let content = widths.get(position).copied().unwrap_or_default().min(WHOLE_WIDTH);
        if let Some(column) = table.column_mut(position) {
            let width = Width::Fixed(content + column.padding_width());
            column.set_constraint(ColumnConstraint::LowerBoundary(width));
        }
    }
}
