//! Days that an import of traffic replaces, in words.

use dashboard::import::ReplacedDay;

/// Days that are named one by one.
const NAMED: usize = 10;

/// What was there before, a line each.
pub fn lines(replaced: &[ReplacedDay]) -> Vec<String> {
    let mut changed: Vec<&ReplacedDay> =
        replaced.iter().filter(|it| before(it) != after(it)).collect();
    let unchanged = replaced.len() - changed.len();
    // Where not all are named, those that lose most are.
    let more = changed.len().saturating_sub(NAMED);
    changed.sort_by_key(|it| i128::from(it.pageviews_after) - i128::from(it.pageviews_before));
    let others = changed.split_off(changed.len() - more);
    changed.sort_by_key(|it| (it.day, &it.blog));
    let mut lines: Vec<String> = changed.into_iter().map(line).collect();
    if !others.is_empty() {
        let sum = |of: fn(&ReplacedDay) -> DayCounts| {
            others.iter().map(|it| of(it)).fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
        };
        lines.push(format!(
            "replaces {}: {}",
            notation::counted(more, "further day"),
            change(sum(before), sum(after))
        ));
    }
    if unchanged > 0 {
        let unchanged = notation::counted(unchanged, "day");
        lines.push(format!("replaces {unchanged} with as many page views as before"));
    }
    lines
}

/// All page views, and those of articles.
type DayCounts = (u64, u64);

fn before(day: &ReplacedDay) -> DayCounts {
    (day.pageviews_before, day.matched_pageviews_before)
}

fn after(day: &ReplacedDay) -> DayCounts {
    (day.pageviews_after, day.matched_pageviews_after)
}

fn line(day: &ReplacedDay) -> String {
    format!("replaces {} of {}: {}", day.day, day.blog, change(before(day), after(day)))
}

/// Page views before and now; those of articles beside them where some are of none.
fn change(before: DayCounts, after: DayCounts) -> String {
    let all_match = before.0 == before.1 && after.0 == after.1;
    let of_articles = |(_, matched): DayCounts| match all_match {
        true => String::new(),
        false => format!(" ({} of articles)", notation::thousands(matched)),
    };
    let ([was, is], [was_matched, is_matched]) =
        ([before, after].map(|it| notation::thousands(it.0)), [before, after].map(of_articles));
    format!("{was} page views before{was_matched}, {is} now{is_matched}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i32, before: u64, after: u64) -> ReplacedDay {
        let day = dashboard::query::Day::from_number(18_628 + number).unwrap();
        ReplacedDay {
            blog: "b".to_owned(),
            day,
            pageviews_before: before,
            pageviews_after: after,
            matched_pageviews_before: before,
            matched_pageviews_after: after,
        }
    }

    #[test]
    fn page_views_of_articles_are_said_where_they_are_not_all() {
        let lost = ReplacedDay { matched_pageviews_after: 0, ..day(0, 1_200, 1_200) };
        let said = "replaces 2021-01-01 of b: 1,200 page views before (1,200 of articles), 1,200 \
                    now (0 of articles)";
        assert_eq!(lines(&[lost]), [said]);
    }

    #[test]
    fn days_that_lose_most_are_named_and_all_are_counted() {
        assert_eq!(lines(&[]), Vec::<String>::new());
        let few = [day(1, 1_200, 800), day(0, 5, 6), day(2, 7, 7)];
        let expected = [
            "replaces 2021-01-01 of b: 5 page views before, 6 now",
            "replaces 2021-01-02 of b: 1,200 page views before, 800 now",
            "replaces 1 day with as many page views as before",
        ];
        assert_eq!(lines(&few), expected);
        let many: Vec<ReplacedDay> =
            (0..12).map(|number| day(number, 20, 20 + number as u64)).collect();
        let said = lines(&many);
        assert_eq!(said.len(), 12, "{said:?}");
        assert_eq!(said[10], "replaces 1 further day: 20 page views before, 31 now");
    }
}
