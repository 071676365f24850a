//! Reference of the command line, docs/reference/command-line.md, written from clap's own data.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};

const INTRODUCTION: &str = "# Command line

Written by the program (`CROSSOVER_WRITE_REFERENCE=1 cargo test -p crossover --bin crossover reference`), so edit the
help texts and not this page. `crossover COMMAND --help` prints the same. Where a name is in capitals with
`CROSSOVER_`, this variable of the environment is the flag's twin; the flag has the last word. In a first column,
`...` marks what may be repeated.
";

/// One cell of a table, on one line.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}

fn name(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let takes = argument.get_num_args().is_some_and(|range| range.takes_values());
    let values: String =
        if takes { values.iter().map(|name| format!(" {name}")).collect() } else { String::new() };
    let flag = argument.get_long().map(|long| format!("--{long}")).unwrap_or_default();
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let repeated = matches!(argument.get_action(), clap::ArgAction::Append);
    let repeated = if repeated { " ..." } else { "" };
    format!("`{}`{repeated}", format!("{short}{flag}{values}").trim().replace('|', "\\|"))
}

fn row(argument: &Arg) -> String {
    let mut meaning = argument
        .get_long_help()
        .or_else(|| argument.get_help())
        .map(|help| cell(&help.to_string()))
        .unwrap_or_default();
    let takes = argument.get_num_args().is_some_and(|range| range.takes_values());
    let values = argument.get_possible_values();
    let values: Vec<String> = values
        .iter()
        .filter(|value| takes && !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` {}", value.get_name(), cell(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        let _ = write!(meaning, ": {}", values.join("; "));
    }
    let defaults = argument.get_default_values().iter().map(|value| value.to_string_lossy());
    let default: Vec<String> =
        defaults.filter(|_| takes).map(|value| format!("`{value}`")).collect();
    let environment = argument.get_env().map(|name| format!("`{}`", name.to_string_lossy()));
    format!(
        "| {} | {meaning} | {} | {} |\n",
        name(argument),
        default.join(" "),
        environment.unwrap_or_default()
    )
}

fn table(arguments: &[&Arg]) -> String {
    if arguments.is_empty() {
        return String::new();
    }
    let rows: String = arguments.iter().map(|argument| row(argument)).collect();
    format!("\n| | | default | environment |\n|---|---|---|---|\n{rows}")
}

/// The section of `command` and those of its subcommands.
fn section(command: &mut Command, text: &mut String) {
    let usage = command.render_usage().to_string();
    let about = command.get_long_about().or_else(|| command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let title = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let _ = write!(text, "\n## `{title}`\n\n{}\n\n```text\n", about.replace('<', "&lt;"));
    for line in usage.lines() {
        let _ = writeln!(text, "{}", line.trim_start_matches("Usage:").trim());
    }
    text.push_str("```\n");
    let own = |argument: &&Arg| {
        let everywhere = ["help", "version"].contains(&argument.get_id().as_str());
        !argument.is_hide_set() && !argument.is_global_set() && !everywhere
    };
    let arguments: Vec<&Arg> = command.get_arguments().filter(own).collect();
    text.push_str(&table(&arguments));
    for subcommand in command.get_subcommands_mut() {
        if subcommand.get_name() != "help" && !subcommand.is_hide_set() {
            section(subcommand, text);
        }
    }
}

fn document() -> String {
    let mut command = super::CommandLine::command();
    command.build();
    let global: Vec<&Arg> =
        command.get_arguments().filter(|argument| argument.is_global_set()).collect();
    let mut text = format!("{INTRODUCTION}\n## Everywhere\n{}", table(&global));
    section(&mut command, &mut text);
    text
}

#[test]
fn reference_of_the_command_line_is_current() {
    let place = "../../docs/reference/command-line.md";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
    let document = document();
    if std::env::var_os("CROSSOVER_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &document).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == document,
        "docs/reference/command-line.md is out of date; write it by \
         CROSSOVER_WRITE_REFERENCE=1 cargo test -p crossover --bin crossover reference"
    );
}
