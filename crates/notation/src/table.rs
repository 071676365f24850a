//! The look of every table on a terminal: a header, a rule below it, no borders.

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table, TableStyle, Width,
};

/// An empty table with this header, no wider than the terminal where its width is known; the columns
/// named by position are aligned to the right.
pub fn column_table(
    header: impl Into<Row>,
    right: impl IntoIterator<Item = usize>,
    width: Option<u16>,
) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::new('─', '─', '─', '─');
    table.load_style(TableStyle::new().header_separator(rule)).set_header(header);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    for position in right {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_below_the_header_and_numbers_end_alike() {
        let mut table = column_table(["name", "rows"], [1], None);
        table.add_row(["a", "1"]).add_row(["b", "10,000"]);
        let expected = "  name     rows\n─────────────────\n  a           1\n  b      10,000\n";
        assert_eq!(drawn(&table), expected);
    }
}
