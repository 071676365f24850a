//! Profile of a column's stored values: storage classes, ranges, lengths, forms of its texts, and
//! the values that a PostgreSQL type would refuse. Filled row by row in one pass.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use serde::Serialize;

use super::conversion::ConversionKind;
use super::json::is_jsonb;
use super::moment;
use super::number::{EXACT_IN_DOUBLE, is_decimal};
use super::postgres_type::{PostgresType, SECOND_DIGITS};
use super::reading::ValueReading;
use super::short_uuid::is_short_uuid;
use super::unfit::Unfit;
use crate::finding::RefusedValues;

/// Longer texts are not numbers that people write.
const LONGEST_NUMBER_BYTES: usize = 40;

/// Profile of the values of one column.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Profile {
    pub nulls: u64,
    pub integers: u64,
    pub reals: u64,
    pub texts: u64,
    pub blobs: u64,
    /// Blobs that are texts in UTF-8 without NUL; not counted where the type will be bytea
    pub utf8_blobs: u64,
    pub smallest_integer: Option<i64>,
    pub largest_integer: Option<i64>,
    /// Longest text in characters, blobs that are texts among them (bytes that are not UTF-8 count
    /// as one each)
    pub longest_text_characters: usize,
    pub longest_value_bytes: usize,
    /// Forms of the texts, and of numbers as moments
    pub looks: Looks,
    /// UUIDs with small letters, and UUIDs with capitals, have been seen
    #[serde(skip)]
    pub uuid_cases: (bool, bool),
    /// UUIDs of 32 digits
    #[serde(skip)]
    pub short_uuids: u64,
    #[serde(skip)]
    pub infinities: RefusedValues,
    /// Values that the column's type would refuse, by reason
    #[serde(skip)]
    pub unfits: BTreeMap<Unfit, RefusedValues>,
    /// Values that go through a stated conversion, by kind
    #[serde(skip)]
    pub conversions: BTreeMap<ConversionKind, RefusedValues>,
    /// Moments with more digits of a second than PostgreSQL keeps, which are none of the looks: without a
    /// zone, with one, with another offset than UTC
    #[serde(skip)]
    pub finer_moments: (u64, u64, u64),
    /// Values that even `text` would refuse; not kept where text was tried
    #[serde(skip)]
    pub text_unfits: BTreeMap<Unfit, RefusedValues>,
}

/// Counts of texts by form; numbers are counted where they can be moments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Looks {
    /// UUIDs of 36 characters, or of 32 digits with the version and variant of a UUID
    pub uuids: u64,
    /// Integers as SQLite would write them
    pub integers: u64,
    /// Other decimal numbers as people write them
    pub decimals: u64,
    pub dates: u64,
    /// ISO timestamps without a zone
    pub timestamps: u64,
    /// ISO timestamps with Z or an offset
    pub zoned_timestamps: u64,
    /// Zoned timestamps with another offset than UTC
    pub offsets: u64,
    pub json: u64,
    /// `true`, `false`, in any case
    pub booleans: u64,
    /// Numbers, also as texts, that are seconds since 1970 of the years 1973 to 2096
    pub epoch_seconds: u64,
    /// The same in milliseconds
    pub epoch_milliseconds: u64,
    /// The same in microseconds
    pub epoch_microseconds: u64,
    /// The same as Julian day numbers
    pub julian_days: u64,
}

/// A form that all texts of a column have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    Uuid,
    Date,
    /// Timestamps without a zone, dates among them
    Timestamp,
    ZonedTimestamp,
    Json,
    Boolean,
    Integer,
    /// Decimal numbers, integers among them
    Decimal,
}

impl TextKind {
    /// For people, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uuid => "UUIDs",
            Self::Date => "dates",
            Self::Timestamp => "timestamps",
            Self::ZonedTimestamp => "timestamps with a zone",
            Self::Json => "JSON",
            Self::Boolean => "true and false",
            Self::Integer => "integers",
            Self::Decimal => "decimal numbers",
        }
    }

    pub fn postgres_type(self) -> PostgresType {
        match self {
            Self::Uuid => PostgresType::Uuid,
            Self::Date => PostgresType::Date,
            Self::Timestamp => PostgresType::Timestamp(6),
            Self::ZonedTimestamp => PostgresType::TimestampTz(6),
            Self::Json => PostgresType::Jsonb,
            Self::Boolean => PostgresType::Boolean,
            Self::Integer => PostgresType::BigInt,
            Self::Decimal => PostgresType::Numeric(None),
        }
    }
}

impl Profile {
    #[inline]
    pub fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.nulls += 1,
            ValueRef::Integer(number) => {
                self.integers += 1;
                self.add_moment(number as f64);
                self.smallest_integer =
                    Some(self.smallest_integer.map_or(number, |least| least.min(number)));
                self.largest_integer =
                    Some(self.largest_integer.map_or(number, |most| most.max(number)));
            }
            ValueRef::Real(number) => {
                self.reals += 1;
                self.add_moment(number);
            }
            ValueRef::Text(bytes) => self.add_text(bytes),
            ValueRef::Blob(bytes) => {
                self.blobs += 1;
                self.longest_value_bytes = self.longest_value_bytes.max(bytes.len());
            }
        }
    }

    /// Counts a blob that is a text.
    pub fn look_into(&mut self, blob: &[u8]) {
        let Ok(text) = std::str::from_utf8(blob) else { return };
        if blob.contains(&0) {
            return;
        }
        self.utf8_blobs += 1;
        if blob.len() > self.longest_text_characters {
            self.longest_text_characters = self.longest_text_characters.max(text.chars().count());
        }
    }

    fn add_text(&mut self, bytes: &[u8]) {
        self.texts += 1;
        self.longest_value_bytes = self.longest_value_bytes.max(bytes.len());
        if bytes.len() > self.longest_text_characters {
            let characters = match std::str::from_utf8(bytes) {
                Ok(text) => text.chars().count(),
                Err(_) => bytes.len(),
            };
            self.longest_text_characters = self.longest_text_characters.max(characters);
        }
        let looks = &mut self.looks;
        match bytes {
            [b'{' | b'[', ..] => {
                looks.json += u64::from(std::str::from_utf8(bytes).is_ok_and(is_jsonb));
            }
            _ if (bytes.len() == 36 && bytes[8] == b'-') || is_short_uuid(bytes) => {
                looks.uuids += u64::from(super::encode::uuid(ValueRef::Text(bytes)).is_some());
                self.short_uuids += u64::from(bytes.len() == 32);
                self.uuid_cases.0 |= bytes.iter().any(u8::is_ascii_lowercase);
                self.uuid_cases.1 |= bytes.iter().any(u8::is_ascii_uppercase);
            }
            [b'-' | b'0'..=b'9', ..] => self.add_numeric_text(bytes),
            _ if bytes.len() <= 5 => {
                let word = |word: &[u8]| bytes.eq_ignore_ascii_case(word);
                looks.booleans += u64::from(word(b"true") || word(b"false"));
            }
            _ => {}
        }
    }

    fn add_numeric_text(&mut self, bytes: &[u8]) {
        let looks = &mut self.looks;
        if let Some(moment) = moment::parse(bytes) {
            match moment {
                moment::Moment { digits, zoned, .. } if digits > SECOND_DIGITS => {
                    let (without_zone, with_zone, offsets) = &mut self.finer_moments;
                    *without_zone += u64::from(!zoned);
                    *with_zone += u64::from(zoned);
                    *offsets += u64::from(zoned && moment::is_away_from_utc(bytes));
                }
                moment::Moment { zoned: true, .. } => {
                    looks.zoned_timestamps += 1;
                    looks.offsets += u64::from(moment::is_away_from_utc(bytes));
                }
                moment::Moment { timed: true, .. } => looks.timestamps += 1,
                _ => looks.dates += 1,
            }
            return;
        }
        if bytes.len() > LONGEST_NUMBER_BYTES {
            return;
        }
        let written = std::str::from_utf8(bytes).unwrap_or_default();
        if written.parse::<i64>().is_ok_and(|number| number.to_string() == written) {
            looks.integers += 1;
        } else if is_decimal(written) {
            looks.decimals += 1;
        } else {
            return;
        }
        if let Ok(number) = written.parse::<f64>() {
            self.add_moment(number);
        }
    }

    /// Counts a number that is a moment in one of the usual units.
    #[inline]
    fn add_moment(&mut self, number: f64) {
        let looks = &mut self.looks;
        match ValueReading::likely(number) {
            Some(ValueReading::EpochSeconds) => looks.epoch_seconds += 1,
            Some(ValueReading::EpochMilliseconds) => looks.epoch_milliseconds += 1,
            Some(ValueReading::EpochMicroseconds) => looks.epoch_microseconds += 1,
            Some(ValueReading::JulianDay) => looks.julian_days += 1,
            _ => {}
        }
    }

    /// The units of numbers that are probably moments, with their counts.
    pub fn likely_units(&self) -> Vec<(ValueReading, u64)> {
        let units = [
            (ValueReading::EpochSeconds, self.looks.epoch_seconds),
            (ValueReading::EpochMilliseconds, self.looks.epoch_milliseconds),
            (ValueReading::EpochMicroseconds, self.looks.epoch_microseconds),
            (ValueReading::JulianDay, self.looks.julian_days),
        ];
        units.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    /// The same if all values are such numbers, otherwise none.
    pub fn epochs(&self) -> Vec<(ValueReading, u64)> {
        let Self { integers, reals, texts, blobs, .. } = self;
        let mut units = self.likely_units();
        let numbers: u64 = units.iter().map(|(_, count)| count).sum();
        if texts + blobs > 0 || numbers != integers + reals {
            units.clear();
        }
        units
    }

    /// The unit of the numbers if at least half of them are probably moments in it, and none in another:
    /// 0 and moments before 1973 tell no unit. With their count.
    pub fn epoch(&self) -> Option<(ValueReading, u64)> {
        let numbers = self.integers + self.reals;
        match self.likely_units()[..] {
            [unit @ (_, count)] if numbers <= 2 * count && self.texts + self.blobs == 0 => {
                Some(unit)
            }
            _ => None,
        }
    }

    /// The form that every text of the column has.
    pub fn form(&self) -> Option<TextKind> {
        let Self { texts, looks, .. } = self;
        if *texts == 0 {
            return None;
        }
        let forms = [
            (looks.uuids, TextKind::Uuid),
            (looks.dates, TextKind::Date),
            (looks.dates + looks.timestamps, TextKind::Timestamp),
            (looks.zoned_timestamps, TextKind::ZonedTimestamp),
            (looks.json, TextKind::Json),
            (looks.booleans, TextKind::Boolean),
            (looks.integers, TextKind::Integer),
            (looks.integers + looks.decimals, TextKind::Decimal),
        ];
        forms.into_iter().find(|(count, _)| count == texts).map(|(_, form)| form)
    }

    pub fn rows(&self) -> u64 {
        self.nulls + self.integers + self.reals + self.texts + self.blobs
    }

    /// Characters of the longest value written as a text; `None` with reals, whose texts were not made.
    pub fn longest_as_text(&self) -> Option<usize> {
        let integers = [self.smallest_integer, self.largest_integer].into_iter().flatten();
        let of_integers = integers.map(|number| number.to_string().len()).max().unwrap_or(0);
        let longest = of_integers.max(self.longest_text_characters);
        (self.reals == 0).then_some(longest)
    }

    /// UUIDs that differ as texts may be equal: they are written in more than one way.
    pub fn mixes_uuids(&self) -> bool {
        let some_short = self.short_uuids > 0 && self.short_uuids < self.looks.uuids;
        self.uuid_cases == (true, true) || some_short
    }

    /// Every value that is not NULL is text.
    pub fn only_texts(&self) -> bool {
        self.integers + self.reals + self.blobs == 0
    }

    /// A 64-bit float holds every stored integer exactly.
    pub fn integers_exact_in_double(&self) -> bool {
        [self.smallest_integer, self.largest_integer]
            .into_iter()
            .flatten()
            .all(|number| number.unsigned_abs() <= EXACT_IN_DOUBLE)
    }

    /// Some value does not fit the type tried. NULLs do not count, since no other type would help.
    pub fn has_unreadable(&self) -> bool {
        self.unfits.keys().any(|unfit| *unfit != Unfit::Null)
    }

    pub fn fits_text(&self) -> bool {
        let of_text = [Unfit::InvalidUtf8, Unfit::NulCharacter, Unfit::NotFinite];
        let refused = of_text.iter().any(|unfit| self.unfits.contains_key(unfit));
        self.blobs == 0 && self.text_unfits.is_empty() && !refused
    }

    /// Every value is a text with a time or date, with or without a zone.
    pub fn only_moments(&self) -> bool {
        let looks = &self.looks;
        self.only_texts() && looks.dates + looks.timestamps + looks.zoned_timestamps == self.texts
    }

    /// Every value is a whole number, or a text that is exactly one.
    pub fn holds_integers(&self) -> bool {
        self.reals + self.blobs == 0 && self.looks.integers == self.texts
    }

    /// Every value surely fits `postgres_type`, by the counts alone.
    pub fn allows(&self, postgres_type: &PostgresType) -> bool {
        let Self { integers, reals, texts, blobs, looks, .. } = self;
        let within = |least: i64, most: i64| {
            self.smallest_integer.is_none_or(|number| number >= least)
                && self.largest_integer.is_none_or(|number| number <= most)
        };
        let numbers = reals + texts + blobs == 0;
        match postgres_type {
            PostgresType::SmallInt => numbers && within(i16::MIN.into(), i16::MAX.into()),
            PostgresType::Integer => numbers && within(i32::MIN.into(), i32::MAX.into()),
            PostgresType::BigInt => numbers,
            PostgresType::Numeric(None) => {
                *blobs == 0
                    && self.infinities.count == 0
                    && looks.integers + looks.decimals == *texts
            }
            PostgresType::Boolean => numbers && within(0, 1),
            PostgresType::DoublePrecision => texts + blobs == 0 && self.integers_exact_in_double(),
            PostgresType::Text => self.fits_text(),
            PostgresType::Varchar(Some(limit)) => {
                self.only_texts()
                    && self.fits_text()
                    && self.longest_text_characters <= *limit as usize
            }
            PostgresType::Uuid => self.only_texts() && looks.uuids == *texts,
            PostgresType::Date => self.only_texts() && looks.dates == *texts,
            PostgresType::Timestamp(6) => {
                self.only_texts() && looks.dates + looks.timestamps == *texts
            }
            PostgresType::TimestampTz(6) => self.only_moments(),
            PostgresType::Bytea => integers + reals == 0,
            _ => integers + reals + texts + blobs == 0,
        }
    }
}
