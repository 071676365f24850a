//! `crossover server`: start a PostgreSQL that stays, see what runs, stop it, see what is kept.

mod kept;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use engine::{EngineSpec, PostgresUrl};
use serde::Serialize;
use server::{Lifetime, Locations, PostgresServer, ServerStatus, StartOptions};

use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

#[derive(Subcommand)]
pub enum Command {
    /// Start a PostgreSQL that keeps running, and print its URL
    ///
    /// Its data is kept from one start to the next. The URL is that of a Unix socket, which only
    /// this account and root can reach; it stays the same. Of a server that is running the URL is
    /// printed again.
    Start(StartArguments),
    /// The servers that are running, those of killed runs too
    Status,
    /// Stop servers that `server start` started or a killed run left
    Stop(StopArguments),
    /// The releases, data directories and datasets that are kept on this machine
    List,
    /// Remove data directories and datasets that nothing uses
    Remove(kept::RemoveArguments),
}

#[derive(Args)]
pub struct StartArguments {
    /// postgres, postgres:VERSION or postgres:FOLDER, with settings as in postgres:18[work_mem=16MB]
    #[arg(default_value = "postgres", env = "CROSSOVER_ENGINE")]
    engine: EngineSpec,
    /// Listen on 127.0.0.1 as well; the URL printed is then this one, with a random password
    #[arg(long, env = "CROSSOVER_TCP")]
    tcp: bool,
    /// The database to create if it is missing
    #[arg(long, default_value = "crossover", env = "CROSSOVER_DATABASE_NAME")]
    database_name: String,
    /// The CPUs the server may use, separated by commas
    #[arg(long, value_delimiter = ',', env = "CROSSOVER_SERVER_CPUS")]
    server_cpus: Option<Vec<usize>>,
}

#[derive(Args)]
pub struct StopArguments {
    /// Its name or URL as in `server status`, or its release; absent: the only one
    name: Option<String>,
    /// All of them; never a server whose program is running
    #[arg(long, conflicts_with = "name", env = "CROSSOVER_ALL")]
    all: bool,
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let locations = shared.locations()?;
    match command {
        Command::Start(arguments) => start(&locations, arguments, shared),
        Command::Status => status(&locations, shared),
        Command::Stop(arguments) => stop(&locations, &arguments, shared),
        Command::List => kept::list(&locations, shared),
        Command::Remove(arguments) => kept::remove(&locations, &arguments, shared),
    }
}

fn start(
    locations: &Locations,
    arguments: StartArguments,
    shared: &Shared,
) -> anyhow::Result<CommandOutcome> {
    if arguments.engine.own("pool").is_some() {
        let message = "a pool is started by bench sql and bench oltp alone; leave it out";
        return Err(Usage(format!("{}: {message}", arguments.engine)).into());
    }
    let options = StartOptions::for_engine(&arguments.engine)
        .map_err(|error| anyhow::Error::new(Usage(error.to_string())))?;
    let options = StartOptions {
        tcp: arguments.tcp,
        cpus: arguments.server_cpus,
        persistent: true,
        database: arguments.database_name,
        ..options
    };
    let progress = shared.progress("server");
    let starting =
        PostgresServer::start(locations, options.clone(), &progress, shared.interrupted());
    let started = shared.runtime().block_on(starting);
    progress.finish_and_clear();
    let url = match started {
        Ok(server) => announce(&server, &options.database, shared),
        Err(server::Error::AlreadyRunning { folder, .. }) => {
            url_of_running(locations, &folder, &options, shared)?
        }
        Err(error) => return Err(error.into()),
    };
    shared.print(&format!("{url}\n"))?;
    Ok(CommandOutcome::Done)
}

/// Says how a server was started; its URL.
fn announce(server: &PostgresServer, database: &str, shared: &Shared) -> String {
    if let Some(notice) = &server.release().notice {
        shared.say(notice);
    }
    for (name, value) in server.settings_read_back() {
        shared.say(&format!("{name} = {value}"));
    }
    match server.tcp_url(database) {
        // Asked for by --tcp: without its password the address would be of no use.
        Some(url) => url.expose(),
        None => server.url(database).to_string(),
    }
}

/// The URL of a server that an earlier `server start` started as this one asks for.
fn url_of_running(
    locations: &Locations,
    folder: &std::path::Path,
    options: &StartOptions,
    shared: &Shared,
) -> anyhow::Result<String> {
    let running = server::running_servers(locations)?;
    let running = running.into_iter().find(|server| server.folder == folder);
    let running = running.with_context(|| format!("{} ends; try again", folder.display()))?;
    let refuse = |runs: &str| {
        let (name, version) = (&running.name, &running.version);
        anyhow::anyhow!(
            "PostgreSQL {version} is already running {runs}: \
             `crossover server stop {name}` ends it; then start it again"
        )
    };
    let differs = |asked: bool, same: bool| asked && !same;
    if differs(!options.settings.is_empty(), running.settings == options.settings) {
        let settings: Vec<String> =
            running.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        return Err(refuse(&match settings.as_slice() {
            [] => "with its default settings".to_owned(),
            _ => format!("with {}", settings.join(", ")),
        }));
    }
    if differs(options.cpus.is_some(), running.cpus == options.cpus) {
        return Err(refuse("with other --server-cpus"));
    }
    if options.tcp && running.tcp_url.is_none() {
        return Err(refuse("without --tcp"));
    }
    let url: PostgresUrl = running.url.parse()?;
    let creating = server::create_database(&url, &options.database);
    shared.runtime().block_on(creating)?;
    shared.say(&format!("PostgreSQL {} is already running", running.version));
    Ok(match running.tcp_url.filter(|_| options.tcp) {
        Some(url) => url.with_database(&options.database).expose(),
        None => url.with_database(&options.database).to_string(),
    })
}

/// A running server as printed; without its password.
#[derive(Serialize)]
struct StatusRow {
    name: String,
    version: String,
    url: String,
    tcp_url: Option<String>,
    pid: u32,
    lifetime: Lifetime,
    owner: Option<u32>,
    settings: std::collections::BTreeMap<String, String>,
    folder: String,
}

impl From<ServerStatus> for StatusRow {
    fn from(server: ServerStatus) -> Self {
        Self {
            url: server.url,
            tcp_url: server.tcp_url.map(|url| url.to_string()),
            pid: server.pid,
            lifetime: server.lifetime,
            owner: server.owner,
            settings: server.settings.into_iter().collect(),
            folder: server.folder.display().to_string(),
            name: server.name,
            version: server.version,
        }
    }
}

impl StatusRow {
    /// Event that ends it, as a sentence.
    fn end(&self) -> String {
        let owner = self.owner.map(|owner| format!("process {owner}"));
        let owner = owner.unwrap_or_else(|| "the program that started it".to_owned());
        match self.lifetime {
            Lifetime::UntilStopped => "by server stop".to_owned(),
            Lifetime::WithOwner => format!("with {owner}"),
            Lifetime::Orphan => format!("by server stop: {owner} was killed"),
        }
    }
}

fn status(locations: &Locations, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let rows = server::running_servers(locations)?.into_iter().map(StatusRow::from);
    let rows: Vec<StatusRow> = rows.collect();
    let header = ["name", "release", "url", "process", "ends"];
    let cells = |row: &StatusRow| {
        [
            row.name.clone(),
            row.version.clone(),
            row.tcp_url.clone().unwrap_or_else(|| row.url.clone()),
            row.pid.to_string(),
            row.end(),
        ]
    };
    if rows.is_empty() && shared.output_format == OutputFormat::Text {
        shared.say("no server is running");
        return Ok(CommandOutcome::Done);
    }
    shared.print_rows(header, &rows, cells)?;
    Ok(CommandOutcome::Done)
}

fn stop(
    locations: &Locations,
    arguments: &StopArguments,
    shared: &Shared,
) -> anyhow::Result<CommandOutcome> {
    let running = server::running_servers(locations)?;
    let (owned, free): (Vec<_>, Vec<_>) =
        running.into_iter().partition(|server| server.lifetime == Lifetime::WithOwner);
    let wanted: Vec<ServerStatus> = match &arguments.name {
        Some(name) => named(name, free, &owned)?,
        None => free,
    };
    let names: Vec<&str> = wanted.iter().map(|server| server.name.as_str()).collect();
    if names.len() > 1 && !arguments.all && arguments.name.is_none() {
        let names = names.join(", ");
        return Err(Usage(format!("several are running ({names}): name one, or --all")).into());
    }
    for server in &wanted {
        server::stop_server(locations, &server.name)?;
        let kept = server.folder.exists();
        let kept = if kept { "; its data is kept" } else { " and its data removed" };
        shared.say(&format!("{} is stopped{kept}", server.name));
    }
    if arguments.name.is_none() {
        match owned.as_slice() {
            [] if wanted.is_empty() => shared.say("no server is running"),
            [] => {}
            owned => shared.say(&format!(
                "{} left alone: the programs that started them are running",
                owned.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join(", ")
            )),
        }
    }
    Ok(CommandOutcome::Done)
}

/// `server stop postgres:18` undoes `server start postgres:18`, as does the URL that it printed.
fn named(
    name: &str,
    free: Vec<ServerStatus>,
    owned: &[ServerStatus],
) -> anyhow::Result<Vec<ServerStatus>> {
    let release = name.strip_prefix("postgres:").unwrap_or(name);
    let version = release.parse::<engine::VersionRequest>().ok();
    let matches_name = |server: &ServerStatus| {
        let exact = server.version.parse().ok();
        let started = server.lifetime == Lifetime::UntilStopped;
        let by_tcp = |url: &PostgresUrl| url.expose() == name || url.to_string() == name;
        let is_url = server.url == name || server.tcp_url.as_ref().is_some_and(by_tcp);
        server.name == name
            || is_url
            || started && version.as_ref().zip(exact).is_some_and(|(v, exact)| v.matches(&exact))
    };
    let found: Vec<ServerStatus> = free.into_iter().filter(matches_name).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let Some(server) = owned.iter().find(|server| server.name == name) else {
        return Err(server::Error::NotRunning { name: name.to_owned() }.into());
    };
    let owner = server.owner.map(|owner| format!(" (process {owner})")).unwrap_or_default();
    Err(server::Error::InUse { directory: server.folder.clone(), owner }.into())
}
