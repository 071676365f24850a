//! Tab-separated tables beside the code: one row a line, comments after `# `.

use std::sync::LazyLock;

/// A table that is parsed when it is first read.
pub(crate) type Tsv<T> = LazyLock<Vec<T>>;

/// The rows of a table of `N` columns.
pub(crate) fn rows<const N: usize>(text: &'static str) -> Vec<[&'static str; N]> {
    let lines = text.lines().filter(|line| !line.starts_with("# "));
    let rows = lines.map(|line| {
        let row: Vec<&str> = line.split('\t').collect();
        row.try_into()
    });
    let rows: Result<_, _> = rows.collect();
    debug_assert!(rows.is_ok(), "a row has not {N} columns: {rows:?}");
    rows.unwrap_or_default()
}

/// The only column of a table.
pub(crate) fn column(text: &'static str) -> Vec<&'static str> {
    rows(text).into_iter().map(|[cell]| cell).collect()
}
