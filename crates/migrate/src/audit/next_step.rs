//! Next step after an audit: the command that moves the file, or the rows that hold it up.

use super::AuditReport;
use crate::display::{first_of, flag, shell_word};
use crate::finding::Finding;
use crate::source::{Framework, selection_flags};

/// Most places that are named.
const PLACES_NAMED: usize = 5;

impl AuditReport {
    /// One line, ready to paste but for the target's URL.
    pub(super) fn next_step(&self) -> String {
        if let Some(application) = &self.application {
            let source = shell_word(&self.source.display().to_string());
            let flags = selection_flags(&self.flags);
            return match application.frameworks.as_slice() {
                [framework] => format!(
                    "Next: crossover audit {source} --target URL{flags}, when {} has made its \
                     tables there",
                    framework.name()
                ),
                several => {
                    let audit = |each: &Framework| {
                        format!("crossover audit {source} --framework {}{flags}", each.key())
                    };
                    let audits: Vec<String> = several.iter().map(audit).collect();
                    format!("Next: {}", audits.join(", or "))
                }
            };
        }
        let (without_rule, others): (Vec<&Finding>, Vec<&Finding>) = self
            .blockers()
            .filter(|blocker| blocker.mapping.is_none())
            .partition(|blocker| blocker.is_about_rows);
        let change = if self.creates { "repair" } else { "alter the target for, or repair," };
        if !others.is_empty() {
            let audit = self.command("audit", "");
            let rows = match without_rule.is_empty() {
                true => String::new(),
                false => format!("{change} the refused rows of {}, ", places(&without_rule)),
            };
            let others = places(&others);
            return format!("Next: carry out the remedies for {others}, {rows}then {audit}");
        }
        let migrate = self.command("migrate", " URL");
        if !without_rule.is_empty() {
            return format!(
                "Next: {change} the refused rows of {}, then {migrate} (--on-error reject moves the \
                 others and keeps these in a file)",
                places(&without_rule)
            );
        }
        let left_behind: Vec<&String> = self.not_carried_over.rows.keys().collect();
        if !left_behind.is_empty() {
            let excluded: Vec<String> =
                left_behind.iter().map(|table| flag("--exclude", table)).collect();
            return format!(
                "Next: keep the rows of {} as above, or leave them: {migrate} {}",
                first_of(&left_behind, PLACES_NAMED),
                excluded.join(" ")
            );
        }
        let losing = match self.not_carried_over.is_empty() {
            true => "",
            false => " (exit code 3 for what is not carried over, 0 with --accept-losses)",
        };
        let replacing = self.standing_tables().map_or_else(String::new, |tables| {
            format!(" (--replace deletes the rows of {tables} of the target)")
        });
        format!("Next: {migrate}{replacing}{losing}")
    }

    /// The rules that are remedies of blockers, one for a column: each holds all of its values.
    pub(super) fn rules(&self) -> Vec<&String> {
        let mut mapped: Vec<(&str, Option<&str>)> = Vec::new();
        let mut rules = Vec::new();
        for blocker in self.blockers() {
            let place = (blocker.table.as_str(), blocker.column.as_deref());
            if let Some(rule) = &blocker.mapping
                && !mapped.contains(&place)
            {
                mapped.push(place);
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
        rules
    }

    fn command(&self, name: &str, target: &str) -> String {
        let source = shell_word(&self.source.display().to_string());
        let mut command = format!("crossover {name} {source}{target}");
        if !self.creates {
            command.push_str(if name == "migrate" { " --data-only" } else { " --target URL" });
            if name == "migrate" && self.standing_tables().is_some() {
                command.push_str(" --replace");
            }
        }
        let flags = self.flags.iter().filter(|flag| !flag.starts_with("--map "));
        let rules = self.remedied(&self.mapped).0.into_iter().map(String::from);
        for flag in rules.map(|rule| flag("--map", &rule)).chain(flags.cloned()) {
            command.push(' ');
            command.push_str(&flag);
        }
        command
    }
}

fn places(findings: &[&Finding]) -> String {
    let mut places: Vec<String> = findings.iter().map(|finding| finding.place()).collect();
    places.dedup();
    first_of(&places, PLACES_NAMED)
}
