//! What the evidence on one column means: blockers with their cure, warnings, notes.

use super::lossy_values;
use crate::display::{plural, thousands};
use crate::finding::{Finding, Refused, Severity};
use crate::mapping::Candidate;
use crate::source::{Affinity, Column, Table};
use crate::value::{Field, Misfit, PostgresType, Profile, Reading, StorageClass};

/// Documents of this size take memory that is worth a word.
const HEAVY_DOCUMENT_BYTES: usize = 64 << 20;

/// A column with all that is known of it.
pub struct Judged<'a> {
    pub table: &'a Table,
    /// Its position in the table.
    pub position: usize,
    /// The type its values were tried against.
    pub candidate: &'a Candidate,
    pub field: &'a Field,
    pub profile: &'a Profile,
    /// The names of the existing table and column in the target, quoted, if types come from there.
    pub target: Option<(&'a str, &'a str)>,
}

/// All findings on one column.
pub fn findings(judged: &Judged<'_>) -> Vec<Finding> {
    let fell_back = judged.candidate.field.as_ref().is_some_and(|tried| {
        tried.postgres_type != judged.field.postgres_type && judged.profile.has_unreadable()
    });
    let mut findings = Vec::new();
    if fell_back {
        findings.extend(judged.fallen_back());
    } else {
        for (misfit, refused) in &judged.profile.misfits {
            findings.push(judged.blocker(*misfit, refused));
        }
    }
    let by_values = fell_back || judged.candidate.field.is_none();
    if by_values && judged.field.postgres_type == PostgresType::Text {
        for (misfit, refused) in &judged.profile.text_misfits {
            findings.push(judged.blocker(*misfit, refused));
        }
        if judged.profile.blobs > 0 {
            let refused = Refused { count: judged.profile.blobs, examples: Vec::new() };
            let misfit = Misfit::StorageClass(StorageClass::Blob);
            findings.push(judged.blocker(misfit, &refused));
        }
    }
    let (infinities, is_numeric) =
        (&judged.profile.infinities, judged.field.postgres_type == PostgresType::Numeric(None));
    if by_values && is_numeric && infinities.count > 0 {
        findings.push(judged.blocker(Misfit::NotFinite, infinities));
    }
    if fell_back
        && judged.field.not_null
        && let Some(refused) = judged.profile.misfits.get(&Misfit::Null)
    {
        findings.push(judged.blocker(Misfit::Null, refused));
    }
    // What became of accidental numbers says it all.
    findings.extend(judged.accident().or_else(|| judged.changed_class()));
    findings.extend(judged.looks_like());
    findings.extend(judged.looks_like_epoch());
    findings.extend(judged.infinite());
    findings.extend(judged.heavy());
    findings.extend(lossy_values::findings(judged));
    findings
}

impl Judged<'_> {
    pub fn column(&self) -> &Column {
        &self.table.columns[self.position]
    }

    fn declared(&self) -> String {
        match self.column().declared_type.as_str() {
            "" => "without a type".to_owned(),
            declared => format!("declared {}", declared.to_ascii_lowercase()),
        }
    }

    fn finding(
        &self,
        severity: Severity,
        kind: &'static str,
        message: String,
        fix: String,
    ) -> Finding {
        Finding::on_table(severity, kind, &self.table.name, message, fix)
            .on_column(&self.column().name)
    }

    fn blocker(&self, misfit: Misfit, refused: &Refused) -> Finding {
        let message = self.message(misfit, refused.count);
        self.finding(Severity::Blocker, misfit.name(), message, self.fix(misfit))
            .counted(refused.count, refused.examples.clone())
            .cured_by(self.cure(misfit))
            .about_rows()
    }

    fn message(&self, misfit: Misfit, count: u64) -> String {
        let postgres_type = &self.field.postgres_type;
        let place = match self.target {
            Some(_) => format!("in a column that is {postgres_type} in the target"),
            None => format!("in a column {}", self.declared()),
        };
        let values = |what: &str| format!("{} {what}{}", thousands(count), plural(count));
        let longest = thousands(self.profile.longest_text_characters as u64);
        match misfit {
            Misfit::Null if self.table.primary_key.contains(&self.position) => {
                format!("{} in the primary key", values("NULL"))
            }
            Misfit::Null => format!("{} in a column that is NOT NULL", values("NULL")),
            Misfit::StorageClass(class) => {
                let form = self.profile.form().filter(|_| class == StorageClass::Text);
                let form = form.map_or_else(String::new, |form| format!(" ({})", form.name()));
                format!("{}{form} {place}", values(&format!("{} value", class.name())))
            }
            Misfit::Fraction => format!("{} with a fraction {place}", values("number")),
            Misfit::OutOfRange => {
                let range = match (self.profile.smallest_integer, self.profile.largest_integer) {
                    (Some(least), Some(most)) => format!(" (stored: {least} to {most})"),
                    _ => String::new(),
                };
                format!("{} beyond the range of {postgres_type}{range}", values("value"))
            }
            Misfit::TooLong { .. } => {
                let values = values("value");
                format!("{values} longer than {postgres_type} (longest {longest} characters)")
            }
            Misfit::Rounded => {
                format!("{} that {postgres_type} would round or cut", values("value"))
            }
            Misfit::InvalidUtf8 => format!("{} of invalid UTF-8", values("text")),
            Misfit::NulCharacter => {
                format!("{} with a NUL character, which PostgreSQL refuses", values("text"))
            }
            Misfit::NotFinite => {
                format!("{} of infinity, which {postgres_type} cannot hold", values("value"))
            }
            Misfit::Unreadable(class) => format!(
                "{} that cannot be read as {postgres_type}",
                values(&format!("{} value", class.name()))
            ),
            Misfit::TooLarge => format!("{} larger than PostgreSQL's 1 GB", values("value")),
        }
    }

    /// The declared type was given up for what the values are.
    fn fallen_back(&self) -> Option<Finding> {
        let tried = &self.candidate.field.as_ref()?.postgres_type;
        let (_, refused) =
            self.profile.misfits.iter().find(|(misfit, _)| **misfit != Misfit::Null)?;
        let count: u64 = self
            .profile
            .misfits
            .iter()
            .filter(|(misfit, _)| **misfit != Misfit::Null)
            .map(|(_, refused)| refused.count)
            .sum();
        let (chosen, name) = (&self.field.postgres_type, &self.column().name);
        let epoch = self.epoch();
        let (message, fix) = match epoch {
            Some((what, reading)) => (
                format!(
                    "{} number{} in a column {}, probably {what}: kept as {chosen}",
                    thousands(count),
                    plural(count),
                    self.declared()
                ),
                format!("--map '{}.{name}=timestamptz using {reading}'", self.table.name),
            ),
            None => (
                format!(
                    "{} value{} in a column {} cannot be read as {tried}: kept as {chosen}",
                    thousands(count),
                    plural(count),
                    self.declared()
                ),
                match self.decoded() {
                    Some(rule) => format!("every blob is a text in UTF-8: --map '{rule}'"),
                    None => "repair them to get the declared type".to_owned(),
                },
            ),
        };
        let finding = self.finding(Severity::Warning, "kept_as_stored", message, fix);
        Some(finding.counted(count, refused.examples.clone()))
    }

    /// Numbers in a column of dates that lie between 1973 and 2096, and how they are read.
    pub fn epoch(&self) -> Option<(&'static str, &'static str)> {
        let tried = self.candidate.field.as_ref();
        let moments = tried.is_some_and(|field| field.postgres_type.is_moment());
        self.profile.epoch().filter(|_| moments)
    }

    /// A declared type with NUMERIC affinity by accident has already changed what was stored.
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

    /// Values that fit, but come back as something else than they were.
    fn changed_class(&self) -> Option<Finding> {
        let Profile { integers, reals, texts, blobs, .. } = *self.profile;
        let is_decoded = self.field.reading == Some(Reading::Utf8);
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
            || self.candidate.is_rule
            || !text
            || self.target.is_some()
            || !self.profile.only_texts()
        {
            return None;
        }
        let better = self.profile.form()?.postgres_type();
        let message = format!("every text has the form of {better}");
        let fix =
            format!("--map '{}.{}={better}' if so meant", self.table.name, self.column().name);
        let finding = self.finding(Severity::Note, "narrower_type", message, fix);
        Some(finding.counted(self.profile.texts, Vec::new()))
    }

    /// A column of numbers, named like a moment, whose every value is one as seconds or
    /// milliseconds since 1970 or as a Julian day.
    fn looks_like_epoch(&self) -> Option<Finding> {
        let of_numbers = |postgres_type: &PostgresType| {
            let of_fractions = [PostgresType::DoublePrecision, PostgresType::Numeric(None)];
            postgres_type.is_integer() || of_fractions.contains(postgres_type)
        };
        let (tried, chosen) = (self.candidate.field.as_ref()?, &self.field.postgres_type);
        if self.target.is_some() || !of_numbers(&tried.postgres_type) || !of_numbers(chosen) {
            return None;
        }
        let lower = self.column().name.to_ascii_lowercase();
        let named =
            ["_at", "_on", "time", "date", "stamp", "created", "updated", "modified", "_ts"]
                .iter()
                .any(|ending| lower.ends_with(ending));
        let (what, reading) = self.profile.epoch().filter(|_| named)?;
        let message = format!("every number is probably a moment in {what}: kept as {chosen}");
        let (table, name) = (&self.table.name, &self.column().name);
        let fix = format!("--map '{table}.{name}=timestamptz using {reading}' if so meant");
        let finding = self.finding(Severity::Note, "epoch_numbers", message, fix);
        Some(finding.counted(self.profile.integers + self.profile.reals, Vec::new()))
    }

    /// Documents are compared in one form, of which there are copies.
    fn heavy(&self) -> Option<Finding> {
        let bytes = self.profile.longest_value_bytes;
        if self.field.postgres_type != PostgresType::Jsonb || bytes < HEAVY_DOCUMENT_BYTES {
            return None;
        }
        let megabytes = |bytes: usize| thousands(bytes as u64 / 1_000_000);
        let message = format!(
            "the longest document has {} MB: comparing it as jsonb takes about {} MB of memory",
            megabytes(bytes),
            megabytes(4 * bytes)
        );
        let (table, name) = (&self.table.name, &self.column().name);
        let fix = match self.target {
            Some(_) => "see that there is as much".to_owned(),
            None => format!("--map '{table}.{name}=json' takes it once"),
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

fn several(becomes: &str) -> String {
    becomes.replace("becomes its", "become their").replace("becomes", "become")
}
