//! Articles of feeds: RSS, Atom, and the export of WordPress (WXR), which is RSS with elements of its own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use jiff::fmt::rfc2822;
use roxmltree::{Document, Node};

use super::cell::checked_uuid;
use super::read::{ArticleRow, COLUMNS};
use crate::import::input::InputFile;
use crate::import::table::ColumnMapping;
use crate::import::{Error, quote};

const ATOM: &str = "http://www.w3.org/2005/Atom";
const DUBLIN_CORE: &str = "http://purl.org/dc/elements/1.1/";
/// WordPress's elements; the version follows.
const WORDPRESS: &str = "http://wordpress.org/export/";

/// The largest file that is held in memory as a tree.
const BYTES_MAX: u64 = 512 << 20;

/// Reads all articles of a feed or an export; drafts, pages and attachments of WordPress are left out.
pub(super) fn read(input: &InputFile, mapping: &ColumnMapping) -> Result<Vec<ArticleRow>, Error> {
    if let Some((name, column)) = mapping.first() {
        let problem = "a feed's elements have names of their own; leave it out".to_owned();
        let (name, column) = (name.clone(), column.clone());
        return Err(Error::Mapping { name, column, problem });
    }
    let path = input.name.as_path();
    let bytes = input.path().metadata().map_err(Error::io(path))?.len();
    if bytes > BYTES_MAX {
        let problem = format!(
            "it has {}, at most {} of XML are read; export fewer articles at a time",
            notation::bytes(bytes),
            notation::bytes(BYTES_MAX)
        );
        return Err(Error::file(path, problem));
    }
    let text = input.text()?;
    // A document type is refused: its entities may grow without bound.
    let document = Document::parse(text.trim_start()).map_err(|error| {
        let problem = format!("it is not readable XML: {}", quote::message(&error.to_string()));
        Error::file(path, problem)
    })?;
    let root = document.root_element();
    let feed = match root.tag_name().name() {
        "rss" => Feed { path, root: child(root, "channel").unwrap_or(root) },
        "feed" if root.tag_name().namespace() == Some(ATOM) => Feed { path, root },
        other => return Err(Error::file(path, unknown_root(other))),
    };
    match root.tag_name().name() {
        "rss" => feed.items(),
        _ => feed.entries(),
    }
}

fn unknown_root(name: &str) -> String {
    let what = match name {
        "urlset" | "sitemapindex" => {
            "it is a sitemap, which has neither titles nor days of publication".to_owned()
        }
        "RDF" => "it is RSS 1.0".to_owned(),
        "opml" => "it is a list of feeds (OPML)".to_owned(),
        other => format!("it is XML with the root {}", quote::name(other)),
    };
    format!("{what}; import the blog's feed (RSS 2.0 or Atom), WordPress's export, CSV or JSON")
}

struct Feed<'p, 'd> {
    path: &'p Path,
    root: Node<'d, 'd>,
}

impl Feed<'_, '_> {
    fn items(&self) -> Result<Vec<ArticleRow>, Error> {
        let language = child(self.root, "language").map(text);
        let authors = self.wordpress_authors();
        let items = self.root.children().filter(|node| node.has_tag_name("item"));
        let mut rows = Vec::new();
        for (number, item) in (1..).zip(items) {
            if wordpress(item, "post_type").is_some_and(|kind| kind != "post")
                || wordpress(item, "status").is_some_and(|status| status != "publish")
            {
                continue;
            }
            let published = child(item, "pubDate").map(text);
            let published = published.or_else(|| element(item, DUBLIN_CORE, "date").map(text));
            let creator = element(item, DUBLIN_CORE, "creator").map(text);
            let author = creator.map(|name| authors.get(&*name).cloned().unwrap_or(name));
            rows.push(self.row(
                number,
                FeedArticle {
                    url: child(item, "link").map(text),
                    title: child(item, "title").map(text),
                    published,
                    id: child(item, "guid").map(text),
                    slug: wordpress(item, "post_name"),
                    author,
                    language: language.clone(),
                },
            )?);
        }
        Ok(rows)
    }

    fn entries(&self) -> Result<Vec<ArticleRow>, Error> {
        let language = lang(self.root);
        let entries = self.root.children().filter(|node| node.has_tag_name((ATOM, "entry")));
        let mut rows = Vec::new();
        for (number, entry) in (1..).zip(entries) {
            let links = entry.children().filter(|node| node.has_tag_name((ATOM, "link")));
            let mut pages =
                links.filter(|link| matches!(link.attribute("rel"), None | Some("alternate")));
            let author = element(entry, ATOM, "author").or(element(self.root, ATOM, "author"));
            rows.push(
                self.row(
                    number,
                    FeedArticle {
                        url: pages.find_map(|link| link.attribute("href")).map(Cow::Borrowed),
                        title: element(entry, ATOM, "title").map(text),
                        published: element(entry, ATOM, "published")
                            .or(element(entry, ATOM, "updated"))
                            .map(text),
                        id: element(entry, ATOM, "id").map(text),
                        slug: None,
                        author: author.and_then(|author| element(author, ATOM, "name")).map(text),
                        language: lang(entry).or_else(|| language.clone()),
                    },
                )?,
            );
        }
        Ok(rows)
    }

    /// Shown names by logins.
    fn wordpress_authors(&self) -> HashMap<String, Cow<'_, str>> {
        let authors = self.root.children().filter(|node| is_wordpress(*node, "author"));
        authors
            .filter_map(|author| {
                let login = wordpress(author, "author_login")?.into_owned();
                let shown = wordpress(author, "author_display_name")?;
                (!shown.is_empty()).then_some((login, shown))
            })
            .collect()
    }

    fn row(&self, number: u64, article: FeedArticle<'_>) -> Result<ArticleRow, Error> {
        let place = format!("article {number}");
        let missing = |what: &str| Error::Row {
            path: self.path.to_owned(),
            place: place.clone(),
            problem: format!("it has no {what}"),
        };
        let url = filled(article.url).ok_or_else(|| missing("link"))?.into_owned();
        let published = filled(article.published).ok_or_else(|| missing("date"))?;
        let published = day(&published).map_err(|problem| Error::Row {
            path: self.path.to_owned(),
            place: place.clone(),
            problem,
        })?;
        // Services allow articles without a title; their URL says what they are.
        let title = filled(article.title).map_or_else(|| url.clone(), Cow::into_owned);
        let id = article.id.and_then(|id| checked_uuid(id.trim_start_matches("urn:uuid:")));
        let cells = [
            ("url", Some(url)),
            ("title", Some(title)),
            ("published", Some(published)),
            ("uuid", id),
            ("slug", filled(article.slug).map(Cow::into_owned)),
            ("author", filled(article.author).map(Cow::into_owned)),
            ("human_language", filled(article.language).map(Cow::into_owned)),
        ];
        let mut row = ArticleRow { place, cells: [const { None }; COLUMNS.len()] };
        for (name, value) in cells {
            let place = COLUMNS.iter().position(|column| column.name == name);
            if let Some(cell) = place.and_then(|place| row.cells.get_mut(place)) {
                *cell = value;
            }
        }
        Ok(row)
    }
}

/// An article as its feed describes it.
struct FeedArticle<'d> {
    url: Option<Cow<'d, str>>,
    title: Option<Cow<'d, str>>,
    published: Option<Cow<'d, str>>,
    id: Option<Cow<'d, str>>,
    slug: Option<Cow<'d, str>>,
    author: Option<Cow<'d, str>>,
    language: Option<Cow<'d, str>>,
}

/// The day of a moment as RSS writes it (`Tue, 03 Feb 2026 10:00:00 +0100`); other forms stay unchanged.
fn day(moment: &str) -> Result<String, String> {
    if moment.as_bytes().first().is_some_and(u8::is_ascii_digit) && moment.contains('-') {
        return Ok(moment.to_owned());
    }
    let parsed = rfc2822::parse(moment)
        .map_err(|_| format!("its date {} is none of RFC 2822 or ISO 8601", quote::name(moment)))?;
    Ok(parsed.date().to_string())
}

fn child<'d>(node: Node<'d, 'd>, name: &str) -> Option<Node<'d, 'd>> {
    node.children()
        .find(|node| node.tag_name().namespace().is_none() && node.tag_name().name() == name)
}

fn element<'d>(node: Node<'d, 'd>, namespace: &str, name: &str) -> Option<Node<'d, 'd>> {
    node.children().find(|node| {
        node.tag_name().namespace() == Some(namespace) && node.tag_name().name() == name
    })
}

fn is_wordpress(node: Node<'_, '_>, name: &str) -> bool {
    node.tag_name().namespace().is_some_and(|namespace| namespace.starts_with(WORDPRESS))
        && node.tag_name().name() == name
}

fn wordpress<'d>(node: Node<'d, 'd>, name: &str) -> Option<Cow<'d, str>> {
    node.children().find(|node| is_wordpress(*node, name)).map(text)
}

fn filled(value: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    value.filter(|value| !value.is_empty())
}

fn lang<'d>(node: Node<'d, 'd>) -> Option<Cow<'d, str>> {
    node.attribute((roxmltree::NS_XML_URI, "lang")).map(Cow::Borrowed)
}

/// The text of an element with that of elements in it, as of a title in XHTML.
fn text<'d>(node: Node<'d, 'd>) -> Cow<'d, str> {
    let mut texts = node.descendants().filter_map(|node| node.text().filter(|_| node.is_text()));
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only.trim()),
        (Some(first), Some(second)) => {
            let all: String = [first, second].into_iter().chain(texts).collect();
            Cow::Owned(all.trim().to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(xml: &str) -> Result<Vec<Vec<String>>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feed.xml");
        std::fs::write(&path, xml).unwrap();
        let names = ["url", "title", "published", "uuid", "slug", "author", "human_language"];
        let cell = |row: &ArticleRow, name: &str| {
            let place = COLUMNS.iter().position(|column| column.name == name).unwrap();
            row.cells[place].clone().unwrap_or_default()
        };
        read(&InputFile::open(&path).unwrap(), &[])
            .map(|rows| rows.iter().map(|row| names.map(|name| cell(row, name)).to_vec()).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn articles_of_rss_have_their_day_where_they_were_written() {
        let found = rows(
            "<?xml version=\"1.0\"?><rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\
             <channel><title>Blog</title><language>en</language>\
             <item><title>A &amp; B</title><link>https://example.com/a</link>\
             <pubDate>Tue, 03 Feb 2026 00:30:00 +0100</pubDate><dc:creator>Ann</dc:creator>\
             <guid isPermaLink=\"false\">0188A5EB-0000-7000-8000-000000000001</guid></item>\
             <item><link>https://example.com/b</link><pubDate>Wed, 4 Feb 2026 10:00:00 GMT</pubDate>\
             <guid>https://example.com/?p=2</guid></item></channel></rss>",
        );
        assert_eq!(
            found.unwrap(),
            [
                [
                    "https://example.com/a",
                    "A & B",
                    "2026-02-03",
                    "0188a5eb-0000-7000-8000-000000000001",
                    "",
                    "Ann",
                    "en"
                ],
                ["https://example.com/b", "https://example.com/b", "2026-02-04", "", "", "", "en"]
            ]
        );
    }

    #[test]
    fn articles_of_atom_are_read_by_their_alternate_link() {
        let found = rows(
            "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"de\"><author><name>Bo</name></author>\
             <entry><title type=\"xhtml\"><div xmlns=\"http://www.w3.org/1999/xhtml\">Ein <b>Text</b>\
             </div></title><link rel=\"self\" href=\"https://example.com/x.atom\"/>\
             <link href=\"https://example.com/x\"/><id>urn:uuid:0188a5eb-0000-7000-8000-000000000002</id>\
             <published>2026-02-03T10:00:00Z</published><updated>2026-03-01T00:00:00Z</updated></entry></feed>",
        );
        let id = "0188a5eb-0000-7000-8000-000000000002";
        let expected =
            ["https://example.com/x", "Ein Text", "2026-02-03T10:00:00Z", id, "", "Bo", "de"];
        assert_eq!(found.unwrap(), [expected]);
    }

    #[test]
    fn published_posts_of_wordpress_are_read() {
        let post = |kind: &str, status: &str, name: &str| {
            format!(
                "<item><title><![CDATA[{name} <3]]></title><link>https://example.com/{name}/</link>\
                 <pubDate>Tue, 03 Feb 2026 10:00:00 +0000</pubDate><dc:creator><![CDATA[ann]]></dc:creator>\
                 <wp:post_name>{name}</wp:post_name><wp:status>{status}</wp:status>\
                 <wp:post_type>{kind}</wp:post_type></item>"
            )
        };
        let found = rows(&format!(
            "<rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
             xmlns:wp=\"http://wordpress.org/export/1.2/\"><channel><wp:author>\
             <wp:author_login>ann</wp:author_login><wp:author_display_name>Ann Ö</wp:author_display_name>\
             </wp:author>{}{}{}{}</channel></rss>",
            post("post", "publish", "one"),
            post("post", "draft", "two"),
            post("attachment", "inherit", "three"),
            post("page", "publish", "four")
        ));
        let expected = ["https://example.com/one/", "one <3", "2026-02-03", "", "one", "Ann Ö", ""];
        assert_eq!(found.unwrap(), [expected]);
    }

    #[test]
    fn what_is_no_feed_is_named_with_what_to_do() {
        let item = "<rss><channel><item><link>https://example.com/a</link>";
        for (xml, part) in [
            ("<urlset><url/></urlset>", "a sitemap, which has neither titles"),
            ("<html><body/></html>", "XML with the root html; import the blog's feed"),
            ("<rss><channel><item/></channel></rss>", "article 1: it has no link"),
            (&format!("{item}<pubDate>soon</pubDate></item></channel></rss>"), "its date soon"),
            (&format!("{item}</item></channel>"), "it is not readable XML"),
            (
                "<!DOCTYPE r [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><rss>&b;</rss>",
                "it is not readable XML",
            ),
        ] {
            let error = rows(xml).unwrap_err();
            assert!(error.contains(part), "{xml}: {error}");
        }
    }
}
