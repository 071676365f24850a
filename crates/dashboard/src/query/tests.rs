//! Refused and accepted parameters, with the messages and the form in which they are shown again.

use super::*;

fn parse(text: &str) -> Result<Query, QueryRefusal> {
    let pairs: Vec<_> = text
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Query::parse(Grouping::Authors, &pairs)
}

#[test]
fn refusals_name_the_parameter_and_the_way_out() {
    let period = "start=2021-01-01&end=2021-01-31";
    let long = "x".repeat(100_000);
    let cases = [
        String::new(),
        "end=2021-01-31".to_owned(),
        "start=2021-01-01".to_owned(),
        "start=2021-13-01&end=2021-01-31".to_owned(),
        "start=2021-02-29&end=2021-03-31".to_owned(),
        "start=2021-1-1&end=2021-01-31".to_owned(),
        "start=20210101&end=2021-01-31".to_owned(),
        "start=2021-01-01T00:00&end=2021-01-31".to_owned(),
        "start=0000-01-01&end=2021-01-31".to_owned(),
        "start=+021-01-01&end=2021-01-31".to_owned(),
        "start=２０２１-01&end=2021-01-31".to_owned(),
        "start=&end=".to_owned(),
        "start=2021-02-01&end=2021-01-31".to_owned(),
        format!("{period}&start=2021-01-02"),
        format!("{period}&blgo=twilio"),
        format!("{period}&Blog=twilio"),
        format!("{period}&'; DROP TABLE traffic; --=1"),
        format!("{period}&{long}=1"),
        format!("{period}&author=Ann\0"),
        format!("{period}&blog=a&blog=b"),
        format!("{period}&not_autor=Ann"),
        format!("{period}&published_from=2021"),
        format!("{period}&published_from=2021-02-01&published_to=2021-01-31"),
        format!("{period}&not_published_from=2021-02-01&not_published_to=2021-01-31"),
        format!("{period}&translations=group"),
        format!("{period}&split=team"),
        format!("{period}&compare=month"),
        "start=0001-02-01&end=0001-03-31&compare=previous".to_owned(),
        format!("{period}&count=authors"),
        format!("{period}&count=article"),
        format!("{period}&sort=pageview"),
        format!("{period}&sort=--key"),
        format!("{period}&sort="),
        format!("{period}&limit=-1"),
        format!("{period}&limit=+1"),
        format!("{period}&limit=ten"),
        format!("{period}&limit="),
        format!("{period}&limit=18446744073709551616"),
        format!("{period}&offset=1.5"),
        format!("{period}&not_day=2021-02-30"),
        format!("{period}&states=yes"),
        format!("{period}&states=1&format=csv"),
        format!("{period}&format=xml"),
        format!("{period}&format={long}"),
    ];
    let mut all = String::new();
    for case in &cases {
        let refusal = parse(case).unwrap_err();
        let case: String = case.chars().take(60).collect();
        all += &format!("{case}\n  [{}] {refusal}\n", clip(refusal.parameter()));
    }
    insta::assert_snapshot!(all);
}

fn clip(text: &str) -> String {
    text.chars().take(30).collect()
}

#[test]
fn a_query_is_shown_with_its_defaults() {
    let show = |text| serde_json::to_string(&parse(text).unwrap()).unwrap();
    insta::assert_snapshot!(
        show("end=2021-12-31&start=2021-01-01"),
        @r#"{"grouping":"authors","start":"2021-01-01","end":"2021-12-31","sort":"-pageviews"}"#
    );
    insta::assert_snapshot!(
        show("start=2021-01-01&end=2021-01-02&not_team=b&author=Z&not_team=a&author=A&author=Z&published_to=2020-01-01&translations=grouped&split=country&compare=year"),
        @r#"{"grouping":"authors","start":"2021-01-01","end":"2021-01-02","author":["Z","A"],"not_team":["b","a"],"published_to":"2020-01-01","translations":"grouped","split":"country","compare":"year","sort":"-pageviews"}"#
    );
    insta::assert_snapshot!(
        show("start=2021-01-01&end=2021-01-01&blog=a%22&count=articles&sort=key&limit=0&offset=5&format=csv"),
        @r#"{"grouping":"authors","start":"2021-01-01","end":"2021-01-01","blog":"a%22","count":"articles","sort":"key","limit":0,"offset":5}"#
    );
}

#[test]
fn left_out_days_leave_periods() {
    let query = parse(
        "start=2021-01-01&end=2021-01-05&not_day=2021-01-05&not_day=2021-01-03&not_day=2021-01-03\
         &not_day=2020-12-31&states=1&compare=previous_weekdays",
    )
    .unwrap();
    insta::assert_snapshot!(
        serde_json::to_string(&query).unwrap(),
        @r#"{"grouping":"authors","start":"2021-01-01","end":"2021-01-05","not_day":["2020-12-31","2021-01-03","2021-01-05"],"compare":"previous_weekdays","states":true,"sort":"-pageviews"}"#
    );
    let day = |text: &str| text.parse::<Day>().unwrap();
    let period = |start, end| Period::new(day(start), day(end)).unwrap();
    let left = [period("2021-01-01", "2021-01-02"), period("2021-01-04", "2021-01-04")];
    assert_eq!(query.period.without(&query.filters.not_days), left);
    assert_eq!(query.period.without(&[]), [query.period]);
    assert_eq!(left[1].without(&[day("2021-01-04")]), []);
}

#[test]
fn weekdays_stand_beside_their_own() {
    let day = |text: &str| text.parse::<Day>().unwrap();
    for (start, end, earlier) in [
        ("2021-01-04", "2021-01-04", ["2020-12-28", "2020-12-28"]),
        ("2021-01-04", "2021-01-10", ["2020-12-28", "2021-01-03"]),
        ("2021-01-01", "2021-01-30", ["2020-11-27", "2020-12-26"]),
    ] {
        let period = Period::new(day(start), day(end)).unwrap();
        let earlier = Period::new(day(earlier[0]), day(earlier[1])).unwrap();
        assert_eq!(PeriodComparison::PreviousWeekdays.earlier(period), Ok(earlier));
    }
}

#[test]
fn too_many_values_are_refused_and_so_are_countries_by_country() {
    let period = [("start", "2021-01-01"), ("end", "2021-01-31")];
    let pair = |(name, value): (&str, String)| (name.to_owned(), value);
    let period = period.map(|(name, value)| pair((name, value.to_owned())));
    let authors = |count: usize| {
        let authors = (0..count).map(|number| pair(("author", number.to_string())));
        Query::parse(Grouping::Teams, &period.iter().cloned().chain(authors).collect::<Vec<_>>())
    };
    assert_eq!(authors(10_000).unwrap().filters.values[0].keys.len(), 10_000);
    assert_eq!(authors(10_001), Err(QueryRefusal::TooManyValues { count: 10_001 }));
    let split: Vec<_> = period.iter().cloned().chain([pair(("split", "country".into()))]).collect();
    assert_eq!(Query::parse(Grouping::Countries, &split), Err(QueryRefusal::SplitTwice));
}

#[test]
fn earlier_rows_of_time_find_theirs_by_position() {
    let period =
        |start: &str, end: &str| Period::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
    let present = period("2021-03-01", "2021-04-30");
    let previous = PeriodComparison::Previous.earlier(present).unwrap();
    assert_eq!(previous, period("2020-12-30", "2021-02-28"));
    let year = PeriodComparison::Year.earlier(present).unwrap();
    assert_eq!(year, period("2020-03-02", "2020-05-01"));
    for (grouping, earlier, key, expected) in [
        (Grouping::Days, previous, "2020-12-30", "2021-03-01"),
        (Grouping::Days, year, "2020-03-02", "2021-03-01"),
        (Grouping::Weeks, year, "2020-03-09", "2021-03-08"),
        (Grouping::Weeks, previous, "2020-12-28", "2021-03-01"),
        (Grouping::Months, previous, "2021-01", "2021-04"),
        (Grouping::Months, year, "2020-04", "2021-04"),
        (Grouping::Years, year, "2020", "2021"),
        (Grouping::Teams, year, "2020", "2020"),
    ] {
        let pairing = Pairing::of(grouping, present, earlier);
        assert_eq!(pairing.present(key), expected, "{grouping:?} {key}");
    }
}

#[test]
fn days_are_counted_from_1970() {
    for (text, number) in [
        ("1970-01-01", 0),
        ("1969-12-31", -1),
        ("2021-01-01", 18_628),
        ("0001-01-01", -719_162),
        ("9999-12-31", 2_932_896),
    ] {
        let day: Day = text.parse().unwrap();
        assert_eq!(day.number(), number);
        assert_eq!(Day::from_number(number), Some(day));
        assert_eq!(day.to_string(), text);
    }
    assert_eq!(Day::from_number(-719_163), None);
    assert_eq!(Day::from_number(2_932_897), None);
    assert_eq!(Day::from_number(i32::MAX), None);
    assert_eq!(Day::from_number(i32::MIN), None);
}

proptest::proptest! {
    #![proptest_config(testing::cases(2000))]

    #[test]
    fn every_day_reads_back(number in -719_162..=2_932_896_i32) {
        let day = Day::from_number(number).unwrap();
        proptest::prop_assert_eq!(day.number(), number);
        proptest::prop_assert_eq!(day.to_string().parse::<Day>(), Ok(day));
    }

    #[test]
    fn no_text_makes_the_parser_panic(name in ".{0,12}", value in ".{0,40}") {
        let period = [("start", "2021-01-01"), ("end", "2021-01-31"), (&name, &value)];
        let pairs = period.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let _ = Query::parse(Grouping::Days, &pairs);
    }
}
