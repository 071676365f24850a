//! An example of each form of `bench`, at the end of its help.

pub(super) const DASHBOARD: &str = "\
Example:
  crossover bench dashboard --on sqlite --on postgres:18 --scale 0.1";

pub(super) const HTTP: &str = "\
Example:
  crossover bench http --on sqlite --on postgres:18 --data shop.db --start 'python3 app.py' \\
    --environment 'DATABASE_URL={database_url}' --environment 'LISTEN={listen}' \\
    --request '/order?id=4711' --request '/customer?id=42'";

pub(super) const SQL: &str = "\
Example:
  crossover bench sql --on sqlite --on postgres:18 --data shop.db --sql queries/ \\
    --parameter id=1..2000";

pub(super) const BLOB: &str = "\
Example:
  crossover bench blob --on sqlite --on dir --sizes 1k,10k,100k";

pub(super) const OLTP: &str = "\
Example:
  crossover bench oltp --on postgres:14 --on postgres:18 --workload read_write --clients 1,8";

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use crate::command::CommandLine;

    #[test]
    fn examples_can_be_pasted_and_own_options_come_first() {
        let mut root = CommandLine::command();
        root.build();
        let bench = root.find_subcommand_mut("bench").unwrap();
        let forms: Vec<_> =
            bench.get_subcommands_mut().filter(|one| one.get_name() != "help").collect();
        assert_eq!(forms.len(), 5);
        for form in forms {
            let help = form.render_long_help().to_string();
            let (options, example) = help.split_once("Example:\n").unwrap();
            let words = shlex::split(&example.replace("\\\n", " ")).unwrap();
            assert!(CommandLine::try_parse_from(words).is_ok(), "{example}");
            let place = |heading: &str| options.find(&format!("\n{heading}:\n")).unwrap();
            let experiment = place("Options of every experiment");
            assert!(place("Options") < experiment, "{options}");
            assert!(options.find("--on <").unwrap() < experiment, "{options}");
            let own = &options[..experiment];
            assert!(!own.contains("--replicates") && !own.contains("--no-color"), "{own}");
            place("Options of every command");
        }
    }
}
