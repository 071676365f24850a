//! Plans of an application's statements on a managed PostgreSQL, which the application itself
//! cannot be asked for: a second copy of it connects as a role of its own, whose sessions load
//! auto_explain, and the server's log tells the plans. Timed trials never see that role.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tokio_postgres::Client;

/// The role whose sessions are explained.
pub const ROLE: &str = "crossover_explain";

/// A plan is written when its statement ends, and that may be just after the answer: the log
/// counts as complete when it has not grown for this long.
const SETTLED_AFTER: Duration = Duration::from_millis(50);
/// A log that grows longer than this is not waited for.
const SETTLE_AT_MOST: Duration = Duration::from_secs(2);

/// Every statement, without the cost of timing it, and in the text form that people read.
const SETTINGS: [(&str, &str); 6] = [
    ("session_preload_libraries", "auto_explain"),
    ("auto_explain.log_min_duration", "0"),
    ("auto_explain.log_analyze", "off"),
    ("auto_explain.log_format", "text"),
    ("auto_explain.log_nested_statements", "off"),
    ("log_min_messages", "log"),
];

/// Makes the role if there is none yet, with the settings above and the password that applications
/// get.
pub async fn create_role(
    client: &Client,
    password: Option<&str>,
) -> Result<(), tokio_postgres::Error> {
    let found = client.query_opt("SELECT FROM pg_roles WHERE rolname = $1", &[&ROLE]).await?;
    let mut sql = match found {
        Some(_) => String::new(),
        None => format!("CREATE ROLE {ROLE} LOGIN SUPERUSER;"),
    };
    if let Some(password) = password {
        let literal = password.replace('\'', "''");
        sql.push_str(&format!("ALTER ROLE {ROLE} PASSWORD '{literal}';"));
    }
    for (name, value) in SETTINGS {
        sql.push_str(&format!("ALTER ROLE {ROLE} SET {name} = '{value}';"));
    }
    client.batch_execute(&sql).await
}

pub async fn drop_role(client: &Client) -> Result<(), tokio_postgres::Error> {
    client.batch_execute(&format!("DROP ROLE IF EXISTS {ROLE}")).await
}

/// The server's log from now on.
pub struct ServerLog {
    path: PathBuf,
    read_to: u64,
}

impl ServerLog {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), read_to: std::fs::metadata(path)?.len() })
    }

    /// The plans that were written since the last call, in their order.
    pub fn plans(&mut self) -> io::Result<Vec<String>> {
        let begin = Instant::now();
        let mut grown = Instant::now();
        let mut text = Vec::new();
        while grown.elapsed() < SETTLED_AFTER && begin.elapsed() < SETTLE_AT_MOST {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.read_to))?;
            let read = file.read_to_end(&mut text)? as u64;
            if read > 0 {
                self.read_to += read;
                grown = Instant::now();
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(plans_in(&String::from_utf8_lossy(&text)))
    }
}

/// An entry is `... LOG:  duration: 0.1 ms  plan:`, then lines that begin with a tabulator: the
/// statement, then its plan, whose first line is the first with a cost.
fn plans_in(log: &str) -> Vec<String> {
    let mut plans = Vec::new();
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        if !(line.contains("LOG:  duration: ") && line.ends_with(" plan:")) {
            continue;
        }
        let mut plan: Vec<&str> = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with('\t')) {
            let line = line.strip_prefix('\t').unwrap_or(line);
            if !plan.is_empty() || line.contains("  (cost=") {
                plan.push(line);
            }
        }
        if !plan.is_empty() {
            plans.push(plan.join("\n"));
        }
    }
    plans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_from_a_log_with_other_lines_in_it() {
        let log = "\
2026-01-01 00:00:00.000 UTC [7] LOG:  checkpoint starting: time
2026-01-01 00:00:00.000 UTC [8] LOG:  duration: 0.036 ms  plan:
\tQuery Text: SELECT a
\t\tFROM t
\tQuery Parameters: $1 = '7'
\tSort  (cost=0.00..1.01 rows=1 width=4)
\t  Sort Key: a
\t  ->  Seq Scan on t  (cost=0.00..1.01 rows=1 width=4)
2026-01-01 00:00:00.000 UTC [8] LOG:  duration: 0.1 ms  plan:
\tQuery Text: SELECT 1
\tResult  (cost=0.00..0.01 rows=1 width=4)
";
        let plans = plans_in(log);
        assert_eq!(plans.len(), 2);
        assert!(plans[0].starts_with("Sort  (cost"), "{plans:?}");
        assert!(plans[0].ends_with("->  Seq Scan on t  (cost=0.00..1.01 rows=1 width=4)"));
        assert_eq!(plans[1], "Result  (cost=0.00..0.01 rows=1 width=4)");
    }
}
