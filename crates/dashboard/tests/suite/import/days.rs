//! Notes on days of an import: by blog, where it has several.

use super::{ARTICLES, Files, articles, traffic};
use crate::database::both;
use crate::rows::Rows;

#[tokio::test(flavor = "multi_thread")]
async fn days_of_one_blog_alone_are_named() {
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let files = Files::new();
    // March without the 20th; the second blog is without the 5th and the last two days.
    let small = |day: &u32| if *day == 18 { 100 } else { 400 };
    let large = (1..=31).map(|day| (day, "example.com/blog/one", 9_000));
    let other = (1..=29).filter(|day| *day != 5).map(|day| (day, "example.org/three", small(&day)));
    let days = large.chain(other).filter(|(day, ..)| *day != 20);
    let row = |(day, url, pageviews): (u32, &str, u64)| {
        format!("2024-03-{day:02},https://{url},DE,{pageviews},1,1\n")
    };
    let file = files.write("t.csv", header.to_owned() + &days.map(row).collect::<String>());
    let of_one: String = (1..=3).map(|day| row((2 * day, "example.org/three", 9))).collect();
    let of_one = files.write("1.csv", header.to_owned() + &of_one);
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let span = "days from 2024-03-01 to 2024-03-31";
        let remedy = "unless an earlier import had them, import them too";
        let expected = [
            format!("1 of 31 {span} has no rows: 2024-03-20; {remedy}"),
            format!(
                "example.org: 3 of 31 {span} have no rows: 2024-03-05, 2024-03-30 to 2024-03-31; \
                 {remedy}"
            ),
            "example.org: less than half of the page views that are usual on the same weekday: \
             2024-03-18; the export may be cut off there"
                .to_owned(),
        ];
        assert_eq!(traffic(&database, &file).await.unwrap().notes, expected);
        // A file of one blog says nothing of the other.
        let notes = traffic(&database, &of_one).await.unwrap().notes;
        let said = "2 of 5 days from 2024-03-02 to 2024-03-06 have no rows: 2024-03-03, 2024-03-05";
        let [note] = &notes[..] else { panic!("{notes:?}") };
        assert!(note.starts_with(said), "{note}");
    }
}
