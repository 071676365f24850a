//! Names and URLs in several spellings: one author, one article.

use dashboard::query::Grouping;

use super::{Files, articles, sums, traffic, unmatched_urls};
use crate::database::both;
use crate::http::{application, get};
use crate::rollup::verify;
use crate::rows::Rows;

const VARIANTS: &str = "\
url,title,published,author,team
https://example.com/1,a,2021-01-01,Zoë García,Docs
https://example.com/2,b,2021-01-01,zoë garcía,docs
https://example.com/3,c,2021-01-01,Zoe\u{308} Garci\u{301}a,DOCS
https://example.com/4,d,2021-01-01,Zoë \u{a0}García,Docs
https://example.com/5,e,2021-01-01,Zoe Garcia,Docs
";

/// A row of one page view for each article.
fn views() -> String {
    let rows = (1..6).map(|place| format!("2021-01-01,https://example.com/{place},DE,1,1,1\n"));
    "date,url,country,pageviews,sessions,engagement_seconds\n".to_owned()
        + &rows.collect::<String>()
}

#[tokio::test(flavor = "multi_thread")]
async fn spellings_of_an_author_are_one_and_the_search_finds_all() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", VARIANTS)).await.unwrap();
        traffic(&database, &files.write("t.csv", views())).await.unwrap();
        let by_author = sums(&database, Grouping::Authors).await;
        assert_eq!(by_author["Zoë García"], [4, 4, 4], "{by_author:?}");
        // Accents make another person.
        assert_eq!((by_author["Zoe Garcia"], by_author.len()), ([1, 1, 1], 2));
        assert_eq!(sums(&database, Grouping::Teams).await.len(), 1);
        let application = application(&database).await;
        for search in ["garcia", "ZOE%20GARCIA", "Garci%CC%81a", "zoe%C2%A0garc"] {
            let found = get(&application, &format!("/api/values/author?search={search}")).await;
            assert_eq!(found.json()["row_count"], 2, "{search}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn spellings_that_were_stored_are_joined_by_the_next_import() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", VARIANTS)).await.unwrap();
        traffic(&database, &files.write("t.csv", views())).await.unwrap();
        database
            .execute(
                "INSERT INTO authors (id, name) VALUES (8, 'ZOË GARCÍA');
                 INSERT INTO blogs (id, name) VALUES (8, 'Example.COM');
                 UPDATE articles SET author_id = 8, blog_id = 8 WHERE title IN ('a', 'b')",
            )
            .await;
        assert_eq!(sums(&database, Grouping::Authors).await.len(), 3);
        let one = "url,title,published\nhttps://example.com/5,e,2021-01-01\n";
        let imported = articles(&database, &files.write("b.csv", one)).await.unwrap();
        assert_eq!(imported.joined_names, 2);
        assert_eq!(sums(&database, Grouping::Authors).await["Zoë García"], [4, 4, 4]);
        assert_eq!(sums(&database, Grouping::Blogs).await.len(), 1);
        assert_eq!(verify(&database).await.unwrap().differences, []);
    }
}

const ARTICLE: &str = "url,title,published\nhttps://example.com/blog/café,Café,2021-01-01\n";

const FORMS: &str = "\
date,url,country,pageviews,sessions,engagement_seconds
2021-01-01,https://example.com/blog/café,DE,1,1,1
2021-01-01,https://example.com/blog/caf%C3%A9,FR,2,1,1
2021-01-01,https://example.com/blog/caf%25C3%25A9,US,4,1,1
2021-01-01,https://example.com/blog/cafe%CC%81,GB,8,1,1
2021-01-01,https://example.com/blog/Cafe\u{301},HU,16,1,1
";

#[tokio::test(flavor = "multi_thread")]
async fn a_url_is_matched_in_every_unicode_form_and_encoding() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLE)).await.unwrap();
        let imported = traffic(&database, &files.write("t.csv", FORMS)).await.unwrap();
        assert_eq!((imported.pageviews, imported.unmatched_urls), (31, 0));
    }
}

/// As earlier programs stored what they did not match.
#[tokio::test(flavor = "multi_thread")]
async fn unmatched_traffic_is_adopted_whatever_form_was_stored() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        database
            .execute(
                "INSERT INTO countries (id, code, name) VALUES (1, 'DE', 'Germany');
                 INSERT INTO unmatched_traffic VALUES
                   (18628, 'example.com/blog/cafe\u{301}', 1, 2, 1, 1),
                   (18628, 'example.com/blog/caf%25c3%25a9', 1, 4, 1, 1)",
            )
            .await;
        let imported = articles(&database, &files.write("a.csv", ARTICLE)).await.unwrap();
        assert_eq!((imported.matched_pageviews, imported.matched_days), (6, 1));
        assert_eq!(unmatched_urls(&database).await, []);
        assert_eq!(sums(&database, Grouping::Countries).await["DE"], [6, 2, 2]);
        assert_eq!(verify(&database).await.unwrap().differences, []);
    }
}
