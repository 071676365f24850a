//! SQLite's plans for our statements, with and without ANALYZE: the facts of the period are read
//! once, by their key, and nothing is read before them. (The other way round, once for each
//! article of the blog, the year takes minutes.)

use dashboard::database::SqlDialect;
use dashboard::query::{Grouping, Query};
use dashboard::schema::Dimension;
use dashboard::statement::{Condition, Conditions, QueryStatement, answer};
use rusqlite::{Connection, params_from_iter};

use crate::database::sqlite;
use crate::rows::Rows;

fn plan(connection: &Connection, statement: &QueryStatement) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {}", statement.sql);
    let mut prepared = connection.prepare(&explain).unwrap();
    let rows = prepared.query_map(params_from_iter(&statement.values), |row| row.get("detail"));
    let steps: Vec<String> = rows.unwrap().map(Result::unwrap).collect();
    steps
        .into_iter()
        .filter(|step| step.starts_with("SEARCH") || step.starts_with("SCAN"))
        .collect()
}

#[tokio::test]
async fn the_facts_of_the_period_are_read_once_and_first() {
    let database = sqlite(&Rows::nasty());
    let connection = connect::sqlite::open_existing(database.file()).unwrap();
    let period = [("start", "2021-01-01"), ("end", "2021-12-31"), ("count", "articles")];
    let pairs = period.map(|(name, value)| (name.to_owned(), value.to_owned()));
    for analyze in ["", "ANALYZE"] {
        connection.execute_batch(analyze).unwrap();
        for grouping in Grouping::ALL.iter().copied() {
            let name = grouping.name();
            let query = Query::parse(grouping, &pairs).unwrap();
            for blog_id in [None, Some(1)] {
                let blogs = blog_id.map(|id| Condition {
                    dimension: Dimension::Blog,
                    exclude: false,
                    ids: vec![id],
                });
                let values = blogs.into_iter().collect();
                let conditions = Conditions { values, ..Conditions::default() };
                for statement in [
                    answer::rows(&query, query.period, &conditions, SqlDialect::Sqlite),
                    answer::all_articles(&query, query.period, &conditions, SqlDialect::Sqlite),
                ] {
                    let steps = plan(&connection, &statement);
                    let facts = "SEARCH traffic USING PRIMARY KEY (day>? AND day<?)";
                    assert_eq!(steps[0], facts, "{name} {blog_id:?} {analyze}: {steps:?}");
                    for step in &steps[1..] {
                        assert!(step.starts_with("SEARCH"), "{name} {blog_id:?}: {steps:?}");
                    }
                }
            }
        }
    }
}
