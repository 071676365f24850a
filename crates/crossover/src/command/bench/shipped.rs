//! Plans that ship with the program, and how a command fills them in.

use std::path::PathBuf;

use engine::EngineSpec;
use plan::{ConnectionUse, Data, Factor, Level, Plan, Scale, TrialSettings};

const ARTICLE: &str = include_str!("../../../../../experiments/article.toml");

/// The values that `bench dashboard` and `demo` put into the article's plan; absent ones stay.
#[derive(Default)]
pub struct PlanFilling {
    pub engines: Vec<EngineSpec>,
    /// The SQLite file with the dashboard's data.
    pub data: Option<PathBuf>,
    /// `week`, `120d`, ...
    pub periods: Vec<String>,
    /// First day of every period.
    pub start: Option<String>,
    pub clients: Vec<u16>,
    pub blog: Option<String>,
    pub count_articles: bool,
    /// One pass per client and a connection per request, as the article's script.
    pub article_mode: bool,
    /// Measure the levels named and no others.
    pub no_bisection: bool,
}

/// The article's plan with `filling`.
pub fn article(filling: &PlanFilling) -> anyhow::Result<Plan> {
    let mut plan = plan::read(ARTICLE, "experiments/article.toml")?;
    if !filling.engines.is_empty() {
        plan.engines.clone_from(&filling.engines);
    }
    if let Some(path) = &filling.data {
        plan.data = Data::File(std::path::absolute(path)?);
    }
    if let Some(start) = &filling.start {
        plan.constants.insert("start".to_owned(), start.clone());
    }
    let days = plan.factors.remove("days");
    let periods = match filling.periods.as_slice() {
        [] => ["week", "month", "quarter", "year"].map(str::to_owned).to_vec(),
        named => named.to_vec(),
    };
    let days = Factor {
        levels: periods.into_iter().map(Level::Text).collect(),
        labels: Vec::new(),
        swept: days.as_ref().and_then(|days| days.swept).or(Some(Scale::Log)),
        bisect: !filling.no_bisection && !filling.article_mode,
        alone: false,
    };
    plan.factors.insert("days".to_owned(), days);
    if !filling.clients.is_empty() {
        let levels = filling.clients.iter().map(|clients| Level::Number((*clients).into()));
        plan.factors.insert("clients".to_owned(), Factor::new(levels.collect()));
    }
    if filling.article_mode {
        plan.trial = TrialSettings::Passes { passes: 1 };
        plan.load.connection = ConnectionUse::PerRequest;
    }
    fill_query(&mut plan, filling);
    Ok(plan.resolved()?)
}

fn fill_query(plan: &mut Plan, filling: &PlanFilling) {
    let mut query = String::new();
    if let Some(blog) = &filling.blog {
        query = format!("&blog={}", percent_encoded(blog));
        plan.conditions.push_str(&format!("; blog {blog}"));
    } else {
        plan.conditions.push_str("; all blogs");
    }
    if filling.count_articles {
        query.push_str("&count=articles");
        plan.conditions.push_str("; with the number of distinct articles (count=articles)");
    }
    plan.constants.insert("query".to_owned(), query);
}

/// RFC 3986: everything but unreserved characters.
fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
