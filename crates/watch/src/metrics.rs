//! The summary as Prometheus reads it (text format 0.0.4), and the port that serves it.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::summary::LockSummary;

/// A client that sends nothing must not keep the others waiting.
const CLIENT_LIMIT: Duration = Duration::from_secs(2);

const REQUEST_BYTES: u64 = 16 << 10;

/// The newest metrics, served on a port until the program ends.
#[derive(Clone, Debug, Default)]
pub struct MetricsPage(Arc<Mutex<String>>);

impl MetricsPage {
    /// Listens from now on. Returns the page to be filled, and its address.
    pub fn serve(address: SocketAddr) -> io::Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind(address)?;
        let bound = listener.local_addr()?;
        let page = Self::default();
        let served = page.clone();
        std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            for client in listener.incoming().flatten() {
                // A client that goes away is served next time.
                let _ = served.answer(&client);
            }
        })?;
        Ok((page, bound))
    }

    pub fn set(&self, summary: &LockSummary) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = summary.to_metrics();
    }

    fn answer(&self, mut client: &TcpStream) -> io::Result<()> {
        client.set_read_timeout(Some(CLIENT_LIMIT))?;
        client.set_write_timeout(Some(CLIENT_LIMIT))?;
        // All of the request is read: what is left would end the connection before the answer is there.
        let lines = BufReader::new(client.take(REQUEST_BYTES)).lines();
        let lines: Vec<String> =
            lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let request = lines.first().map_or("", String::as_str);
        let is_ours = request.starts_with("GET /metrics ") || request.starts_with("GET / ");
        let (status, text) = match is_ours {
            true => ("200 OK", self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            false => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        };
        write!(
            client,
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{text}",
            text.len()
        )
    }
}

impl LockSummary {
    /// Metrics since the watch began.
    pub fn to_metrics(&self) -> String {
        let mut text = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, samples: &[(String, f64)]| {
            text += &format!(
                "# HELP crossover_watch_{name} {help}\n# TYPE crossover_watch_{name} {kind}\n"
            );
            for (labels, value) in samples {
                text += &format!("crossover_watch_{name}{labels} {value}\n");
            }
        };
        let plain = |value: f64| [(String::new(), value)];
        metric("seconds", "counter", "Time watched.", &plain(self.seconds));
        metric(
            "commits_total",
            "counter",
            "Commits by SQLite's counter.",
            &plain(self.commits as f64),
        );
        let held: Vec<(String, f64)> = self
            .writers
            .iter()
            .filter_map(|writer| {
                let pid = writer.pid.map_or("unknown".to_owned(), |pid| pid.to_string());
                let labels = format!("{{pid=\"{pid}\",command=\"{}\"}}", escaped(&writer.command));
                Some((labels, writer.share?.value))
            })
            .collect();
        let help = "Share of the time with the write lock, by process.";
        metric("write_lock_share", "gauge", help, &held);
        if let Some(hold) = self.mean_hold_ms {
            metric("hold_seconds_mean", "gauge", "Mean time of a hold.", &plain(hold.value / 1e3));
        }
        if let Some(log) = &self.log {
            metric("log_bytes", "gauge", "Size of the log.", &plain(log.last_bytes as f64));
            let resets = plain(f64::from(log.resets));
            metric("log_resets_total", "counter", "Times that the log began again.", &resets);
            let there = log.readers.iter().filter(|reader| reader.is_there);
            let oldest = there.map(|reader| reader.seconds_at_least).fold(0.0, f64::max);
            metric(
                "oldest_reader_seconds",
                "gauge",
                "Age of the oldest state read.",
                &plain(oldest),
            );
        }
        text
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}
