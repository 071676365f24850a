//! The shape of SQLite's EXPLAIN QUERY PLAN, indented by depth.

pub(crate) fn shape(text: &str) -> String {
    let mut shape = String::new();
    for line in text.lines() {
        // Releases before 3.8 estimate rows: `(~100000 rows)`.
        let line = line.split_once(" (~").map_or(line, |(before, _)| before);
        shape.push_str(line.trim_end());
        shape.push('\n');
    }
    shape
}
