//! Columns that may become citext, with those that foreign keys join to them.

use notation::thousands;

use super::AuditOptions;
use crate::ddl::NocaseRule;
use crate::display::flag;
use crate::finding::Finding;
use crate::mapping::MapRules;
use crate::source::{Affinity, SourceSchema, SourceTable, resolve};
use crate::value::{PostgresType, TargetField};

pub const MAKE_EXTENSION: &str = "CREATE EXTENSION citext";

/// A column by its table and position.
type ColumnOf<'a> = (&'a SourceTable, usize);

/// ", or" the rules that make columns of texts citext; empty without such columns.
pub fn proposal(schema: &SourceSchema, table: &SourceTable, columns: &[usize]) -> String {
    let columns = columns.iter().map(|column| (table, *column)).collect();
    let rule = |rule: String| flag("--map", &rule);
    match rules(schema, columns).map(rule).collect::<Vec<_>>().join(" ") {
        rules if rules.is_empty() => rules,
        rules => format!(
            ", or make it citext (which knows every letter's case): {MAKE_EXTENSION} in the target, \
             then {rules}"
        ),
    }
}

/// The options with rules that make every column under NOCASE citext, if they ask for it. Their
/// own rules go before.
pub fn with_rules(schema: &SourceSchema, options: &AuditOptions) -> AuditOptions {
    let mut options = options.clone();
    if options.nocase != NocaseRule::Citext || options.target.is_some() {
        return options;
    }
    let is_nocase = |(table, column): &ColumnOf<'_>| {
        table.columns[*column].collation.as_deref() == Some("NOCASE")
    };
    let all = schema.tables.iter();
    let all = all.flat_map(|table| (0..table.columns.len()).map(move |column| (table, column)));
    let made = rules(schema, all.filter(is_nocase).collect());
    // The last rule that fits a column is its rule.
    let made = made.filter_map(|rule| rule.parse().ok());
    options.rules = MapRules(made.chain(options.rules.0).collect());
    options
}

/// A note on the extension, if a column needs it.
pub fn needed(fields: &[Vec<TargetField>]) -> Option<Finding> {
    let count = fields.iter().flatten();
    let count = count.filter(|field| field.postgres_type == PostgresType::Citext).count() as u64;
    let message = format!(
        "{}, a type of an extension that the target needs first",
        match count {
            1 => "1 column becomes citext".to_owned(),
            _ => format!("{} columns become citext", thousands(count)),
        }
    );
    let fix = format!("in the target: {MAKE_EXTENSION}");
    let finding = Finding::note("needs_citext", "citext", message, fix);
    (count > 0).then(|| finding.counted(count, Vec::new()))
}

fn rules<'a>(schema: &'a SourceSchema, columns: Vec<ColumnOf<'a>>) -> impl Iterator<Item = String> {
    let is_text =
        |(table, column): &ColumnOf<'_>| table.columns[*column].affinity == Affinity::Text;
    let mut all: Vec<ColumnOf<'_>> = columns.into_iter().filter(is_text).collect();
    let joined = joined(schema);
    let is_same = |a: &ColumnOf<'_>, b: &ColumnOf<'_>| a.0.name == b.0.name && a.1 == b.1;
    let mut at = 0;
    while let Some(one) = all.get(at).copied() {
        for (a, b) in &joined {
            let other = if is_same(a, &one) { b } else { a };
            let is_joined = is_same(a, &one) || is_same(b, &one);
            if is_joined && !all.iter().any(|known| is_same(known, other)) {
                all.push(*other);
            }
        }
        at += 1;
    }
    all.into_iter()
        .map(|(table, column)| format!("{}.{}=citext", table.name, table.columns[column].name))
}

/// The pairs of columns that foreign keys join.
fn joined(schema: &SourceSchema) -> Vec<(ColumnOf<'_>, ColumnOf<'_>)> {
    let mut pairs = Vec::new();
    for table in &schema.tables {
        for resolved in resolve(schema, table) {
            let Some((place, columns)) = resolved.parent else { continue };
            let parent = &schema.tables[place];
            let both = resolved.key.columns.iter().zip(columns);
            pairs.extend(both.map(|(own, its)| ((table, *own), (parent, its))));
        }
    }
    pairs
}
