//! `crossover dashboard account add|list|remove|password`.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dashboard::account::{self, ListedAccount, Password};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;

use super::database::DatabaseArgument;
use super::key::time;
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

#[derive(clap::Subcommand)]
pub enum Command {
    /// Make an account; asks for its password
    Add(Secret),
    /// List all accounts
    List(AccountList),
    /// Remove an account and end its sessions
    Remove(NamedAccount),
    /// Give an account another password and end its sessions
    Password(Secret),
}

#[derive(clap::Args)]
pub struct Secret {
    /// The name to sign in with
    name: String,
    /// A file with the password (- for standard input); otherwise it is asked for on the terminal
    #[arg(long, value_name = "FILE", env = "CROSSOVER_PASSWORD_FILE")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgument,
}

#[derive(clap::Args)]
pub struct NamedAccount {
    /// The name of the account
    name: String,
    #[command(flatten)]
    database: DatabaseArgument,
}

#[derive(clap::Args)]
pub struct AccountList {
    #[command(flatten)]
    database: DatabaseArgument,
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    match command {
        Command::Add(Secret { name, password_file, database }) => {
            let password = password(password_file.as_deref(), shared)?;
            let database = database.resolve()?;
            shared.runtime().block_on(account::add(&database, &name, password))?;
            tell(shared, &name, "added")?;
        }
        Command::List(AccountList { database }) => {
            let accounts = shared.runtime().block_on(account::list(&database.resolve()?))?;
            print_list(&accounts, shared)?;
        }
        Command::Remove(NamedAccount { name, database }) => {
            shared.runtime().block_on(account::remove(&database.resolve()?, &name))?;
            tell(shared, &name, "removed")?;
        }
        Command::Password(Secret { name, password_file, database }) => {
            let password = password(password_file.as_deref(), shared)?;
            let database = database.resolve()?;
            shared.runtime().block_on(account::set_password(&database, &name, password))?;
            tell(shared, &name, "given another password")?;
        }
    }
    Ok(CommandOutcome::Done)
}

fn tell(shared: &Shared, name: &str, done: &str) -> anyhow::Result<()> {
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&json!({"name": name})),
        OutputFormat::Text | OutputFormat::Csv => {
            shared.say(&format!("{name:?} is {done}"));
            Ok(())
        }
    }
}

fn print_list(accounts: &[ListedAccount], shared: &Shared) -> anyhow::Result<()> {
    let cells = |account: &ListedAccount| {
        [account.name.clone(), time(account.created_at), account.sessions.to_string()]
    };
    shared.print_rows(["name", "created_at", "sessions"], accounts, cells)
}

/// From a file, standard input or the terminal; never from the command line, where every process
/// of the machine could read it.
fn password(file: Option<&Path>, shared: &Shared) -> anyhow::Result<Password> {
    let text = match file {
        Some(path) if path.as_os_str() == "-" => line().context("cannot read standard input")?,
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the password file {}", path.display()))?,
        None if std::io::stdin().is_terminal() => {
            let first = ask("password: ", shared)?;
            if first != ask("the same again: ", shared)? {
                return Err(Usage("the two passwords differ".to_owned()).into());
            }
            first
        }
        None => {
            let text = "cannot ask for the password: not a terminal; give it by --password-file FILE, or - \
                        for standard input";
            return Err(Usage(text.to_owned()).into());
        }
    };
    let text = text.trim_end_matches(['\n', '\r']);
    Password::chosen(text).map_err(|error| Usage(error.to_string()).into())
}

fn line() -> std::io::Result<String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// Asks on the terminal, which does not show what is typed.
fn ask(question: &str, shared: &Shared) -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    let before = tcgetattr(&stdin).context("cannot ask the terminal")?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    shared.say(question.trim_end());
    tcsetattr(&stdin, OptionalActions::Flush, &silent).context("cannot ask the terminal")?;
    let typed = line();
    tcsetattr(&stdin, OptionalActions::Flush, &before).context("cannot restore the terminal")?;
    Ok(typed.context("cannot read from the terminal")?.trim_end_matches(['\n', '\r']).to_owned())
}
