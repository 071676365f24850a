//! `crossover dashboard key add|list|revoke`.

use comfy_table::Table;
use dashboard::key::{self, ListedKey};
use serde_json::json;

use super::database::DatabaseArgument;
use crate::shared::{Outcome, OutputFormat, Shared};

#[derive(clap::Subcommand)]
pub enum Command {
    /// Make a key and print it: the only time it is shown
    Add(Named),
    /// List all keys, without the keys themselves
    List(All),
    /// Refuse a key from now on
    Revoke(Named),
}

#[derive(clap::Args)]
pub struct Named {
    /// Names the key, for example the program that uses it
    name: String,
    #[command(flatten)]
    database: DatabaseArgument,
}

#[derive(clap::Args)]
pub struct All {
    #[command(flatten)]
    database: DatabaseArgument,
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<Outcome> {
    match command {
        Command::Add(Named { name, database }) => {
            let key = shared.runtime().block_on(key::add(&database.resolve()?, &name))?;
            match shared.output_format {
                OutputFormat::Json => {
                    shared.print_json(&json!({"name": name, "key": key.expose()}))?;
                }
                _ => shared.print(&format!("{}\n", key.expose()))?,
            }
            shared.say("keep this key: only its hash is stored, it is not shown again");
        }
        Command::List(All { database }) => {
            let keys = shared.runtime().block_on(key::list(&database.resolve()?))?;
            print_list(&keys, shared)?;
        }
        Command::Revoke(Named { name, database }) => {
            shared.runtime().block_on(key::revoke(&database.resolve()?, &name))?;
            shared.say(&format!("revoked {name:?}"));
        }
    }
    Ok(Outcome::Done)
}

fn print_list(keys: &[ListedKey], shared: &Shared) -> anyhow::Result<()> {
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&keys),
        OutputFormat::Csv => {
            let mut text = "name,created_at,revoked_at\n".to_owned();
            for key in keys {
                let name = key.name.replace('"', "\"\"");
                let revoked = key.revoked_at.map_or_else(String::new, time);
                text += &format!("\"{name}\",{},{revoked}\n", time(key.created_at));
            }
            shared.print(&text)
        }
        OutputFormat::Text => {
            let mut table = Table::new();
            table.load_style(comfy_table::presets::NOTHING);
            table.set_header(["name", "created", "revoked"]);
            for key in keys {
                let revoked = key.revoked_at.map_or_else(String::new, time);
                table.add_row([key.name.clone(), time(key.created_at), revoked]);
            }
            shared.print(&format!("{table}\n"))
        }
    }
}

/// `2021-01-31T12:00:00Z`
fn time(seconds: i32) -> String {
    jiff::Timestamp::from_second(seconds.into())
        .map_or_else(|_| seconds.to_string(), |time| time.to_string())
}
