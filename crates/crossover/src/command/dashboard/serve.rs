//! `crossover dashboard serve`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dashboard::http::{self, App};
use dashboard::key::Key;
use dashboard::statement::Design;
use dashboard::store::{Options, Store};
use tokio::signal::unix::{SignalKind, signal};

use super::database::DatabaseArgument;
use crate::command::secret;
use crate::shared::{Outcome, Shared, Usage};

/// Answer questions over HTTP until Ctrl-C; prints its address when it is ready.
///
/// One more key can be given by --key-file or CROSSOVER_KEY; it is kept in memory only.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArgument,
    /// Where to listen; port 0 takes a free one
    #[arg(
        long,
        value_name = "HOST:PORT",
        default_value = "127.0.0.1:8080",
        value_parser = host_and_port,
        env = "CROSSOVER_LISTEN"
    )]
    listen: String,
    /// Which tables answer: daily sums the facts of each day, rollup the totals that `dashboard
    /// rollup rebuild` made; they do not follow facts that change later
    #[arg(long, default_value = "daily", value_parser = design(), env = "CROSSOVER_DESIGN")]
    design: Design,
    /// Whether answers are kept for the same question
    #[arg(long, default_value = "off", value_parser = ["off"], env = "CROSSOVER_ANSWER_CACHE")]
    answer_cache: String,
    /// A file with one more valid key (- for standard input); else CROSSOVER_KEY
    #[arg(long, value_name = "FILE", env = "CROSSOVER_KEY_FILE")]
    key_file: Option<PathBuf>,
    /// A SQLite pragma or PostgreSQL session setting for the questions; repeatable
    #[arg(
        long = "set",
        value_name = "KEY=VALUE",
        value_parser = setting,
        env = "CROSSOVER_SET",
        value_delimiter = ';'
    )]
    settings: Vec<(String, String)>,
    /// How many questions are answered at the same time [default: 4 for each core, at least 8]
    #[arg(long, value_name = "N", env = "CROSSOVER_CONNECTIONS")]
    connections: Option<NonZeroUsize>,
}

fn design() -> impl TypedValueParser<Value = Design> {
    PossibleValuesParser::new(Design::ALL.map(|(name, _)| name)).try_map(|name| {
        let found = Design::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, design)| design).ok_or("no such design")
    })
}

fn host_and_port(text: &str) -> Result<String, &'static str> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(_)) => Ok(text.to_owned()),
        _ => Err("write HOST:PORT, for example 127.0.0.1:8080"),
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::Level::WARN.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(shared.color)
        .init();
    shared.runtime().block_on(serve(arguments, shared))?;
    Ok(Outcome::Done)
}

async fn serve(arguments: Arguments, shared: &Shared) -> anyhow::Result<()> {
    let database = arguments.database.resolve()?;
    let key = secret::key(arguments.key_file.as_deref())?;
    let key = key.as_deref().map(Key::given).transpose()?;
    let mut options = Options { design: arguments.design, ..Options::default() };
    for (name, value) in &arguments.settings {
        options.settings.set(name, value).map_err(|problem| Usage(format!("--set: {problem}")))?;
    }
    if let Some(connections) = arguments.connections {
        options.connections = connections.get();
    }
    let stop = stop_signal(shared)?;
    let store = Store::open(&database, &options).await?;
    let listener = http::listen(&arguments.listen).await?;
    let address = listener.local_addr().context("cannot read the address")?;
    if key.is_none() && store.key_hashes().await?.is_empty() {
        shared.say("no API key is valid yet: crossover dashboard key add NAME");
    }
    shared.say(&introduction(&store, &options, &arguments.answer_cache));
    let app = App::new(store, key.as_ref());
    // The address is the promise that requests are answered: connections queue from here on.
    shared.print(&format!("http://{address}\n"))?;
    http::serve(listener, app, stop).await?;
    Ok(())
}

fn introduction(store: &Store, options: &Options, answer_cache: &str) -> String {
    let settings = match options.settings.is_empty() {
        true => String::new(),
        false => format!(" [{}]", options.settings),
    };
    format!(
        "{}{settings}, design {}, answer cache {answer_cache}, {} questions at a time; Ctrl-C stops",
        store.engine(),
        store.design().name(),
        options.connections
    )
}

/// Ends at SIGINT or SIGTERM; the second signal ends the program at once (see `Shared`).
fn stop_signal(shared: &Shared) -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for signals")?;
    // One that came before these two lines was only noted.
    let stopped_already = shared.is_interrupted();
    Ok(async move {
        if !stopped_already {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
    })
}
