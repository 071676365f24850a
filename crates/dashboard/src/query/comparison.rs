//! Comparisons with an earlier period: its days, and the pairing of its rows.

use std::borrow::Cow;

use serde::Serialize;

use super::{Day, Grouping, GroupingKind, Period, QueryRefusal};

/// The earlier period that an answer shows beside the one asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PeriodComparison {
    /// As many days, right before.
    Previous,
    /// As many days, the fewest whole weeks earlier that do not meet them, so that weekdays match.
    PreviousWeekdays,
    /// 364 days earlier: 52 weeks, so that weekdays match.
    Year,
}

const DAYS_OF_52_WEEKS: i32 = 364;

impl PeriodComparison {
    pub fn earlier(self, period: Period) -> Result<Period, QueryRefusal> {
        let days = period.end().number() - period.start().number() + 1;
        let back = match self {
            Self::Previous => days,
            Self::PreviousWeekdays => (days + 6) / 7 * 7,
            Self::Year => DAYS_OF_52_WEEKS,
        };
        let day = |day: Day| {
            let number = day.number().checked_sub(back);
            number.and_then(Day::from_number).ok_or(QueryRefusal::NothingEarlier)
        };
        Period::new(day(period.start())?, day(period.end())?)
    }
}

/// The pairing of earlier and present rows: rows of time by their position
/// (the third month beside the third), all others by their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// The keys are the same.
    SameKey,
    /// The number of days in between; weeks too, by their Mondays.
    Days(i32),
    Months(i32),
    Years(i32),
}

impl Pairing {
    /// For rows of `grouping`.
    #[must_use]
    pub fn of(grouping: Grouping, present: Period, earlier: Period) -> Self {
        let (present, earlier) = (present.start(), earlier.start());
        match grouping.kind() {
            GroupingKind::Days => Self::Days(present.number() - earlier.number()),
            GroupingKind::Weeks => Self::Days(present.monday_number() - earlier.monday_number()),
            GroupingKind::Months => Self::Months(month_number(present) - month_number(earlier)),
            GroupingKind::Years => Self::Years(present.year() - earlier.year()),
            GroupingKind::ArticleYears | GroupingKind::Dimension(_) => Self::SameKey,
        }
    }

    /// The key of the present row that is beside the earlier row `key`.
    #[must_use]
    pub fn present(self, key: &str) -> Cow<'_, str> {
        let moved = match self {
            Self::SameKey => None,
            Self::Days(days) => key
                .parse()
                .ok()
                .and_then(|day: Day| Day::from_number(day.number() + days))
                .map(|day| day.to_string()),
            Self::Months(months) => key.split_once('-').and_then(|(year, month)| {
                let number = 12 * year.parse::<i32>().ok()? + month.parse::<i32>().ok()? - 1;
                let moved = number + months;
                Some(format!("{:04}-{:02}", moved.div_euclid(12), moved.rem_euclid(12) + 1))
            }),
            Self::Years(years) => {
                key.parse::<i32>().ok().map(|year| format!("{:04}", year + years))
            }
        };
        moved.map_or(Cow::Borrowed(key), Cow::Owned)
    }
}

/// Months since the year 0.
fn month_number(day: Day) -> i32 {
    12 * day.year() + day.month() - 1
}
