//! Application that made a file: its framework, and the types of its own tables that Crossover
//! would not choose.

use std::collections::BTreeMap;
use std::path::Path;

use notation::counted;
use serde::Serialize;

use super::Framework;
use super::preset::OtherType;
use crate::Error;
use crate::display::{escaped, first_of, flag, shell_word};
use crate::finding::Finding;
use crate::source::file::SourceFile;
use crate::source::read_schema::schema;
use crate::source::schema::SourceSchema;
use crate::source::selection::{Selection, fits_pattern};

/// Most types and tables that are named.
const NAMED: usize = 4;

#[derive(Clone, Debug, Serialize)]
pub struct SourceApplication {
    /// Several, if the file has the tables of several and none was named.
    pub frameworks: Vec<Framework>,
    /// The tables by which they were recognised; empty for a framework that was named.
    pub recognised_by: Vec<String>,
    /// Types of the framework's own tables that Crossover would not choose.
    pub other_types: Vec<ColumnsOfOtherType>,
    /// Types that its preset gives to tables that Crossover makes.
    pub preset_types: Vec<ColumnsOfOtherType>,
    /// Its tables that are filled while they are made.
    pub filled: Vec<String>,
    /// Its tables of sessions, caches and finished jobs.
    pub expendable: Vec<String>,
}

/// Columns of one declared type.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnsOfOtherType {
    pub declared: String,
    /// The type in the framework's own tables.
    pub becomes: String,
    pub columns: usize,
    /// Otherwise the framework declares other columns like this too.
    pub is_certain: bool,
}

/// The flags that name tables, each after a blank: types are those of existing tables.
pub fn selection_flags(flags: &[String]) -> String {
    const OF_TYPES: [&str; 4] = ["--map ", "--types ", "--integers ", "--nocase "];
    let is_of_types = |flag: &&String| OF_TYPES.iter().any(|each| flag.starts_with(each));
    let flags = flags.iter().filter(|flag| !is_of_types(flag));
    flags.map(|flag| format!(" {flag}")).collect()
}

impl SourceApplication {
    /// The application of a file of which nothing but the schema is read.
    ///
    /// # Errors
    /// A file that cannot be read, a selection that fits nothing.
    pub fn of_file(path: &Path, selection: &Selection) -> Result<Option<Self>, Error> {
        let source = SourceFile::open(path, 1)?;
        source.with(|connection| {
            let schema = schema(connection).map_err(|error| source.explain(error))?;
            Ok(Self::of(&selection.apply(schema)?))
        })
    }

    /// The application of a file that was read, if one was recognised or named.
    pub fn of(schema: &SourceSchema) -> Option<Self> {
        let first = schema.frameworks.first()?.framework;
        let is_one = schema.framework().is_some();
        let of_kind = |kind: &OtherType| {
            let tables = schema.tables.iter().filter(|table| !first.keeps_versions(table));
            let columns = tables.map(|table| kind.columns(table)).sum();
            let (declared, becomes) = (kind.declared.clone(), kind.becomes.clone());
            let is_certain = kind.is_certain;
            let of_kind = ColumnsOfOtherType { declared, becomes, columns, is_certain };
            (is_one && columns > 0).then_some(of_kind)
        };
        let preset_type = |(declared, becomes): (&String, &String)| OtherType {
            declared: declared.clone(),
            check: None,
            becomes: becomes.clone(),
            is_certain: true,
        };
        let of_preset = first.preset.types.iter().map(preset_type);
        let names = |patterns: &[String]| {
            let fits = |name: &str| patterns.iter().any(|pattern| fits_pattern(pattern, name));
            let names = schema.tables.iter().map(|table| table.name.clone());
            names.filter(|name| fits(name)).collect()
        };
        Some(Self {
            frameworks: schema.frameworks.iter().map(|each| each.framework).collect(),
            recognised_by: schema.frameworks.iter().flat_map(|each| each.tables.clone()).collect(),
            other_types: first.preset.other_types.iter().filter_map(of_kind).collect(),
            preset_types: of_preset.filter_map(|kind| of_kind(&kind)).collect(),
            filled: names(&first.preset.filled),
            expendable: names(&first.preset.expendable),
        })
    }

    /// The way of its application, in sentences without the last full stop. `flags` are those of the
    /// command that read the file.
    pub fn advice(&self, source: &Path, flags: &[String]) -> String {
        let (source, more) = (shell_word(&source.display().to_string()), selection_flags(flags));
        let [framework] = self.frameworks.as_slice() else { return self.question() };
        let preset = framework.preset;
        let tables = match self.recognised_by.as_slice() {
            [] => String::new(),
            [table] => format!(", by its table {}", escaped(table)),
            several => format!(", by its tables {}", escaped(&several.join(" and "))),
        };
        let proved = if preset.proved { "" } else { ", recognised, not proved" };
        let article = if preset.name.starts_with(['A', 'E', 'I', 'O', 'U']) { "An" } else { "A" };
        let mut advice = format!(
            "{article} {} database{tables}{proved}: make its tables by {} in an empty PostgreSQL \
             database, then `crossover migrate {source} URL {}{more}`; {}",
            preset.name,
            preset.tables_by,
            preset.flags,
            self.differences()
        );
        let mut add = |sentence: String| {
            advice.push_str(". ");
            advice.push_str(&sentence);
        };
        if preset.flags.contains("--replace") && !self.filled.is_empty() {
            let filled = escaped(&first_of(&self.filled, NAMED));
            add(format!("--replace deletes the rows that come with {filled}"));
        }
        if !self.expendable.is_empty() {
            let flags: Vec<String> =
                self.expendable.iter().map(|table| flag("--exclude", table)).collect();
            add(format!("Sessions and caches may stay behind: {}", flags.join(" ")));
        }
        if let Some(caution) = &preset.caution {
            add(caution.clone());
        }
        advice
    }

    /// The types that a copy lacks whose types are the file's.
    pub fn types_not_copied(&self) -> Option<String> {
        let given = |each: &ColumnsOfOtherType| {
            let columns = counted(each.columns, "column");
            format!("{} for {} ({columns})", each.becomes, each.declared)
        };
        let given: Vec<String> = self.preset_types.iter().map(given).collect();
        (!given.is_empty()).then(|| format!("--make-tables would give {}", first_of(&given, NAMED)))
    }

    /// Types that the default path would make otherwise, as far as declared types tell.
    fn differences(&self) -> String {
        if self.other_types.is_empty() {
            return "the default takes its types from the file, not from the application"
                .to_owned();
        }
        let mut by_certainty: BTreeMap<bool, Vec<String>> = BTreeMap::new();
        for each in &self.other_types {
            let verb = if each.is_certain { "is" } else { "may be" };
            let columns = counted(each.columns, "column");
            let said = format!("{} {verb} {} ({columns})", each.declared, each.becomes);
            by_certainty.entry(!each.is_certain).or_default().push(said);
        }
        let is_certain = by_certainty.contains_key(&false);
        let all: Vec<String> = by_certainty.into_values().flatten().collect();
        let types = if is_certain { "would" } else { "may" };
        format!(
            "the default {types} make other types than the application's: there {}",
            first_of(&all, NAMED)
        )
    }

    /// A warning if the user has to choose one of several.
    pub fn finding(&self) -> Option<Finding> {
        let [_, another, ..] = self.frameworks.as_slice() else { return None };
        let table = self.recognised_by.last()?;
        let message = format!(
            "the tables of {}, and those of another framework: migrate asks which of them made it",
            another.name()
        );
        let fix = format!("--framework {}, or another", another.key());
        Some(Finding::warning("two_frameworks", table, message, fix))
    }

    fn question(&self) -> String {
        let names: Vec<&str> = self.frameworks.iter().map(|each| each.name()).collect();
        let flags: Vec<String> =
            self.frameworks.iter().map(|each| format!("--framework {}", each.key())).collect();
        format!(
            "The file has the tables of {} ({}): say which of them made it by {}, or \
             --framework none",
            names.join(" and of "),
            escaped(&self.recognised_by.join(", ")),
            flags.join(" or ")
        )
    }
}
