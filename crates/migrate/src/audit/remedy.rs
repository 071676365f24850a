//! Remedy of a column, ready to paste: a rule of `--map`, or a statement for the target. A statement
//! meets tables that may hold rows, so it converts them or is refused.

use notation::thousands;

use super::evidence::{ColumnEvidence, TargetColumn};
use crate::display::flag;
use crate::mapping::{declared_name, fallback};
use crate::source::quoted;
use crate::value::{PostgresType, Profile, StorageClass, TextKind, Unfit, ValueReading};

/// PostgreSQL's limit.
const LONGEST_VARCHAR: u32 = 10_485_760;

impl ColumnEvidence<'_> {
    /// The rule under which every value of the column can be moved unchanged. `None` for values of
    /// several kinds, since a few bad ones do not justify giving up the type.
    pub fn remedy_rule(&self, unfit: Unfit) -> Option<String> {
        let Profile { texts, integers, reals, blobs, .. } = *self.profile;
        if self.is_about_blobs(unfit)
            && let Some(rule) = self.decoded()
        {
            return Some(rule);
        }
        let unreadable = match unfit {
            Unfit::Unreadable(StorageClass::Text) => self.zoned_rule(),
            Unfit::Unreadable(_) => self.epoch_rule().map(|(_, rule)| rule),
            _ => None,
        };
        if unreadable.is_some() {
            return unreadable;
        }
        let kinds = [texts, integers + reals, blobs];
        let of_one_kind = kinds.iter().filter(|count| **count > 0).count() <= 1;
        let is_about_values = !matches!(
            unfit,
            Unfit::Null | Unfit::TooLarge | Unfit::InvalidUtf8 | Unfit::NulCharacter
        );
        let applies = of_one_kind && is_about_values && self.target.is_none();
        applies.then(|| self.better(unfit)).flatten().map(|better| self.rule(&better))
    }

    /// The remedy of a blocker in words.
    pub fn fix(&self, unfit: Unfit) -> String {
        if self.is_about_blobs(unfit)
            && let Some(rule) = self.decoded()
        {
            return format!("every blob is a text in UTF-8: {}", flag("--map", &rule));
        }
        let better = self.better(unfit);
        match (unfit, better) {
            (Unfit::Null, _) => match &self.target {
                // A key's column cannot take NULL.
                Some(target) if !self.table.primary_key.contains(&self.position) => {
                    let own = &self.field.postgres_type;
                    format!("give them values, or {}", self.alter(target, own, "DROP NOT NULL"))
                }
                _ => "give them values".to_owned(),
            },
            (Unfit::TooLarge, _) => "store such values outside the database".to_owned(),
            (Unfit::Unreadable(StorageClass::Integer | StorageClass::Real), better)
                if let Some(wanted) = self.type_of_epochs() =>
            {
                self.fix_of_moments(&wanted, better)
            }
            (Unfit::Unreadable(StorageClass::Text), Some(better))
                if let Some(rule) = self.zoned_rule() =>
            {
                let all = flag("--map", &rule);
                let zoned = self.profile.looks.zoned_timestamps;
                let mixed = match zoned == self.profile.texts {
                    true => "",
                    false => ", which reads the others as UTC",
                };
                format!("{all} for all such columns{mixed}; for this one {}", self.retype(&better))
            }
            (Unfit::Unreadable(_), _) if let Some(reading) = self.duration_reading() => {
                let rule = format!("{}.{} using {reading}", self.table.name, self.column().name);
                format!("if they are durations of that kind: {}", flag("--map", &rule))
            }
            (Unfit::TooLong { .. }, Some(better)) if better.is_text() => {
                format!("widen the column: {}", self.retype(&better))
            }
            (Unfit::InvalidUtf8 | Unfit::NulCharacter, Some(better)) => {
                format!("repair them, or keep the bytes: {}", self.retype(&better))
            }
            (Unfit::NotFinite, None) if self.profile.texts > 0 => {
                "repair them: the texts that they were are lost".to_owned()
            }
            (Unfit::NotFinite, None) if self.profile.blobs == 0 => {
                "repair them: double precision would round the integers beside them".to_owned()
            }
            (Unfit::InvalidUtf8 | Unfit::NulCharacter | Unfit::NotFinite, None) => {
                "repair them".to_owned()
            }
            (_, Some(better)) => {
                let mut fix = self.zones_beside_others(unfit) + &self.retype(&better);
                if better == PostgresType::Uuid && self.target.is_none() {
                    fix.push_str(" (or varchar(36))");
                }
                if self.profile.blobs > 0 && self.profile.texts > 0 {
                    fix.push_str(", or make the values one storage class");
                }
                fix
            }
            (_, None) => self.one_class(),
        }
    }

    /// The remedy of numbers in a column of moments.
    fn fix_of_moments(&self, wanted: &PostgresType, better: Option<PostgresType>) -> String {
        if let Some((unit, rule)) = self.epoch_rule() {
            return format!("probably {unit}: {}", flag("--map", &rule));
        }
        let kept = better.map(|better| self.retype(&better));
        match (self.mixed_units(wanted), kept) {
            (Some((units, fix)), Some(kept)) if self.target.is_none() => format!(
                "probably moments in several units ({units}): {fix}; to keep the numbers: {kept}"
            ),
            (Some((units, fix)), _) => {
                format!("probably moments in several units ({units}): {fix}")
            }
            (None, kept) => kept.unwrap_or_else(|| self.one_class()),
        }
    }

    /// The type that takes numbers of moments, if the column is of moments.
    fn type_of_epochs(&self) -> Option<PostgresType> {
        let own = &self.field.postgres_type;
        let is_free = self.target.is_none() && !self.candidate.is_rule;
        match own {
            _ if !own.is_moment() => None,
            _ if is_free => Some(PostgresType::TimestampTz(6)),
            PostgresType::Date => None,
            own => Some(own.clone()),
        }
    }

    /// The unit of the column's numbers in words, and the rule that reads them as moments.
    fn epoch_rule(&self) -> Option<(String, String)> {
        let ((reading, count), wanted) = (self.epoch()?, self.type_of_epochs()?);
        let numbers = self.profile.integers + self.profile.reals;
        let some = match count == numbers {
            true => String::new(),
            false => format!(" ({} of {} numbers)", thousands(count), thousands(numbers)),
        };
        let rule = format!("{} using {}", self.rule(&wanted), reading.name());
        Some((format!("{}{some}", reading.unit()), rule))
    }

    /// The rule for all columns of the same declared type, if this one holds times alone and some
    /// have a zone: the columns of one application stay alike.
    fn zoned_rule(&self) -> Option<String> {
        let is_free = self.target.is_none() && !self.candidate.is_rule;
        let is_zoned = self.profile.only_moments() && self.profile.looks.zoned_timestamps > 0;
        let is_own = matches!(self.field.postgres_type, PostgresType::Timestamp(_));
        let wanted = PostgresType::TimestampTz(6);
        let declared = declared_name(&self.column().declared_type).to_lowercase();
        (is_free && is_zoned && is_own).then(|| format!("type:{declared}={wanted}"))
    }

    /// Words on moments with a zone among texts in another form: two faults in one column.
    fn zones_beside_others(&self, unfit: Unfit) -> String {
        let zoned = self.profile.looks.zoned_timestamps;
        let is_own = matches!(self.field.postgres_type, PostgresType::Timestamp(_));
        if unfit != Unfit::Unreadable(StorageClass::Text) || !is_own || zoned == 0 {
            return String::new();
        }
        let rule = flag("--map", &self.rule(&PostgresType::TimestampTz(6)));
        format!(
            "values with a zone ({}) are read by {rule}, if texts in another form get one of these or NULL \
             before; to keep all as text: ",
            thousands(zoned)
        )
    }

    /// Remedy where no type holds all values, such as texts beside reals: bytes hold them. SQLite
    /// itself writes reals with 15 digits, which are too few, and a column of numbers would turn
    /// texts back into numbers.
    fn one_class(&self) -> String {
        let (table, column) = (quoted(&self.table.name), quoted(&self.column().name));
        let is_bytea = self.target.is_some() && self.field.postgres_type == PostgresType::Bytea;
        let rule = match self.profile.blobs {
            0 if self.target.is_none() && self.profile.fits_text() => {
                let text = self.rule(&PostgresType::Text);
                flag("--map", &format!("{text} using {}", ValueReading::Utf8.name()))
            }
            _ => self.retype(&PostgresType::Bytea),
        };
        let then = if is_bytea { String::new() } else { format!("; then {rule}") };
        format!(
            "no type of PostgreSQL holds them all: make the values one storage class in a copy of \
             the source, for example UPDATE {table} SET {column} = CAST(CASE typeof({column}) \
             WHEN 'real' THEN printf('%!.17g', {column}) ELSE {column} END AS BLOB) \
             WHERE typeof({column}) <> 'blob'{then}"
        )
    }

    /// The value is refused for being a blob, or for its length, which the decoding rule widens.
    fn is_about_blobs(&self, unfit: Unfit) -> bool {
        matches!(unfit, Unfit::StorageClass(StorageClass::Blob) | Unfit::TooLong { .. })
    }

    /// The rule that decodes the column's blobs, if all of them are texts and it leaves no other
    /// blocker.
    pub fn decoded(&self) -> Option<String> {
        let Profile { blobs, utf8_blobs, longest_text_characters, .. } = *self.profile;
        let mut unfits = self.profile.unfits.keys();
        let only_blobs = unfits.all(|each| self.is_about_blobs(*each) || *each == Unfit::Null);
        let unrepaired = !only_blobs || !self.profile.text_unfits.is_empty();
        if blobs == 0 || utf8_blobs != blobs || unrepaired {
            return None;
        }
        let decoded = match &self.field.postgres_type {
            PostgresType::Varchar(Some(limit)) if longest_text_characters > *limit as usize => {
                self.target.is_none().then(|| self.wider().unwrap_or(PostgresType::Text))?
            }
            own if self.target.is_none() && !own.takes_texts() => PostgresType::Text,
            own if own.takes_texts() => own.clone(),
            _ => return None,
        };
        Some(format!("{} using {}", self.rule(&decoded), ValueReading::Utf8.name()))
    }

    /// The varchar that holds every text of the column.
    fn wider(&self) -> Option<PostgresType> {
        let longest = self.profile.longest_text_characters.next_power_of_two();
        let limit = u32::try_from(longest).ok().filter(|limit| *limit <= LONGEST_VARCHAR);
        limit.map(|limit| PostgresType::Varchar(Some(limit)))
    }

    fn rule(&self, postgres_type: &PostgresType) -> String {
        format!("{}.{}={postgres_type}", self.table.name, self.column().name)
    }

    /// The narrowest type that is sure to hold every value of the column.
    fn better(&self, unfit: Unfit) -> Option<PostgresType> {
        // The texts are JSON then, their lengths not those of the elements.
        if matches!(self.field.postgres_type, PostgresType::Array { .. }) {
            return None;
        }
        let form = self.profile.form().filter(|_| self.profile.only_texts());
        let of_form = form.map(TextKind::postgres_type).filter(|better| {
            let plain = [PostgresType::Jsonb, PostgresType::Boolean, PostgresType::BigInt];
            !plain.contains(better) && !self.form_collides
        });
        let first = match unfit {
            Unfit::TooLong { .. } => self.wider(),
            Unfit::InvalidUtf8 | Unfit::NulCharacter => Some(PostgresType::Bytea),
            Unfit::NotFinite => Some(PostgresType::DoublePrecision),
            Unfit::Unreadable(StorageClass::Text)
                if self.field.postgres_type.is_moment() && self.profile.only_moments() =>
            {
                Some(match self.profile.looks.zoned_timestamps {
                    0 => PostgresType::Timestamp(6),
                    _ => PostgresType::TimestampTz(6),
                })
            }
            _ => of_form,
        };
        let is_limited = matches!(self.field.postgres_type, PostgresType::Numeric(Some(_)));
        let numeric = is_limited.then_some(PostgresType::Numeric(None));
        let widest = [fallback(self.profile), PostgresType::Text, PostgresType::Bytea];
        let all = first.into_iter().chain(numeric).chain(widest);
        let mut better = all.filter(|better| *better != self.field.postgres_type);
        better.find(|better| self.profile.allows(better))
    }

    /// The remedy that gives the column another type.
    pub fn retype(&self, postgres_type: &PostgresType) -> String {
        match &self.target {
            None => flag("--map", &self.rule(postgres_type)),
            Some(target) => {
                let using = self.using(postgres_type, &target.name);
                let retyped = format!("TYPE {postgres_type}{using}");
                self.alter(target, postgres_type, &retyped)
            }
        }
    }

    /// USING clause that converts existing values to `wanted`. Converted through text, an unfit
    /// value is refused; moments without a zone are UTC, as SQLite has them.
    fn using(&self, wanted: &PostgresType, column: &str) -> String {
        match (&self.field.postgres_type, wanted) {
            (PostgresType::Bytea, wanted) if wanted.is_text() => {
                format!(" USING convert_from({column}, 'UTF8')")
            }
            (_, wanted) if wanted.is_text() => String::new(),
            // A cast of text would read its backslashes as escapes.
            (_, PostgresType::Bytea) => format!(" USING convert_to({column}::text, 'UTF8')"),
            (PostgresType::TimestampTz(_), PostgresType::Timestamp(_)) => {
                format!(" USING {column} AT TIME ZONE 'UTC'")
            }
            (PostgresType::Date | PostgresType::Timestamp(_), PostgresType::TimestampTz(_)) => {
                format!(" USING {column}::timestamp AT TIME ZONE 'UTC'")
            }
            _ => format!(" USING {column}::text::{wanted}"),
        }
    }

    /// The column becomes `wanted` by an action of ALTER COLUMN; one that the target computes becomes an
    /// ordinary one before, which can be written.
    fn alter(&self, target: &TargetColumn<'_>, wanted: &PostgresType, action: &str) -> String {
        let TargetColumn { table, name, generated } = target;
        let statement = match generated {
            None => format!("ALTER TABLE {table} ALTER COLUMN {name} {action}"),
            Some(generated) => generated.changed(table, name, wanted, action),
        };
        format!("in the target: {statement}")
    }
}
