//! What mends a column, ready to be pasted: a rule of `--map`, or a statement for the target. It is
//! pasted on tables that may hold rows, so that it converts what stands there or is refused.

use super::column::Judged;
use super::profile::Profile;
use crate::copy::{Misfit, StorageClass};
use crate::mapping::{PostgresType, fallback};

impl Judged<'_> {
    /// The rule under which every value of the column can be moved as what it is; none where its
    /// values are of several kinds, since a few bad ones are no reason to give up the type.
    pub fn cure(&self, misfit: Misfit) -> Option<String> {
        let Profile { texts, integers, reals, blobs, .. } = *self.profile;
        let of_one_kind = blobs == 0 && (texts == 0 || integers + reals == 0);
        let better = match misfit {
            Misfit::TooLong { .. } => self.wider(),
            Misfit::NotFinite if self.profile.integers_exact_in_double() => {
                PostgresType::DoublePrecision
            }
            Misfit::NotFinite
            | Misfit::Null
            | Misfit::TooLarge
            | Misfit::InvalidUtf8
            | Misfit::NulCharacter => return None,
            _ => self.better(),
        };
        (of_one_kind && self.target.is_none()).then(|| self.rule(&better))
    }

    /// The cure of a blocker in words.
    pub fn fix(&self, misfit: Misfit) -> String {
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
            Misfit::NotFinite if !self.profile.integers_exact_in_double() => {
                "repair them: double precision would round the integers beside them".to_owned()
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

    fn wider(&self) -> PostgresType {
        let longest = self.profile.longest_text_characters.next_power_of_two();
        PostgresType::Varchar(u32::try_from(longest).ok())
    }

    fn rule(&self, postgres_type: &PostgresType) -> String {
        format!("{}.{}={postgres_type}", self.table.name, self.column().name)
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
        } else if texts_only && looks.decimals > 0 && looks.integers + looks.decimals == *texts {
            PostgresType::Numeric(None)
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

    /// What gives the column another type.
    pub fn retype(&self, postgres_type: &PostgresType) -> String {
        match self.target {
            None => format!("--map '{}'", self.rule(postgres_type)),
            Some(_) => self.alter(&format!("TYPE {postgres_type}{}", self.using(postgres_type))),
        }
    }

    /// How values that stand in the target's column become `wanted`. By way of text the server
    /// refuses a value that is none; moments without a zone are UTC, as SQLite has them.
    fn using(&self, wanted: &PostgresType) -> String {
        let (_, column) = self.target.unwrap_or_default();
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

    fn alter(&self, action: &str) -> String {
        let (table, column) = self.target.unwrap_or_default();
        format!("in the target: ALTER TABLE {table} ALTER COLUMN {column} {action}")
    }
}
