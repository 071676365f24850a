//! Progress of long work: a bar with rate and remaining time on a terminal, else a line now and
//! then, so that a log of a long run stays readable.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a line is written where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

const TEMPLATE: &str =
    "{prefix} {wide_bar:.cyan} {human_pos}/{human_len} {per_sec} about {eta} left {msg}";
const TEMPLATE_WITHOUT_LENGTH: &str = "{prefix} {spinner} {msg}";

/// A progress bar labelled `label`. It removes itself when it is finished or dropped.
pub fn bar(label: &str) -> ProgressBar {
    let bar = ProgressBar::no_length().with_prefix(label.to_owned());
    if std::io::stderr().is_terminal() {
        bar.set_style(style());
        bar.enable_steady_tick(Duration::from_millis(200));
    } else {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        write_lines(&bar, label.to_owned());
    }
    bar
}

fn style() -> ProgressStyle {
    // The template is a constant; an error in it falls back to indicatif's own.
    ProgressStyle::with_template(TEMPLATE)
        .or_else(|_| ProgressStyle::with_template(TEMPLATE_WITHOUT_LENGTH))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn write_lines(bar: &ProgressBar, label: String) {
    let bar = bar.downgrade();
    std::thread::spawn(move || {
        let mut last = (u64::MAX, String::new());
        loop {
            std::thread::sleep(LINE_INTERVAL);
            let Some(bar) = bar.upgrade() else { return };
            if bar.is_finished() {
                return;
            }
            let now = (bar.position(), bar.message());
            if now != last {
                crate::shared::say(&line(&label, &bar));
                last = now;
            }
        }
    });
}

fn line(label: &str, bar: &ProgressBar) -> String {
    let mut text = format!("{label}: {}", HumanCount(bar.position()));
    if let Some(length) = bar.length().filter(|length| *length > 0) {
        text.push_str(&format!(" of {}", HumanCount(length)));
        // Nothing is known of the rest before the first one is done.
        if bar.position() > 0 {
            text.push_str(&format!(", about {} left", HumanDuration(bar.eta())));
        }
    }
    if !bar.message().is_empty() {
        text.push_str(&format!(" ({})", bar.message()));
    }
    text
}
