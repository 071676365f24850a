//! Crossover's command line: parse, run one command, turn its outcome into an exit code.
//! Each command is one file in `command/`; everything that can be reused lies in the crates below.

mod command;
mod flag;
mod progress;
mod shared;
mod signals;

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    let arguments = command::parse();
    let shared = match shared::Shared::new(&arguments.global, started) {
        Ok(shared) => shared,
        Err(error) => return shared::report_failure(&error),
    };
    let code = match command::run(arguments.command, &shared) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => shared::report_failure(&error),
    };
    shared.close();
    code
}
