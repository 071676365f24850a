//! `crossover dashboard serve`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dashboard::account::AccessControl;
use dashboard::answer::AnswerDesign;
use dashboard::catalog::DataCatalog;
use dashboard::http::{self, App};
use dashboard::key::ApiKey;
use dashboard::store::{DashboardStore, Options};
use engine::DatabaseUrl;
use tokio::signal::unix::{SignalKind, signal};

use super::connections;
use super::database::DatabaseArgument;
use super::log::LogArguments;
use super::upgrade;
use crate::command::secret;
use crate::flag::{Limit, limit};
use crate::shared::{CommandOutcome, Shared, Usage};

/// Answers of this many bytes are kept.
const ANSWER_CACHE_BYTES: u64 = 64 * 1_024 * 1_024;

/// Serve the dashboard over HTTP until Ctrl-C; prints its address when it is ready.
///
/// People sign in; while there is no account, a link to make the first one is printed. Programs
/// use keys. One more key can be given by --key-file or CROSSOVER_KEY; it is kept in memory only.
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
    /// Tables that answer queries: rollup (precomputed totals) or daily (raw facts)
    /// [default: rollup, while the totals match the data]
    #[arg(long, value_parser = design(), env = "CROSSOVER_DESIGN")]
    design: Option<AnswerDesign>,
    /// Whether answers are kept for those who ask the same while the data is the same
    #[arg(
        long,
        default_value = "on",
        value_parser = PossibleValuesParser::new(["on", "off"]),
        env = "CROSSOVER_ANSWER_CACHE"
    )]
    answer_cache: String,
    /// How long a query may take, its wait for a turn included: 10s, 500ms, off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = limit,
        env = "CROSSOVER_QUERY_LIMIT"
    )]
    query_limit: Limit,
    /// Queries run at once; one client gets at most half, further ones wait
    /// [default: 4 for each core, at least 8]
    #[arg(long, value_name = "N", alias = "connections", env = "CROSSOVER_QUERY_CONCURRENCY")]
    query_concurrency: Option<NonZeroUsize>,
    /// How many requests each person, key or address may make in a minute [default: no limit]
    #[arg(long, value_name = "N", env = "CROSSOVER_RATE_LIMIT")]
    rate_limit: Option<NonZeroU32>,
    /// Upgrade the database of an older program first, as `crossover dashboard upgrade` does
    #[arg(long, env = "CROSSOVER_UPGRADE")]
    upgrade: bool,
    /// Let all users read without signing in
    #[arg(long, env = "CROSSOVER_PUBLIC")]
    public: bool,
    /// A proxy is in front: believe its X-Forwarded-For, -Proto and -Host
    #[arg(long, env = "CROSSOVER_BEHIND_PROXY")]
    behind_proxy: bool,
    /// Cookies for https only, also where no proxy says that it is https
    #[arg(long, env = "CROSSOVER_SECURE_COOKIES")]
    secure_cookies: bool,
    /// A file with one more valid key (- for standard input); otherwise CROSSOVER_KEY
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
    #[command(flatten)]
    log: LogArguments,
}

fn design() -> impl TypedValueParser<Value = AnswerDesign> {
    let designs = || AnswerDesign::ALL.iter().copied();
    PossibleValuesParser::new(designs().map(AnswerDesign::name))
        .try_map(move |name| designs().find(|one| one.name() == name).ok_or("no such design"))
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

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    arguments.log.begin(shared.color);
    if arguments.upgrade {
        let database = arguments.database.resolve()?;
        upgrade::upgrade(&database, shared)?;
    }
    shared.runtime().block_on(serve(arguments, shared))?;
    Ok(CommandOutcome::Done)
}

async fn serve(arguments: Arguments, shared: &Shared) -> anyhow::Result<()> {
    let database = arguments.database.resolve()?;
    let key = secret::key(arguments.key_file.as_deref())?;
    let extra_key = key.as_deref().map(ApiKey::given).transpose()?;
    let options = store_options(&arguments)?;
    let connections = connections::allowed(options.connections);
    let stop = stop_signal(shared)?;
    let store = DashboardStore::open(&database, &options).await?;
    if let DatabaseUrl::Sqlite(path) = &database {
        warn_of_rights(path, shared);
    }
    let access = AccessControl::open(&database).await?;
    let catalog = DataCatalog::open(&database).await?;
    let listener = http::listen(&arguments.listen).await?;
    let address = listener.local_addr().context("cannot read the address")?;
    let is_keyed = extra_key.is_some();
    let served = http::Options {
        extra_key,
        is_public: arguments.public,
        answer_cache_bytes: match arguments.answer_cache.as_str() {
            "on" => ANSWER_CACHE_BYTES,
            _ => 0,
        },
        rate_limit: arguments.rate_limit,
        secure_cookies: arguments.secure_cookies,
        behind_proxy: arguments.behind_proxy,
        limits: http::Limits { connections, ..http::Limits::default() },
    };
    if !access.has_accounts().await? {
        // With a key, or open to all, the dashboard admits users without an account.
        let is_let_in = is_keyed || arguments.public;
        invite(&access, address, &database, is_let_in, shared).await?;
    }
    shared.say(&introduction(&store, &options, &arguments));
    let app = App::new(store, access, catalog, &served);
    // The address is the promise that requests are answered: connections queue from here on.
    shared.print(&format!("http://{address}\n"))?;
    http::serve(listener, app, stop).await;
    Ok(())
}

/// The file holds hashes of passwords and keys.
fn warn_of_rights(path: &Path, shared: &Shared) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata().map_or(0, |file| file.permissions().mode());
    if mode & 0o077 != 0 {
        shared.say(&format!(
            "note: other accounts of this machine may read {path}; `chmod 600 {path}` ends that",
            path = path.display()
        ));
    }
}

fn store_options(arguments: &Arguments) -> anyhow::Result<Options> {
    let mut options = Options { design: arguments.design, ..Options::default() };
    for (name, value) in &arguments.settings {
        options.settings.set(name, value).map_err(|problem| Usage(format!("--set: {problem}")))?;
    }
    if let Some(queries) = arguments.query_concurrency {
        options.connections = queries.get();
    }
    options.query_limit = arguments.query_limit.0;
    Ok(options)
}

/// Prints the link by which the first account is made, to the terminal only: its readers may make
/// that account their own.
async fn invite(
    access: &AccessControl,
    address: SocketAddr,
    database: &DatabaseUrl,
    is_let_in: bool,
    shared: &Shared,
) -> anyhow::Result<()> {
    let token = access.offer_first_account()?;
    if !is_let_in || std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        shared.say(&format!(
            "no account yet; make the first one here, within an hour, once:\n  \
             http://{address}/#setup={}",
            token.expose()
        ));
    }
    if !is_let_in && !access.has_keys().await? {
        shared.say(&format!(
            "programs need a key: crossover dashboard key add NAME --database {database}"
        ));
    }
    Ok(())
}

fn introduction(store: &DashboardStore, options: &Options, arguments: &Arguments) -> String {
    let settings = match options.settings.is_empty() {
        true => String::new(),
        false => format!(" [{}]", options.settings),
    };
    let limit = match options.query_limit {
        Some(limit) => format!("{} s for each", limit.as_secs_f64()),
        None => "no limit of time".to_owned(),
    };
    let public = if arguments.public { ", public" } else { "" };
    format!(
        "{}{settings}, design {}, answer cache {}, {} queries at a time, {limit}{public}; Ctrl-C stops",
        store.engine(),
        store.design().name(),
        arguments.answer_cache,
        options.connections
    )
}

/// Ends at SIGINT or SIGTERM; a later signal ends the program at once (see `signals`).
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
