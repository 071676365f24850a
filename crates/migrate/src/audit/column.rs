//! Findings on the values of one column: blockers with their remedy, warnings, notes.

use notation::{counted, plural, thousands};

use super::evidence::{ColumnEvidence, TargetColumn};
use super::lossy_values;
use crate::display::flag;
use crate::finding::{Finding, RefusedValues, Severity};
use crate::mapping::{DeclaredType, IntegerRule, declared};
use crate::source::{Affinity, SourceSchema, SourceTable};
use crate::value::{PostgresType, Profile, StorageClass, TargetField, Unfit, ValueReading};

/// From this size on a value's memory is worth a note.
const HEAVY_VALUE_BYTES: usize = 64 << 20;

pub fn findings(evidence: &ColumnEvidence<'_>) -> Vec<Finding> {
    let fell_back = evidence.candidate.field.as_ref().is_some_and(|tried| {
        tried.postgres_type != evidence.field.postgres_type && evidence.profile.has_unreadable()
    });
    let mut findings = Vec::new();
    if fell_back {
        findings.extend(evidence.fallback_finding());
    } else {
        for (unfit, refused) in &evidence.profile.unfits {
            findings.push(evidence.blocker(*unfit, refused));
        }
    }
    let by_values = fell_back || evidence.candidate.field.is_none();
    if by_values && evidence.field.postgres_type == PostgresType::Text {
        for (unfit, refused) in &evidence.profile.text_unfits {
            findings.push(evidence.blocker(*unfit, refused));
        }
        if evidence.profile.blobs > 0 {
            let refused = RefusedValues { count: evidence.profile.blobs, examples: Vec::new() };
            let unfit = Unfit::StorageClass(StorageClass::Blob);
            findings.push(evidence.blocker(unfit, &refused));
        }
    }
    let (infinities, is_numeric) =
        (&evidence.profile.infinities, evidence.field.postgres_type == PostgresType::Numeric(None));
    if by_values && is_numeric && infinities.count > 0 {
        findings.push(evidence.blocker(Unfit::NotFinite, infinities));
    }
    if fell_back
        && evidence.field.not_null
        && let Some(refused) = evidence.profile.unfits.get(&Unfit::Null)
    {
        findings.push(evidence.blocker(Unfit::Null, refused));
    }
    // The accident explains the changed classes too.
    findings.extend(evidence.accident().or_else(|| evidence.changed_class()));
    findings.extend(evidence.typed_by_values());
    findings.extend(evidence.looks_like());
    findings.extend(evidence.looks_like_epoch());
    findings.extend(evidence.other_unit());
    findings.extend(evidence.infinite());
    findings.extend(evidence.heavy());
    findings.extend(lossy_values::findings(evidence));
    findings
}

impl ColumnEvidence<'_> {
    fn blocker(&self, unfit: Unfit, refused: &RefusedValues) -> Finding {
        let message = self.message(unfit, refused.count);
        self.finding(Severity::Blocker, unfit.name(), message, self.fix(unfit))
            .counted(refused.count, refused.examples.clone())
            .with_rule(self.remedy_rule(unfit))
            .about_rows()
    }

    fn message(&self, unfit: Unfit, count: u64) -> String {
        let postgres_type = &self.field.postgres_type;
        let place = match &self.target {
            Some(TargetColumn { generated: Some(_), .. }) => {
                format!("in a column that the target computes as {postgres_type}")
            }
            Some(_) => format!("in a column that is {postgres_type} in the target"),
            None => format!("in a column {}", self.declared()),
        };
        let values = |what: &str| format!("{} {what}{}", thousands(count), plural(count));
        match unfit {
            Unfit::Null if self.table.primary_key.contains(&self.position) => {
                format!("{} in the primary key", values("NULL"))
            }
            Unfit::Null => format!("{} in a column that is NOT NULL", values("NULL")),
            Unfit::StorageClass(class) => {
                let form = self.profile.form().filter(|_| class == StorageClass::Text);
                let form = form.map_or_else(String::new, |form| format!(" ({})", form.name()));
                format!("{}{form} {place}", values(&format!("{} value", class.name())))
            }
            Unfit::Fraction => format!("{} with a fraction {place}", values("number")),
            Unfit::OutOfRange => {
                let range = match (self.profile.smallest_integer, self.profile.largest_integer) {
                    (Some(least), Some(most)) => format!(" (stored: {least} to {most})"),
                    _ => String::new(),
                };
                format!("{} beyond the range of {postgres_type}{range}", values("value"))
            }
            Unfit::TooLong { .. } => {
                let longest = self.profile.longest_as_text().map_or_else(String::new, |longest| {
                    format!(" (longest {} characters)", thousands(longest))
                });
                format!("{} longer than {postgres_type}{longest}", values("value"))
            }
            Unfit::Rounded => {
                format!("{} that {postgres_type} would round or cut", values("value"))
            }
            Unfit::InvalidUtf8 => format!("{} of invalid UTF-8", values("text")),
            Unfit::NulCharacter => {
                format!("{} with a NUL character, which PostgreSQL refuses", values("text"))
            }
            Unfit::NotFinite => {
                format!("{} of infinity, which {postgres_type} cannot hold", values("value"))
            }
            Unfit::Unreadable(StorageClass::Text) if self.profile.only_moments() => {
                let time = values("time");
                match postgres_type {
                    PostgresType::Date => format!("{time} {place}: date has no time of day"),
                    _ => format!("{time} with a zone {place}: {postgres_type} has none"),
                }
            }
            Unfit::Unreadable(class) => format!(
                "{} that cannot be read as {postgres_type}",
                values(&format!("{} value", class.name()))
            ),
            Unfit::TooLarge => format!("{} larger than PostgreSQL's 1 GB", values("value")),
            Unfit::Json(fault) => {
                format!("{} {} {place}", values("text"), fault.clause(count == 1))
            }
            Unfit::HostBits => {
                format!("{} with bits to the right of the mask {place}", values("network"))
            }
            Unfit::Ragged => {
                format!("{} whose inner arrays differ in length or depth {place}", values("array"))
            }
        }
    }

    /// The declared type was replaced by the type of the values.
    fn fallback_finding(&self) -> Option<Finding> {
        let tried = &self.candidate.field.as_ref()?.postgres_type;
        let refused = self.profile.unfits.iter().filter(|(unfit, _)| **unfit != Unfit::Null);
        let refused: Vec<&RefusedValues> = refused.map(|(_, refused)| refused).collect();
        let count = refused.iter().map(|each| each.count).sum();
        let chosen = &self.field.postgres_type;
        let message = format!(
            "{} value{} in a column {} cannot be read as {tried}: kept as {chosen}",
            thousands(count),
            plural(count),
            self.declared()
        );
        let severity = if chosen.is_moment() { Severity::Note } else { Severity::Warning };
        let finding = self.finding(severity, "kept_as_stored", message, String::new());
        Some(finding.counted(count, refused.first()?.examples.clone()))
    }

    /// A column whose declaration names no type that is known: other rows would give another type.
    fn typed_by_values(&self) -> Option<Finding> {
        if self.candidate.field.is_some() || self.target.is_some() {
            return None;
        }
        let chosen = &self.field.postgres_type;
        let message = format!("a column {} has the type of its values: {chosen}", self.declared());
        let fix = format!("{} keeps it, whatever values there are", self.retype(chosen));
        Some(self.finding(Severity::Note, "type_by_values", message, fix))
    }

    /// A declared type with accidental NUMERIC affinity has already changed stored values.
    fn accident(&self) -> Option<Finding> {
        let column = self.column();
        let Profile { integers, reals, .. } = *self.profile;
        let textual = matches!(
            self.candidate.field.as_ref().map(|field| &field.postgres_type),
            Some(
                PostgresType::Uuid
                    | PostgresType::Text
                    | PostgresType::Citext
                    | PostgresType::Varchar(_)
            )
        );
        if column.affinity != Affinity::Numeric || !textual || integers + reals == 0 {
            return None;
        }
        let message = format!(
            "a column {} has NUMERIC affinity: {} value{} that looked like numbers became numbers; \
             leading zeros and exponents are already lost",
            self.declared(),
            thousands(integers + reals),
            plural(integers + reals)
        );
        let fix = "compare them with where they came from".to_owned();
        let finding = self.finding(Severity::Warning, "affinity_accident", message, fix);
        Some(finding.counted(integers + reals, Vec::new()))
    }

    /// Values that fit, but arrive in another storage class.
    fn changed_class(&self) -> Option<Finding> {
        let Profile { integers, reals, texts, blobs, .. } = *self.profile;
        let is_decoded = self.field.reading == Some(ValueReading::Utf8);
        let (count, what, becomes) = match &self.field.postgres_type {
            _ if is_decoded && blobs > 0 => (blobs, "blob", "becomes text"),
            PostgresType::Text | PostgresType::Citext | PostgresType::Varchar(_)
                if integers + reals > 0 =>
            {
                (integers + reals, "number", "among the texts becomes text")
            }
            PostgresType::Bytea if texts > 0 && blobs > 0 => {
                (texts, "text", "among the blobs becomes its bytes")
            }
            _ => return None,
        };
        let becomes = if count == 1 { becomes.to_owned() } else { several(becomes) };
        let message = format!("{} {what}{} {becomes}", thousands(count), plural(count));
        let finding = self.finding(Severity::Warning, "class_changes", message, String::new());
        Some(finding.counted(count, Vec::new()))
    }

    /// A text column whose every value has the form of a narrower type.
    fn looks_like(&self) -> Option<Finding> {
        let text = self.field.postgres_type.is_text();
        // A column that refers to another takes the type of that one.
        let mut keys = self.table.foreign_keys.iter();
        let refers = keys.any(|key| key.columns.contains(&self.position));
        if refers
            || self.form_collides
            || self.candidate.is_rule
            || !text
            || self.target.is_some()
            || !self.profile.only_texts()
        {
            return None;
        }
        let better = self.profile.form()?.postgres_type();
        let message = format!("every text has the form of {better}");
        let rule = format!("{}.{}={better}", self.table.name, self.column().name);
        let fix = format!("{} if so meant", flag("--map", &rule));
        let finding = self.finding(Severity::Note, "narrower_type", message, fix);
        Some(finding.counted(self.profile.texts, Vec::new()))
    }

    /// Documents are compared in canonical form, which takes copies of them.
    fn heavy(&self) -> Option<Finding> {
        let bytes = self.profile.longest_value_bytes;
        if self.field.postgres_type != PostgresType::Jsonb || bytes < HEAVY_VALUE_BYTES {
            return None;
        }
        let message = format!(
            "the longest document has {}: comparing it as jsonb takes about {} of memory",
            size(bytes),
            size(4 * bytes)
        );
        let (table, name) = (&self.table.name, &self.column().name);
        let fix = match self.target {
            Some(_) => "see that there is as much".to_owned(),
            None => format!("{} takes it once", flag("--map", &format!("{table}.{name}=json"))),
        };
        Some(self.finding(Severity::Note, "heavy_document", message, fix).counted(1, Vec::new()))
    }

    /// Infinity is a value of PostgreSQL's floats, which not every program expects.
    fn infinite(&self) -> Option<Finding> {
        let (refused, chosen) = (&self.profile.infinities, &self.field.postgres_type);
        let of_floats = [PostgresType::DoublePrecision, PostgresType::Real];
        if refused.count == 0 || !of_floats.contains(chosen) {
            return None;
        }
        let (count, plural) = (thousands(refused.count), plural(refused.count));
        let message = format!("{count} value{plural} of infinity: {chosen} takes Infinity");
        let finding = self.finding(Severity::Note, "infinity", message, String::new());
        Some(finding.counted(refused.count, refused.examples.clone()))
    }
}

/// Columns of whole numbers that are wider than they are declared.
pub fn wide_integers(schema: &SourceSchema, fields: &[Vec<TargetField>]) -> Option<Finding> {
    let columns = schema
        .tables
        .iter()
        .zip(fields)
        .flat_map(|(table, fields)| table.columns.iter().zip(fields));
    let wide = columns.filter(|(column, field)| {
        let narrow = declared(column, IntegerRule::Declared);
        field.postgres_type == PostgresType::BigInt
            && narrow == DeclaredType::Hard(PostgresType::Integer)
    });
    let count = wide.count();
    if count == 0 {
        return None;
    }
    let message = format!(
        "{} declared int or integer {} bigint: Node's pg returns bigint as text, i32 of Rust \
         refuses it",
        counted(count, "column"),
        if count == 1 { "is" } else { "are" }
    );
    let fix = "--integers declared makes integer of them";
    let finding = Finding::note("integers_are_bigint", "INTEGER", message, fix);
    Some(finding.counted(count as u64, Vec::new()))
}

/// Each of `readers` holds one row at a time.
pub fn large_rows(table: &SourceTable, profiles: &[Profile], readers: usize) -> Option<Finding> {
    let longest = || profiles.iter().map(|profile| profile.longest_value_bytes);
    if longest().max().unwrap_or(0) < HEAVY_VALUE_BYTES {
        return None;
    }
    let bytes: usize = longest().sum();
    let held = match readers {
        1 => "one at a time".to_owned(),
        _ => format!("up to {readers} at a time, {} of memory", size(readers * bytes)),
    };
    let message = format!("rows of up to {}: audit and migrate hold {held}", size(bytes));
    let fix = "see that there is as much";
    Some(Finding::note("large_rows", &table.name, message, fix))
}

fn size(bytes: usize) -> String {
    notation::bytes(bytes as u64)
}

fn several(becomes: &str) -> String {
    becomes.replace("becomes its", "become their").replace("becomes", "become")
}
