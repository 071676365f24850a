//! What the evidence on one column means: blockers with their cure, warnings, notes.

use super::finding::{Finding, Severity};
use super::profile::{Profile, Refused};
use crate::copy::{Field, Misfit, StorageClass};
use crate::inspect::{Affinity, Column, Table, quoted, thousands};
use crate::mapping::{Candidate, PostgresType, fallback};

/// A column with all that is known of it.
pub struct Judged<'a> {
    /// Its table.
    pub table: &'a Table,
    /// Its position in the table.
    pub position: usize,
    /// The type its values were tried against.
    pub candidate: &'a Candidate,
    /// The type it gets.
    pub field: &'a Field,
    /// The evidence.
    pub profile: &'a Profile,
    /// The name of the existing table in the target, quoted, if types come from there.
    pub target: Option<&'a str>,
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
    findings
}

impl Judged<'_> {
    fn column(&self) -> &Column {
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

    /// The rule under which every value of the column can be moved as what it is; none where its
    /// values are of several kinds, since a few bad ones are no reason to give up the type.
    fn cure(&self, misfit: Misfit) -> Option<String> {
        let Profile { texts, integers, reals, blobs, .. } = *self.profile;
        let of_one_kind = blobs == 0 && (texts == 0 || integers + reals == 0);
        let better = match misfit {
            Misfit::TooLong { .. } => self.wider(),
            Misfit::NotFinite => PostgresType::DoublePrecision,
            Misfit::Null | Misfit::TooLarge | Misfit::InvalidUtf8 | Misfit::NulCharacter => {
                return None;
            }
            _ => self.better(),
        };
        (of_one_kind && self.target.is_none()).then(|| self.rule(&better))
    }

    fn wider(&self) -> PostgresType {
        let longest = self.profile.longest_text_characters.next_power_of_two();
        PostgresType::Varchar(u32::try_from(longest).ok())
    }

    fn rule(&self, postgres_type: &PostgresType) -> String {
        format!("{}.{}={postgres_type}", self.table.name, self.column().name)
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

    /// The cure of a blocker, ready to be pasted.
    fn fix(&self, misfit: Misfit) -> String {
        match misfit {
            Misfit::Null => match self.target {
                Some(_) => format!("give them values, or {}", self.alter("DROP NOT NULL")),
                None => "give them values".to_owned(),
            },
            Misfit::TooLong { .. } => {
                format!("widen the column: {}", self.retype(&self.wider()))
            }
            Misfit::InvalidUtf8 | Misfit::NulCharacter => {
                format!("repair them, or keep the bytes: {}", self.retype(&PostgresType::Bytea))
            }
            Misfit::TooLarge => "store such values outside the database".to_owned(),
            Misfit::NotFinite if self.profile.texts > 0 => {
                "repair them: the texts that they were are lost".to_owned()
            }
            Misfit::NotFinite => self.retype(&PostgresType::DoublePrecision),
            Misfit::Unreadable(StorageClass::Integer | StorageClass::Real)
                if self.epoch().is_some() =>
            {
                let (what, reading) = self.epoch().unwrap_or_default();
                let rule = self.rule(&self.field.postgres_type);
                format!("probably {what}: --map '{rule} using {reading}'")
            }
            _ => {
                let better = self.better();
                let mut fix = self.retype(&better);
                if better == PostgresType::Uuid && self.target.is_none() {
                    fix.push_str(" (or varchar(36))");
                }
                if self.profile.blobs > 0 && self.profile.texts + self.profile.integers > 0 {
                    fix.push_str(", or make the values one storage class");
                }
                fix
            }
        }
    }

    /// A type that every value of the column fits.
    fn better(&self) -> PostgresType {
        let Profile { texts, looks, blobs, integers, reals, .. } = self.profile;
        let texts_only = self.profile.only_texts() && *texts > 0;
        if texts_only && looks.uuids == *texts {
            PostgresType::Uuid
        } else if texts_only && looks.dates == *texts {
            PostgresType::Date
        } else if texts_only && looks.dates + looks.timestamps == *texts {
            PostgresType::Timestamp(6)
        } else if texts_only && looks.zoned_timestamps == *texts {
            PostgresType::TimestampTz(6)
        } else if *blobs > 0 && integers + reals == 0 {
            PostgresType::Bytea
        } else if matches!(self.field.postgres_type, PostgresType::Numeric(Some(_)))
            && texts + blobs == 0
        {
            PostgresType::Numeric(None)
        } else {
            match (fallback(self.profile), &self.field.postgres_type) {
                // Fallen back to what was refused: the widest type of its kind.
                (same, refused) if same == *refused => PostgresType::Text,
                (other, _) => other,
            }
        }
    }

    fn retype(&self, postgres_type: &PostgresType) -> String {
        let Some(_) = self.target else {
            return format!("--map '{}'", self.rule(postgres_type));
        };
        let both_text = postgres_type.is_text() && self.field.postgres_type.is_text();
        // The table is empty, so there is nothing to convert.
        let using = if both_text { String::new() } else { format!(" USING NULL::{postgres_type}") };
        self.alter(&format!("TYPE {postgres_type}{using}"))
    }

    fn alter(&self, action: &str) -> String {
        let table = self.target.unwrap_or_default();
        let column = quoted(&self.column().name);
        format!("in the target: ALTER TABLE {table} ALTER COLUMN {column} {action}")
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
                "repair them to get the declared type".to_owned(),
            ),
        };
        let finding = self.finding(Severity::Warning, "kept_as_stored", message, fix);
        Some(finding.counted(count, refused.examples.clone()))
    }

    /// Numbers in a column of dates that lie between 1973 and 2096.
    fn epoch(&self) -> Option<(&'static str, &'static str)> {
        let tried = self.candidate.field.as_ref();
        let moments = tried.is_some_and(|field| field.postgres_type.is_moment());
        let Profile { integers, reals, texts, blobs, .. } = *self.profile;
        if !moments || texts + blobs > 0 {
            return None;
        }
        let (least, most) = (self.profile.smallest_integer, self.profile.largest_integer);
        match (least, most) {
            (Some(least), Some(most)) if reals == 0 => epoch_of(least, most),
            _ if integers == 0 && reals > 0 => Some(("Julian days", "julian_day")),
            _ => None,
        }
    }

    /// A declared type with NUMERIC affinity by accident has already changed what was stored.
    fn accident(&self) -> Option<Finding> {
        let column = self.column();
        let Profile { integers, reals, .. } = *self.profile;
        let textual = matches!(
            self.candidate.field.as_ref().map(|field| &field.postgres_type),
            Some(PostgresType::Uuid | PostgresType::Text | PostgresType::Varchar(_))
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
        let (count, what, becomes) = match &self.field.postgres_type {
            PostgresType::Text | PostgresType::Varchar(_) if integers + reals > 0 => {
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
        if !text || self.target.is_some() || !self.profile.only_texts() {
            return None;
        }
        let better = self.profile.form()?.postgres_type();
        let message = format!("every text has the form of {better}");
        let fix =
            format!("--map '{}.{}={better}' if so meant", self.table.name, self.column().name);
        let finding = self.finding(Severity::Note, "narrower_type", message, fix);
        Some(finding.counted(self.profile.texts, Vec::new()))
    }

    /// A column of integers, named like a moment, whose every value is one as seconds or
    /// milliseconds since 1970.
    fn looks_like_epoch(&self) -> Option<Finding> {
        let Profile { integers, reals, texts, blobs, .. } = *self.profile;
        let of_integers = self.field.postgres_type.is_integer() && self.target.is_none();
        let tried = self.candidate.field.as_ref()?;
        if !of_integers || !tried.postgres_type.is_integer() || integers == 0 {
            return None;
        }
        let lower = self.column().name.to_ascii_lowercase();
        let named =
            ["_at", "_on", "time", "date", "stamp", "created", "updated", "modified", "_ts"]
                .iter()
                .any(|ending| lower.ends_with(ending));
        if !named || reals + texts + blobs > 0 {
            return None;
        }
        let (least, most) = (self.profile.smallest_integer?, self.profile.largest_integer?);
        let (what, reading) = epoch_of(least, most)?;
        let message = format!("every number is probably a moment in {what}: kept as integer");
        let (table, name) = (&self.table.name, &self.column().name);
        let fix = format!("--map '{table}.{name}=timestamptz using {reading}' if so meant");
        let finding = self.finding(Severity::Note, "epoch_numbers", message, fix);
        Some(finding.counted(integers, Vec::new()))
    }
}

/// What numbers between these are as moments between 1973 and 2096, and how they are read.
fn epoch_of(least: i64, most: i64) -> Option<(&'static str, &'static str)> {
    match least {
        100_000_000.. if most < 4_000_000_000 => Some(("epoch seconds", "epoch_seconds")),
        100_000_000_000.. if most < 4_000_000_000_000 => {
            Some(("epoch milliseconds", "epoch_milliseconds"))
        }
        _ => None,
    }
}

/// "becomes its" for several.
fn several(becomes: &str) -> String {
    becomes.replace("becomes its", "become their").replace("becomes", "become")
}

/// `s` unless there is exactly one.
pub fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
