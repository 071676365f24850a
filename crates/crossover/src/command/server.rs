//! `crossover server`: start a PostgreSQL that stays, see what runs, stop it, see what is kept.

mod kept;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use engine::EngineSpec;
use serde::Serialize;
use server::{Locations, PostgresServer, ServerStatus, StartOptions};

use crate::shared::{Outcome, OutputFormat, Shared, Usage};

#[derive(Subcommand)]
pub enum Command {
    /// Start a PostgreSQL that keeps running, and print its URL
    ///
    /// Its data is kept from one start to the next. The URL is that of a Unix socket, which only
    /// this account and root can reach.
    Start(StartArguments),
    /// The servers that are running
    Status,
    /// Stop servers that `server start` started
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
    /// Its name as in `server status`, or its release; absent: the only one
    name: Option<String>,
    /// Every server that `server start` started
    #[arg(long, conflicts_with = "name", env = "CROSSOVER_ALL")]
    all: bool,
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<Outcome> {
    let locations = Locations::detect()?;
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
) -> anyhow::Result<Outcome> {
    let options = StartOptions::for_engine(&arguments.engine)
        .map_err(|error| anyhow::Error::new(Usage(error.to_string())))?;
    let options = StartOptions {
        tcp: arguments.tcp,
        cpus: arguments.server_cpus,
        persistent: true,
        database: arguments.database_name.clone(),
        ..options
    };
    let progress = shared.progress("server");
    let starting = PostgresServer::start(locations, options, &progress, shared.interrupted());
    let server = shared.runtime().block_on(starting)?;
    progress.finish_and_clear();
    if let Some(notice) = &server.release().notice {
        shared.say(notice);
    }
    for (name, value) in server.settings_read_back() {
        shared.say(&format!("{name} = {value}"));
    }
    let url = match server.tcp_url(&arguments.database_name) {
        // Asked for by --tcp: without its password the address would be of no use.
        Some(url) => url.expose(),
        None => server.url(&arguments.database_name).to_string(),
    };
    shared.print(&format!("{url}\n"))?;
    Ok(Outcome::Done)
}

/// A running server as printed; without its password.
#[derive(Serialize)]
struct StatusRow {
    name: String,
    version: String,
    url: String,
    tcp_url: Option<String>,
    pid: u32,
    ends_with_pid: Option<u32>,
    settings: std::collections::BTreeMap<String, String>,
    folder: String,
}

impl From<ServerStatus> for StatusRow {
    fn from(server: ServerStatus) -> Self {
        Self {
            url: server.url.to_string(),
            tcp_url: server.tcp_url.map(|url| url.to_string()),
            pid: server.pid,
            ends_with_pid: (!server.persistent).then_some(server.owner),
            settings: server.settings.into_iter().collect(),
            folder: server.folder.display().to_string(),
            name: server.name,
            version: server.version,
        }
    }
}

fn status(locations: &Locations, shared: &Shared) -> anyhow::Result<Outcome> {
    server::stop_orphans(locations)?;
    let rows = server::running_servers(locations).into_iter().map(StatusRow::from);
    let rows: Vec<StatusRow> = rows.collect();
    let header = ["name", "release", "url", "process", "ends"];
    let cells = |row: &StatusRow| {
        let ends = row.ends_with_pid.map(|pid| format!("with process {pid}"));
        vec![
            row.name.clone(),
            row.version.clone(),
            row.tcp_url.clone().unwrap_or_else(|| row.url.clone()),
            row.pid.to_string(),
            ends.unwrap_or_else(|| "by server stop".to_owned()),
        ]
    };
    if rows.is_empty() && shared.output_format == OutputFormat::Text {
        shared.say("no server is running");
        return Ok(Outcome::Done);
    }
    print_rows(shared, &header, &rows, cells)
}

fn stop(
    locations: &Locations,
    arguments: &StopArguments,
    shared: &Shared,
) -> anyhow::Result<Outcome> {
    server::stop_orphans(locations)?;
    let running = server::running_servers(locations);
    let names: Vec<String> = running
        .iter()
        .filter(|server| server.persistent)
        .map(|server| server.name.clone())
        .collect();
    let wanted = match &arguments.name {
        // `server stop postgres:18` undoes `server start postgres:18`.
        Some(name) => {
            let release = name.strip_prefix("postgres:").unwrap_or(name);
            let version = release.parse::<engine::VersionRequest>().ok();
            let is_meant = |server: &&ServerStatus| {
                let exact = server.version.parse().ok();
                server.name == *name
                    || version.as_ref().zip(exact).is_some_and(|(v, exact)| v.matches(&exact))
            };
            let found = running.iter().filter(|server| server.persistent).filter(is_meant);
            let found: Vec<String> = found.map(|server| server.name.clone()).collect();
            anyhow::ensure!(!found.is_empty(), server::Error::NotRunning { name: name.clone() });
            found
        }
        None => names,
    };
    match wanted.as_slice() {
        [] => shared.say("no server is running"),
        names if names.len() > 1 && !arguments.all => {
            let names = names.join(", ");
            return Err(Usage(format!("several are running ({names}): name one, or --all")).into());
        }
        names => {
            for name in names {
                server::stop_server(locations, name)?;
                shared.say(&format!("{name} is stopped; its data is kept"));
            }
        }
    }
    Ok(Outcome::Done)
}

/// Prints rows in the form asked for.
fn print_rows<Row: Serialize>(
    shared: &Shared,
    header: &[&str],
    rows: &[Row],
    cells: impl Fn(&Row) -> Vec<String>,
) -> anyhow::Result<Outcome> {
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&rows)?,
        OutputFormat::Csv => {
            let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
            let line = |cells: Vec<String>| {
                cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n"
            };
            let mut text = line(header.iter().map(|name| (*name).to_owned()).collect());
            text.extend(rows.iter().map(|row| line(cells(row))));
            shared.print(&text)?;
        }
        OutputFormat::Text => {
            let mut table = Table::new();
            table.load_style(presets::NOTHING).set_header(header.to_vec());
            rows.iter().for_each(|row| {
                table.add_row(cells(row));
            });
            shared.print(&format!("{table}\n")).context("cannot print the table")?;
        }
    }
    Ok(Outcome::Done)
}
