//! Verdicts on the thresholds of issue 6: met, missed, or not judged, which is not better.

/// All that is judged, and what could not be.
#[derive(Default)]
pub struct Thresholds {
    missed: Vec<String>,
    unjudged: Vec<String>,
}

impl Thresholds {
    /// Notes whether one holds; the word for it.
    pub fn judge(&mut self, name: &str, holds: bool) -> &'static str {
        if holds {
            return "met";
        }
        self.missed.push(name.to_owned());
        "missed"
    }

    /// Notes why one is not judged.
    pub fn leave_out(&mut self, name: &str, why: &str) {
        self.unjudged.push(format!("{name}: {why}"));
    }

    /// Prints what is not met; the exit code: 99 where a threshold is missed, or not judged unless
    /// only a part was wanted.
    pub fn exit_code(&self, is_part: bool) -> i32 {
        for (word, names) in [("missed", &self.missed), ("not judged", &self.unjudged)] {
            for name in names {
                println!("{word}: {name}");
            }
        }
        let holds = self.missed.is_empty() && (is_part || self.unjudged.is_empty());
        if holds { 0 } else { 99 }
    }
}
