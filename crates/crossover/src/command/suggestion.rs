//! Commands that a mistyped word may have meant: clap finds none for short ones.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use super::CommandLine;

/// Reads the command line; a mistake in it ends the program.
pub fn parse() -> CommandLine {
    CommandLine::try_parse().unwrap_or_else(|error| with_suggestion(error, std::env::args()).exit())
}

fn with_suggestion(mut error: clap::Error, words: impl Iterator<Item = String>) -> clap::Error {
    if error.kind() != ErrorKind::InvalidSubcommand
        || error.get(ContextKind::SuggestedSubcommand).is_some()
    {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let root = CommandLine::command();
    // The command whose part was mistyped.
    let mut parent = &root;
    for word in words.skip(1).take_while(|word| word != typed) {
        parent = parent.find_subcommand(&word).unwrap_or(parent);
    }
    let names = parent.get_subcommands().map(clap::Command::get_name);
    if let Some(nearest) = engine::nearest_of(typed, names) {
        let nearest = ContextValue::Strings(vec![nearest.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, nearest);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_command_is_suggested_also_where_it_is_short() {
        for (line, expected) in [
            ("crossover tyr shop.db", "'try'"),
            ("crossover bech", "'bench'"),
            ("crossover server sotp", "'stop'"),
            ("crossover dashboard improt articles", "'import'"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let Err(error) = CommandLine::try_parse_from(&words) else { panic!("{line}") };
            let said = with_suggestion(error, words.into_iter()).to_string();
            assert!(said.contains(expected), "{line}: {said}");
        }
    }
}
