//! Days as the facts store them: a number counted from 1970-01-01, written as an ISO date.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::{SignedDuration, Zoned};
use serde::{Serialize, Serializer};

use super::QueryRefusal;
use crate::database;

const EPOCH: Date = jiff::civil::date(1970, 1, 1);

/// A day between 0001-01-01 and 9999-12-31: what both engines' date functions agree on, and what
/// ten characters can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

impl Day {
    /// The last day there is.
    pub const LAST: Self = Self::constant(9999, 12, 31);

    /// A day written down in the source, as a constant.
    pub(crate) const fn constant(year: i16, month: i8, day: i8) -> Self {
        Self(jiff::civil::date(year, month, day))
    }

    /// The date of a moment in its time zone.
    #[must_use]
    pub fn of(moment: &Zoned) -> Self {
        Self(moment.date())
    }

    /// The day `number` days after 1970-01-01, if it is in range.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        let since_epoch = SignedDuration::from_hours(24 * i64::from(number));
        EPOCH.checked_add(since_epoch).ok().and_then(Self::new)
    }

    /// A day as stored.
    pub(crate) fn stored(number: i32) -> Result<Self, database::Error> {
        Self::from_number(number).ok_or(database::Error::DayOutOfRange { day: number })
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn number(self) -> i32 {
        // In range by construction: fewer than four million days on either side.
        i32::try_from(self.0.duration_since(EPOCH).as_hours() / 24).unwrap_or_default()
    }

    /// The first day of a month of a year; months count from 1.
    pub(crate) fn first_of_month(year: i32, month: i32) -> Option<Self> {
        let (year, month) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?);
        Date::new(year, month, 1).ok().and_then(Self::new)
    }

    pub(crate) fn year(self) -> i32 {
        self.0.year().into()
    }

    /// From 1 to 12.
    pub(crate) fn month(self) -> i32 {
        self.0.month().into()
    }

    /// Days since 1970-01-01 of the Monday of its ISO week.
    pub(crate) fn monday_number(self) -> i32 {
        self.number() - i32::from(self.0.weekday().to_monday_zero_offset())
    }

    fn new(date: Date) -> Option<Self> {
        (date.year() >= 1).then_some(Self(date))
    }
}

impl FromStr for Day {
    type Err = ();

    /// Exactly `YYYY-MM-DD`; jiff alone would take times and other ISO forms as well.
    fn from_str(text: &str) -> Result<Self, ()> {
        let is_iso = text.len() == 10
            && text.bytes().enumerate().all(|(place, byte)| match place {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !is_iso {
            return Err(());
        }
        text.parse().ok().and_then(Self::new).ok_or(())
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A period, both ends inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Period {
    start: Day,
    end: Day,
}

impl Period {
    /// A period from `start` to `end`.
    pub fn new(start: Day, end: Day) -> Result<Self, QueryRefusal> {
        if end < start {
            return Err(QueryRefusal::EndBeforeStart { start, end });
        }
        Ok(Self { start, end })
    }

    #[must_use]
    pub fn start(self) -> Day {
        self.start
    }

    #[must_use]
    pub fn end(self) -> Day {
        self.end
    }

    /// The parts of it without these days, which are in their order.
    pub(crate) fn without(self, days: &[Day]) -> Vec<Self> {
        let (mut left, mut rest) = (Vec::new(), Some(self));
        for day in days {
            let Some(period) = rest.filter(|it| (it.start..=it.end).contains(day)) else {
                continue;
            };
            let before = Day::from_number(day.number() - 1).filter(|it| *it >= period.start);
            left.extend(before.map(|end| Self { start: period.start, end }));
            let after = Day::from_number(day.number() + 1).filter(|it| *it <= period.end);
            rest = after.map(|start| Self { start, end: period.end });
        }
        left.extend(rest);
        left
    }
}
