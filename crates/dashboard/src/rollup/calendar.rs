//! Spans of the calendar that totals are kept for: days, months, years, by their first days.

use crate::query::{Day, Period};

/// The length of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grain {
    Day,
    Month,
    Year,
}

impl Grain {
    /// The span of this length that `day` lies in; none at the calendar's very ends.
    #[must_use]
    pub fn span(self, day: Day) -> Option<Period> {
        let months = match self {
            Self::Day => return Period::new(day, day).ok(),
            Self::Month => 1,
            Self::Year => 12,
        };
        let first_month = (day.month() - 1) / months * months + 1;
        let first = Day::first_of_month(day.year(), first_month)?;
        let next = first_month + months;
        let after = Day::first_of_month(day.year() + (next - 1) / 12, (next - 1) % 12 + 1)?;
        Period::new(first, Day::from_number(after.number() - 1)?).ok()
    }

    /// All spans of this length that touch `period`, in order.
    pub fn spans(self, period: Period) -> impl Iterator<Item = Period> {
        let first = self.span(period.start());
        std::iter::successors(first, move |span| {
            let next = Day::from_number(span.end().number() + 1)?;
            self.span(next)
        })
        .take_while(move |span| span.start() <= period.end())
    }

    /// The days from the first to the last whole span of this length inside `period`.
    #[must_use]
    pub fn whole(self, period: Period) -> Option<Period> {
        let begins = self.span(period.start())?;
        let first = if begins.start() == period.start() {
            period.start()
        } else {
            Day::from_number(begins.end().number() + 1)?
        };
        let ends = self.span(period.end())?;
        let last = if ends.end() == period.end() {
            period.end()
        } else {
            Day::from_number(ends.start().number() - 1)?
        };
        Period::new(first, last).ok()
    }
}

/// A period as the fewest spans of the given lengths, the longest in the middle: each part is a
/// run of whole spans of one length. `grains` go from long to short and end with days.
#[must_use]
pub fn parts(period: Period, grains: &[Grain]) -> Vec<(Grain, Period)> {
    let Some((&grain, finer)) = grains.split_first() else { return Vec::new() };
    let Some(whole) = grain.whole(period) else { return parts(period, finer) };
    let mut all = vec![(grain, whole)];
    let before = Day::from_number(whole.start().number() - 1);
    let after = Day::from_number(whole.end().number() + 1);
    let edges = [(Some(period.start()), before), (after, Some(period.end()))];
    for (start, end) in edges {
        let edge = start.zip(end).and_then(|(start, end)| Period::new(start, end).ok());
        all.extend(edge.into_iter().flat_map(|edge| parts(edge, finer)));
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Grain; 3] = [Grain::Year, Grain::Month, Grain::Day];

    fn period(start: &str, end: &str) -> Period {
        Period::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
    }

    fn shown(parts: &[(Grain, Period)]) -> String {
        let text = |(grain, part): &(Grain, Period)| {
            format!("{grain:?} {} to {}", part.start(), part.end())
        };
        parts.iter().map(text).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_period_is_years_then_months_then_days() {
        assert_eq!(
            shown(&parts(period("2020-05-07", "2022-03-18"), &ALL)),
            "Year 2021-01-01 to 2021-12-31; Month 2020-06-01 to 2020-12-31; \
             Day 2020-05-07 to 2020-05-31; Month 2022-01-01 to 2022-02-28; \
             Day 2022-03-01 to 2022-03-18"
        );
        assert_eq!(
            shown(&parts(period("2021-01-01", "2021-12-31"), &ALL)),
            "Year 2021-01-01 to 2021-12-31"
        );
        assert_eq!(
            shown(&parts(period("2021-01-30", "2021-02-02"), &ALL)),
            "Day 2021-01-30 to 2021-02-02"
        );
        assert_eq!(
            shown(&parts(period("2021-02-01", "2021-02-28"), &ALL)),
            "Month 2021-02-01 to 2021-02-28"
        );
    }

    proptest! {
        #![proptest_config(testing::cases(500))]

        #[test]
        fn parts_cover_every_day_once(start in -800_i32..30_000, length in 0_i32..3_000) {
            let day = |number| Day::from_number(number).unwrap();
            let period = Period::new(day(start), day(start + length)).unwrap();
            let mut days: Vec<i32> = Vec::new();
            for (grain, part) in parts(period, &ALL) {
                days.extend(part.start().number()..=part.end().number());
                prop_assert_eq!(grain.span(part.start()).unwrap().start(), part.start());
                prop_assert_eq!(grain.span(part.end()).unwrap().end(), part.end());
            }
            days.sort_unstable();
            prop_assert_eq!(days, (start..=start + length).collect::<Vec<_>>());
        }
    }
}
