//! A small dataset of hard cases: names whose order depends on the collation, quotes, days before
//! 1970 and around the turn of years, equal sums, articles that span many days and countries.

use rusqlite::types::{ToSql, ToSqlOutput};

/// A value for either client.
#[derive(Debug, Clone)]
pub enum Value {
    Number(i32),
    Nothing(Option<i32>),
    Text(String),
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Number(value) => value.to_sql(),
            Self::Nothing(value) => value.to_sql(),
            Self::Text(value) => value.to_sql(),
        }
    }
}

impl Value {
    pub fn as_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync) {
        match self {
            Self::Number(value) => value,
            Self::Nothing(value) => value,
            Self::Text(value) => value,
        }
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

/// Rows of every table, in an order in which they can be inserted.
pub struct Rows(Vec<(&'static str, Vec<Value>)>);

/// In the order of an English collation these would stand otherwise than in that of their bytes.
pub const NAMES: [&str; 10] = [
    "zebra",
    "Zoë",
    "abel",
    "Ábel",
    "_x",
    "a b",
    "ab",
    "O'Neil; DROP TABLE traffic; --",
    "says \"hi\", twice",
    "crab 🦀",
];

/// Some articles' keys: originals and translations.
pub const UUIDS: [&str; 5] = [
    "B0000001-0000-4000-8000-000000000000",
    "c0000002-0000-4000-8000-000000000000",
    "a0000008-0000-4000-8000-000000000000",
    "c0000030-0000-4000-8000-000000000000",
    "D0000031-0000-4000-8000-000000000000",
];

pub const BLOGS: [&str; 3] = ["twilio", "SendGrid", "empty"];

/// First days of runs of twenty: around 1970, a leap day, the turns of two years.
const RUNS: [i32; 4] = [-10, 18_310, 18_620, 18_985];

impl Rows {
    /// The schema's tables without a row, but one blog.
    pub fn none() -> Self {
        Self(vec![("blogs", vec![1.into(), "twilio".into()])])
    }

    pub fn nasty() -> Self {
        let mut rows = Vec::new();
        for (id, blog) in (1..).zip(BLOGS) {
            rows.push(("blogs", vec![id.into(), blog.into()]));
        }
        for table in ["authors", "teams", "products", "languages", "human_languages"] {
            for (id, name) in (1..).zip(NAMES) {
                rows.push((table, vec![id.into(), name.into()]));
            }
        }
        for (id, (code, name)) in (1..).zip([
            ("US", "zebra"),
            ("us", "Zoë"),
            ("Us", "abel"),
            ("DE", "Ábel"),
            ("_X", "_x"),
        ]) {
            rows.push(("countries", vec![id.into(), code.into(), name.into()]));
        }
        let mut random = Random(7);
        for id in 1..=40 {
            rows.push(("articles", article(id, &mut random)));
        }
        for first in RUNS {
            for day in first..first + 20 {
                for article in 1..=40 {
                    for country in 1..=5 {
                        if random.below(6) == 0 {
                            let sums = [random.below(4), random.below(3), random.below(100)];
                            let [views, sessions, seconds] = sums;
                            let values = [day, article, country, views, sessions, seconds];
                            rows.push(("traffic", values.map(Value::from).to_vec()));
                        }
                    }
                }
            }
        }
        Self(rows)
    }

    /// One INSERT for each row; `mark` is the sign of a parameter.
    pub fn inserts(&self, mark: &str) -> impl Iterator<Item = (String, Vec<Value>)> {
        self.0.iter().map(move |(table, values)| {
            let marks: Vec<_> = (1..=values.len()).map(|place| format!("{mark}{place}")).collect();
            (format!("INSERT INTO {table} VALUES ({})", marks.join(", ")), values.clone())
        })
    }
}

/// Upper and lower case alternate in the keys, and titles repeat.
fn article(id: i32, random: &mut Random) -> Vec<Value> {
    let uuid =
        format!("{}{id:07}-0000-4000-8000-000000000000", ["a", "B", "c", "D"][id as usize % 4]);
    let mut name = || random.below(NAMES.len() as u32) + 1;
    vec![
        id.into(),
        uuid.as_str().into(),
        (1 + id % 2).into(),
        format!("slug-{id}").as_str().into(),
        format!("https://example.com/{id}").as_str().into(),
        NAMES[id as usize % NAMES.len()].into(),
        name().into(),
        name().into(),
        name().into(),
        name().into(),
        name().into(),
        // From 1969 on, a year and some days apart.
        (-200 + 371 * id).into(),
        Value::Nothing((id > 30).then_some(id - 30)),
    ]
}

/// A linear congruential generator (Knuth, MMIX): the same rows everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> i32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i32::try_from((self.0 >> 33) % u64::from(bound)).unwrap()
    }
}
