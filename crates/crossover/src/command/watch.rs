//! `crossover watch FILE`: who holds the locks of a SQLite file, from outside.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use watch::{LockSummary, LockWatch, MetricsPage, WatchOptions};

use super::report::terminal_width;
use crate::flag::sqlite_file;
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// Name the holders of a SQLite file's lock, with their times, and readers that keep its log from being reset.
///
/// Run it beside the application, which needs no change. The kernel is asked for the holders of the
/// bytes that SQLite locks; the file is never opened through SQLite. Ctrl-C ends it with the answer so
/// far. Other accounts' processes are named for root alone.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(value_parser = sqlite_file())]
    file: PathBuf,
    /// How long to watch
    #[arg(long, default_value = "60s", value_parser = notation::duration, env = "CROSSOVER_TIME")]
    time: Duration,
    /// Mean time between two looks; shorter ones cost more of the processor
    #[arg(long, default_value = "10ms", value_parser = notation::duration, env = "CROSSOVER_INTERVAL")]
    interval: Duration,
    /// A line each second, on standard output; with --output-format json an object each second
    #[arg(long, env = "CROSSOVER_LIVE")]
    live: bool,
    /// Serve Prometheus' metrics here, for example 127.0.0.1:9188
    #[arg(long, value_name = "ADDRESS", env = "CROSSOVER_LISTEN")]
    listen: Option<SocketAddr>,
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let Arguments { file, time, interval, live, listen } = arguments;
    if interval < &Duration::from_micros(500) || interval > &Duration::from_secs(1) {
        return Err(Usage("--interval: write 500us to 1s, such as 5ms".to_owned()).into());
    }
    if *time < Duration::from_secs(1) {
        return Err(Usage("--time: watch for at least 1s".to_owned()).into());
    }
    let watch = LockWatch::begin(file, WatchOptions { time: *time, interval: *interval })?;
    let page = listen.map(|address| {
        let (page, bound) = MetricsPage::serve(address)
            .with_context(|| format!("--listen {address}: cannot be listened on"))?;
        shared.announce(&format!("metrics on http://{bound}/metrics"));
        anyhow::Ok(page)
    });
    let page = page.transpose()?;
    let progress = shared.progress("watch");
    progress.set_length(time.as_secs());
    let mut failed = None;
    let summary = watch.run(shared.interrupted(), |summary| {
        progress.set_position(summary.seconds as u64);
        if let Some(page) = &page {
            page.set(summary);
        }
        if *live {
            failed = print(summary, shared, true).err();
        }
    });
    progress.finish_and_clear();
    if let Some(error) = failed {
        return Err(error);
    }
    print(&summary, shared, false)?;
    Ok(CommandOutcome::Done)
}

fn print(summary: &LockSummary, shared: &Shared, is_live: bool) -> anyhow::Result<()> {
    match shared.output_format {
        OutputFormat::Json if is_live => {
            shared.print(&format!("{}\n", serde_json::to_string(summary)?))
        }
        OutputFormat::Json => shared.print_json(summary),
        OutputFormat::Csv if is_live => Ok(()),
        OutputFormat::Csv => shared.print(&csv(summary)),
        OutputFormat::Text if is_live => shared.print(&format!("{}\n", summary.to_line())),
        OutputFormat::Text => shared.print(&summary.to_text(terminal_width())),
    }
}

/// A line for each process that was seen with a lock.
fn csv(summary: &LockSummary) -> String {
    let line = |lock: &'static str| {
        move |process: &watch::ProcessShare| {
            [
                process.pid.map_or(String::new(), |pid| pid.to_string()),
                process.command.clone(),
                lock.to_owned(),
                process.share.map_or(String::new(), |share| share.value.to_string()),
                process.longest_seen_ms.to_string(),
            ]
        }
    };
    let writers = summary.writers.iter().map(line("write"));
    let lines = writers.chain(summary.checkpointers.iter().map(line("checkpoint")));
    notation::csv_table(&["pid", "command", "lock", "share", "longest_seen_ms"], lines)
}
