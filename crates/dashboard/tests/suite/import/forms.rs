//! Forms of files: packed ones, UTF-16, standard exports. Each comes in as the plain file would.

use std::io::Write as _;

use dashboard::query::Grouping;
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{
    ARTICLES, Files, TRAFFIC, articles, articles_with, sums, traffic, traffic_with, unmatched_urls,
};
use crate::database::{TestDatabase, both, sqlite};
use crate::rollup::verify;
use crate::rows::Rows;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn utf16(content: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{content}").encode_utf16().flat_map(bytes).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_packed_file_is_imported_as_the_plain_one() {
    let files = Files::new();
    let plain = sqlite(&Rows::none());
    articles(&plain, &files.write("a.csv", ARTICLES)).await.unwrap();
    traffic(&plain, &files.write("t.csv", TRAFFIC)).await.unwrap();
    let expected = sums(&plain, Grouping::Articles).await;
    let packed = [
        gzip(TRAFFIC.as_bytes()),
        archive(&[("__MACOSX/._t.csv", b"x"), ("export/t.csv", TRAFFIC.as_bytes())]),
        utf16(TRAFFIC, u16::to_le_bytes),
        gzip(&utf16(TRAFFIC, u16::to_be_bytes)),
    ];
    for content in packed {
        for database in both(&Rows::none()).await {
            articles(&database, &files.write("a.gz", gzip(ARTICLES.as_bytes()))).await.unwrap();
            traffic(&database, &files.write("t", &content)).await.unwrap();
            assert_eq!(sums(&database, Grouping::Articles).await, expected);
            assert_eq!(verify(&database).await.unwrap().differences, []);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_and_ambiguous_packed_files_change_nothing() {
    let files = Files::new();
    let database = sqlite(&Rows::none());
    articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
    let whole = gzip(TRAFFIC.as_bytes());
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x55;
    let mut half = utf16(TRAFFIC, u16::to_le_bytes);
    half.pop();
    let two = archive(&[("pages.csv", b"x"), ("countries.csv", b"y")]);
    for (content, expected) in [
        (whole[..whole.len() - 9].to_vec(), "it cannot be unpacked"),
        (flipped, "it cannot be unpacked"),
        (half, "half of a character"),
        (two, "a ZIP archive of 2 files (pages.csv, countries.csv); unpack it"),
        (archive(&[]), "an empty ZIP archive"),
    ] {
        let error = traffic(&database, &files.write("t", content)).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(sums(&database, Grouping::Days).await.is_empty());
    }
}

async fn contents(database: &TestDatabase) -> impl PartialEq + std::fmt::Debug {
    let (days, articles) =
        (sums(database, Grouping::Days).await, sums(database, Grouping::Articles).await);
    (days, articles, unmatched_urls(database).await)
}

/// The same figures as the import, and nothing changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_what_would_come_in() {
    let files = Files::new();
    for database in both(&Rows::none()).await {
        let file = files.write("a.csv", ARTICLES);
        articles(&database, &file).await.unwrap();
        traffic(&database, &files.write("t.csv", TRAFFIC)).await.unwrap();
        let before = contents(&database).await;
        let other = TRAFFIC.replace(",10,8,300", ",20,8,300");
        let other = files.write("other.csv", other);
        let dry = traffic_with(&database, &other, |wish| wish.dry_run = true).await.unwrap();
        assert_eq!(contents(&database).await, before);
        let mut done = traffic(&database, &other).await.unwrap();
        assert_eq!((dry.days, dry.facts, dry.pageviews), (done.days, done.facts, done.pageviews));
        assert_eq!((dry.replaced.len(), &dry.notes), (done.replaced.len(), &done.notes));
        done = traffic(&database, &other).await.unwrap();
        assert_eq!(done.unmatched_pageviews, dry.unmatched_pageviews);

        let before = contents(&database).await;
        let more =
            files.write("b.csv", "url,title,published\nhttps://example.com/gone,G,2019-01-01\n");
        let dry = articles_with(&database, &more, |wish| wish.dry_run = true).await.unwrap();
        assert_eq!((dry.added, dry.matched_pageviews), (1, 7));
        assert_eq!(contents(&database).await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn traffic_without_countries_is_of_none() {
    let files = Files::new();
    let without = "date,url,pageviews,sessions,engagement_seconds\n\
                   2021-01-01,https://example.com/blog/one,4,3,2\n";
    for database in both(&Rows::none()).await {
        articles(&database, &files.write("a.csv", ARTICLES)).await.unwrap();
        let imported = traffic(&database, &files.write("t.csv", without)).await.unwrap();
        assert!(imported.notes.iter().any(|note| note.contains("it has no countries")));
        assert_eq!(sums(&database, Grouping::Countries).await["ZZ"], [4, 3, 2]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wordpress_export_and_a_feed_of_the_same_blog_agree() {
    let files = Files::new();
    let item = |more: &str| {
        format!(
            "<rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
             xmlns:wp=\"http://wordpress.org/export/1.2/\"><channel><item><title>One</title>\
             <link>https://example.com/blog/one/</link><pubDate>Wed, 01 Jan 2020 09:00:00 +0000</pubDate>\
             <dc:creator>Ann</dc:creator>{more}</item></channel></rss>"
        )
    };
    let wordpress = item("<wp:post_type>post</wp:post_type><wp:status>publish</wp:status>");
    for database in both(&Rows::none()).await {
        let imported =
            articles(&database, &files.write("blog.xml", wordpress.clone())).await.unwrap();
        assert_eq!((imported.added, imported.changed, imported.unchanged), (1, 0, 0));
        traffic(&database, &files.write("t.csv", TRAFFIC)).await.unwrap();
        assert_eq!(sums(&database, Grouping::Authors).await["Ann"], [16, 13, 409]);
        let again = articles(&database, &files.write("feed.xml", item(""))).await.unwrap();
        assert_eq!((again.added, again.changed, again.unchanged), (0, 0, 1));
    }
}
