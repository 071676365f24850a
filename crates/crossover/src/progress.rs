//! Progress of long work: a bar with rate and remaining time on a terminal. Elsewhere it is a line
//! now and then, so that a log of a long run stays readable.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{
    HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use lab::options::ExpectedEnd;

/// How often a line is written where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// How often messages are looked for that are written at once.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// Beginnings of such messages: a wait for another session, a download.
const AT_ONCE: [&str; 2] = ["waiting for a lock", "downloading "];
/// How often it is written again although nothing has moved.
const REPEAT_INTERVAL: Duration = Duration::from_secs(60);

const TEMPLATE: &str = "{prefix} {wide_bar:.cyan} {human_pos}/{human_len} {per_sec} {left} {msg}";
const TEMPLATE_WITHOUT_LENGTH: &str = "{prefix} {spinner} {msg}";

/// Time left at `position` of `length`, in words; `None` where it is not known yet.
type Left = Arc<dyn Fn(u64, Option<u64>) -> Option<String> + Send + Sync>;

/// Where counting began: a run that is taken up again has most of its trials already.
#[derive(Clone, Default)]
struct Beginning(Arc<OnceLock<(Instant, u64)>>);

impl Beginning {
    /// The time left, judged by the mean of all steps since the beginning: the work of an
    /// experiment comes in steps of a second and of a minute, and the latest ones say nothing of
    /// the rest. None before the first step.
    fn left(&self, position: u64, length: Option<u64>) -> Option<Duration> {
        let length = length.filter(|length| *length > 0)?;
        let (begun, first) = *self.0.get_or_init(|| (Instant::now(), position));
        remaining(begun.elapsed(), position.saturating_sub(first), length.saturating_sub(position))
    }
}

fn remaining(elapsed: Duration, done: u64, rest: u64) -> Option<Duration> {
    (done > 0).then(|| elapsed.mul_f64(rest as f64 / done as f64))
}

/// A progress bar labelled `label`. It removes itself when it is finished or dropped.
pub fn bar(label: &str) -> ProgressBar {
    let beginning = Beginning::default();
    let about = |left| format!("about {}", HumanDuration(left));
    bar_with(label, Arc::new(move |position, length| beginning.left(position, length).map(about)))
}

/// The same for the trials of a run, which knows itself when it will end.
pub fn bar_until(label: &str, end: Arc<ExpectedEnd>) -> ProgressBar {
    bar_with(label, Arc::new(move |_, _| end.left().map(|left| left.to_string())))
}

fn bar_with(label: &str, left: Left) -> ProgressBar {
    let bar = ProgressBar::no_length().with_prefix(label.to_owned());
    if std::io::stderr().is_terminal() {
        bar.set_style(style(left));
        bar.enable_steady_tick(Duration::from_millis(200));
    } else {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        write_lines(&bar, label.to_owned(), left);
    }
    bar
}

fn style(left: Left) -> ProgressStyle {
    let left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        if let Some(left) = left(state.pos(), state.len()) {
            let _ = write!(out, "{left} left");
        }
    };
    // The template is a constant; an error in it falls back to indicatif's own.
    ProgressStyle::with_template(TEMPLATE)
        .or_else(|_| ProgressStyle::with_template(TEMPLATE_WITHOUT_LENGTH))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", left)
}

fn write_lines(bar: &ProgressBar, label: String, left: Left) {
    let bar = bar.downgrade();
    std::thread::spawn(move || {
        let mut last = (u64::MAX, String::new());
        let mut written = Instant::now();
        let mut looked = Instant::now();
        loop {
            std::thread::sleep(LOOK_INTERVAL);
            let Some(bar) = bar.upgrade() else { return };
            if bar.is_finished() {
                return;
            }
            let now = (bar.position(), bar.message());
            let is_urgent = AT_ONCE.iter().any(|begin| now.1.starts_with(begin));
            if looked.elapsed() < LINE_INTERVAL && !(is_urgent && now.1 != last.1) {
                continue;
            }
            looked = Instant::now();
            let left = left(bar.position(), bar.length());
            if now != last || written.elapsed() >= REPEAT_INTERVAL {
                say(&line(&label, &bar, left));
                (last, written) = (now, Instant::now());
            }
        }
    });
}

/// Writes one message to standard error, control characters in its lines escaped; nothing can be
/// done if that fails.
pub fn say(text: &str) {
    let lines: Vec<String> = text.split('\n').map(migrate::escaped).collect();
    let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
}

fn line(label: &str, bar: &ProgressBar, left: Option<String>) -> String {
    let mut text = format!("{label}: {}", HumanCount(bar.position()));
    if let Some(length) = bar.length().filter(|length| *length > 0) {
        text.push_str(&format!(" of {}", HumanCount(length)));
        if let Some(left) = left {
            text.push_str(&format!(", {left} left"));
        }
    }
    if !bar.message().is_empty() {
        text.push_str(&format!(" ({})", bar.message().replace("\n  ", "; ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_the_mean_of_what_was_done() {
        let minute = Duration::from_secs(60);
        assert_eq!(remaining(minute, 0, 300), None, "nothing is known before the first step");
        assert_eq!(remaining(minute, 12, 288), Some(minute * 24));
        assert_eq!(remaining(minute, 12, 0), Some(Duration::ZERO));
    }

    #[test]
    fn steps_done_before_the_beginning_tell_nothing_of_the_rest() {
        let beginning = Beginning::default();
        assert_eq!(beginning.left(5, None), None);
        assert_eq!(beginning.left(200, Some(300)), None);
        assert!(beginning.left(201, Some(300)).is_some());
        assert_eq!(beginning.left(300, Some(300)), Some(Duration::ZERO));
    }
}
