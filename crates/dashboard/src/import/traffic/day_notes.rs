//! Notes on the days of an import: those without a row between others, those that are not over, and
//! those with so few page views that their export may have been cut off; by blog where there are several.

use std::collections::{BTreeMap, BTreeSet};

use super::replaced::{LEAST_PAGEVIEWS, OwnerPageviews};
use crate::import::owner::{DayOwner, Owners};
use crate::query::Day;

/// Page views by day.
type DaySums = BTreeMap<i32, u64>;

/// Notes on the days of an import of the day `today`.
pub(super) fn day_notes(
    days: &BTreeMap<i32, OwnerPageviews>,
    owners: &Owners,
    today: Day,
) -> Vec<String> {
    let all = |of_day: &OwnerPageviews| of_day.values().map(|it| it.all).sum();
    let sums: DaySums = days.iter().map(|(day, it)| (*day, all(it))).collect();
    let blogs = blogs(days, owners);
    let missing = missing(&sums, &blogs);
    missing.into_iter().chain(unfinished(&sums, today)).chain(low(&sums, &blogs, today)).collect()
}

/// The blogs of an import of several, by name.
fn blogs(days: &BTreeMap<i32, OwnerPageviews>, owners: &Owners) -> BTreeMap<String, DaySums> {
    let mut blogs: BTreeMap<&DayOwner, DaySums> = BTreeMap::new();
    for (day, of_day) in days {
        for (owner, pageviews) in of_day.iter().filter(|it| matches!(it.0, DayOwner::Blog(_))) {
            blogs.entry(owner).or_default().insert(*day, pageviews.all);
        }
    }
    if blogs.len() < 2 {
        return BTreeMap::new();
    }
    blogs.into_iter().map(|(owner, sums)| (owners.name(owner), sums)).collect()
}

/// Days of the import's span without a row, then those of one blog alone.
fn missing(all: &DaySums, blogs: &BTreeMap<String, DaySums>) -> Vec<String> {
    let (Some((first, _)), Some((last, _))) = (all.first_key_value(), all.last_key_value()) else {
        return Vec::new();
    };
    let note = |of: &str, missing: &[i32]| {
        format!(
            "{of}{} of {} days from {} to {} {} no rows: {}; unless an earlier import had them, \
             import them too",
            missing.len(),
            last - first + 1,
            name(*first),
            name(*last),
            if missing.len() == 1 { "has" } else { "have" },
            list(missing)
        )
    };
    let missing: Vec<i32> = (*first..=*last).filter(|day| !all.contains_key(day)).collect();
    let of_all = (!missing.is_empty()).then(|| note("", &missing));
    let of_blogs = blogs.iter().filter_map(|(blog, sums)| {
        let missing: Vec<i32> = all.keys().copied().filter(|it| !sums.contains_key(it)).collect();
        (!missing.is_empty()).then(|| note(&format!("{blog}: "), &missing))
    });
    of_all.into_iter().chain(a_few(of_blogs.collect(), "days without rows")).collect()
}

fn unfinished(pageviews: &DaySums, today: Day) -> Option<String> {
    let days: Vec<i32> = pageviews.range(today.number()..).map(|(day, _)| *day).collect();
    (!days.is_empty()).then(|| {
        format!("not over: {}; stored as partial, so import again when it is over", list(&days))
    })
}

/// As far away are days that a day is compared with: four weeks before and after.
const NEAR_DAYS: i32 = 28;
/// A median of fewer days says little.
const LEAST_DAYS: usize = 3;

/// Low days of each blog, then those of the whole import of which no blog is named.
fn low(all: &DaySums, blogs: &BTreeMap<String, DaySums>, today: Day) -> Vec<String> {
    let note = |of: &str, low: &[i32]| {
        format!(
            "{of}less than half of the page views that are usual on the same weekday: {}; the \
             export may be cut off there",
            list(low)
        )
    };
    let (mut named, mut of_blogs) = (BTreeSet::new(), Vec::new());
    for (blog, sums) in blogs {
        let low = low_days(sums, today);
        if !low.is_empty() {
            of_blogs.push(note(&format!("{blog}: "), &low));
            named.extend(low);
        }
    }
    let low: Vec<i32> =
        low_days(all, today).into_iter().filter(|day| !named.contains(day)).collect();
    let of_all = (!low.is_empty()).then(|| note("", &low));
    of_all.into_iter().chain(a_few(of_blogs, "fewer page views than usual")).collect()
}

/// Days below half of the median of the same weekday around them.
fn low_days(pageviews: &DaySums, today: Day) -> Vec<i32> {
    let usual = |day: i32| {
        let near = pageviews.range(day - NEAR_DAYS..=day + NEAR_DAYS);
        let mut near: Vec<u64> = near
            .filter(|(other, _)| **other != day && (*other - day) % 7 == 0)
            .filter(|(other, _)| **other < today.number())
            .map(|(_, pageviews)| *pageviews)
            .collect();
        near.sort_unstable();
        let is_enough = near.len() >= LEAST_DAYS;
        near.get(near.len() / 2).copied().filter(|usual| is_enough && *usual >= LEAST_PAGEVIEWS)
    };
    let past = pageviews.range(..today.number());
    let low = past.filter(|(day, it)| usual(**day).is_some_and(|usual| 2 * **it < usual));
    low.map(|(day, _)| *day).collect()
}

/// Blogs that are named; the others are counted.
const NAMED_BLOGS: usize = 5;

/// The first of the blogs' notes; `what` is what further blogs have.
fn a_few(mut notes: Vec<String>, what: &str) -> Vec<String> {
    let others = notes.split_off(notes.len().min(NAMED_BLOGS)).len();
    if others > 0 {
        notes.push(format!("further blogs with {what}: {others}"));
    }
    notes
}

/// Days side by side that are named; the others are counted.
const NAMED_RUNS: usize = 5;

fn list(days: &[i32]) -> String {
    let mut runs: Vec<(i32, i32)> = Vec::new();
    for day in days {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *day => *end = *day,
            _ => runs.push((*day, *day)),
        }
    }
    let others = runs.split_off(runs.len().min(NAMED_RUNS));
    let text = |(start, end): &(i32, i32)| match start == end {
        true => name(*start),
        false => format!("{} to {}", name(*start), name(*end)),
    };
    let mut list = runs.iter().map(text).collect::<Vec<_>>().join(", ");
    match others.iter().map(|(start, end)| end - start + 1).sum() {
        0 => {}
        1 => list += " and 1 further day",
        more => list += &format!(" and {more} further days"),
    }
    list
}

fn name(day: i32) -> String {
    Day::from_number(day).map_or_else(String::new, |day| day.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::replaced::DayPageviews;
    use super::*;

    const TODAY: Day = Day::constant(2024, 6, 1);

    fn notes(days: impl IntoIterator<Item = (i32, u64)>) -> Vec<String> {
        let of = |all| {
            let pageviews = DayPageviews { all, ..DayPageviews::default() };
            OwnerPageviews::from([(DayOwner::NO_HOST, pageviews)])
        };
        let days = days.into_iter().map(|(day, all)| (TODAY.number() + day, of(all)));
        day_notes(&days.collect(), &Owners::default(), TODAY)
    }

    #[test]
    fn days_without_a_row_are_named_a_few_of_many() {
        assert_eq!(notes((-9..0).map(|day| (day, 5))), Vec::<String>::new());
        let gaps = (-9..0).filter(|day| ![-7, -6, -3].contains(day)).map(|day| (day, 5));
        let said = "3 of 9 days from 2024-05-23 to 2024-05-31 have no rows: 2024-05-25 to \
                    2024-05-26, 2024-05-29; unless an earlier import had them, import them too";
        assert_eq!(notes(gaps), [said]);
        let many = notes((-20..=-2).step_by(2).map(|day| (day, 5))).concat();
        assert!(many.contains("2024-05-21 and 4 further days;"), "{many}");
    }

    #[test]
    fn a_day_that_is_not_over_is_named() {
        let said = "not over: 2024-06-01; stored as partial, so import again when it is over";
        assert_eq!(notes((-2..=0).map(|day| (day, 5))), [said]);
    }

    /// Weekends are compared with weekends, and today with no day.
    #[test]
    fn a_day_far_below_its_weekday_is_named() {
        let usual = |day: i32| if day.rem_euclid(7) < 2 { 300 } else { 1_000 };
        assert_eq!(notes((-60..0).map(|day| (day, usual(day)))), Vec::<String>::new());
        let cut =
            |low: u64| (-60..0).map(move |day| (day, if day == -30 { low } else { usual(day) }));
        assert_eq!(notes(cut(500)), Vec::<String>::new());
        let said = "less than half of the page views that are usual on the same weekday: \
                    2024-05-02; the export may be cut off there";
        assert_eq!(notes(cut(499)), [said]);
        // Of so few days nothing is usual.
        let few = [(-21, 1_000), (-14, 1_000), (-7, 10)];
        assert!(!notes(few).concat().contains("usual"), "{:?}", notes(few));
    }
}
