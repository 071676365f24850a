//! `crossover dashboard key add|list|revoke`.

use std::time::Duration;

use dashboard::key::{self, ListedKey};
use serde_json::json;

use super::database::DatabaseArgument;
use crate::shared::{CommandOutcome, OutputFormat, Shared};

#[derive(clap::Subcommand)]
pub enum Command {
    /// Make a key and print it: the only time it is shown
    Add(New),
    /// List all keys, without the keys themselves
    List(KeyList),
    /// Refuse a key from now on
    Revoke(NamedKey),
}

#[derive(clap::Args)]
pub struct New {
    /// Names the key, for example the program that uses it
    name: String,
    /// How long it is valid: 90d, 1h30m [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = notation::duration, env = "CROSSOVER_EXPIRES")]
    expires: Option<Duration>,
    #[command(flatten)]
    database: DatabaseArgument,
}

#[derive(clap::Args)]
pub struct NamedKey {
    /// Names the key, for example the program that uses it
    name: String,
    #[command(flatten)]
    database: DatabaseArgument,
}

#[derive(clap::Args)]
pub struct KeyList {
    #[command(flatten)]
    database: DatabaseArgument,
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    match command {
        Command::Add(New { name, expires, database }) => {
            let database = database.resolve()?;
            let key = shared.runtime().block_on(key::add(&database, &name, expires))?;
            match shared.output_format {
                OutputFormat::Json => {
                    shared.print_json(&json!({"name": name, "key": key.expose()}))?;
                }
                _ => shared.print(&format!("{}\n", key.expose()))?,
            }
            shared.say("keep this key: only its hash is stored, it is not shown again");
        }
        Command::List(KeyList { database }) => {
            let keys = shared.runtime().block_on(key::list(&database.resolve()?))?;
            print_list(&keys, shared)?;
        }
        Command::Revoke(NamedKey { name, database }) => {
            shared.runtime().block_on(key::revoke(&database.resolve()?, &name))?;
            shared.say(&format!("revoked {name:?}"));
        }
    }
    Ok(CommandOutcome::Done)
}

fn print_list(keys: &[ListedKey], shared: &Shared) -> anyhow::Result<()> {
    let cells = |key: &ListedKey| {
        let [expires, revoked] = [key.expires_at, key.revoked_at].map(time_if_any);
        [key.name.clone(), time(key.created_at), expires, revoked]
    };
    shared.print_rows(["name", "created_at", "expires_at", "revoked_at"], keys, cells)
}

fn time_if_any(seconds: Option<i64>) -> String {
    seconds.map_or_else(String::new, time)
}

/// `2021-01-31T12:00:00Z`
pub fn time(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds)
        .map_or_else(|_| seconds.to_string(), |time| time.to_string())
}
