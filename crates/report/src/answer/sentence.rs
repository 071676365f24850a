//! Sentences of the answer, made of words and of the assertions that the words state. A test holds
//! every assertion against the verdicts, and finds none outside of them (`tests::assertions`).

use plan::{Level, Levels};

use super::Rank;
use super::names;
use crate::analysis::Shown;

/// Two engines, for one request or all together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EnginePair {
    pub a: String,
    pub b: String,
    pub request: Option<String>,
}

/// A statement about engines, by their labels, that a sentence puts into words. `at` are the cells of
/// which it is true: one level of each factor.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Assertion {
    /// a is shown faster than b.
    Faster {
        pair: EnginePair,
        at: Vec<Levels>,
    },
    Equal {
        pair: EnginePair,
        at: Vec<Levels>,
    },
    /// a is shown faster than b at each of these levels, if only within the margin of equality.
    Leads {
        a: String,
        b: String,
        at: Vec<Levels>,
    },
    Undecided {
        pair: EnginePair,
        at: Vec<Levels>,
    },
    /// A comparison that was planned and could not be made.
    LeftOut {
        pair: EnginePair,
        at: Vec<Levels>,
    },
    /// No family of verdicts holds the pair.
    NotCompared {
        pair: EnginePair,
        at: Vec<Levels>,
    },
    /// a is shown faster, and how often as fast it is.
    Size {
        pair: EnginePair,
        at: Levels,
        times: f64,
    },
    /// The lines cross between two measured levels: before them a is shown faster, after them b.
    Crossing {
        pair: EnginePair,
        last: Levels,
        first: Levels,
    },
    /// How often each result is shown over all levels.
    Count {
        pair: EnginePair,
        a: usize,
        b: usize,
        equal: usize,
        undecided: usize,
        left_out: usize,
    },
    /// Exactly these are not shown slower than another.
    Fastest {
        among: Vec<String>,
        at: Vec<Levels>,
    },
    /// In how many of all sets of levels an engine, or none, is shown fastest.
    FastestCount {
        engine: Option<String>,
        count: usize,
        of: usize,
    },
    Ranked {
        ranks: Vec<Rank>,
        at: Levels,
    },
    /// The most that a does, over the numbers of clients, is shown to be above the most that b does.
    Best {
        a: String,
        b: String,
        at: Levels,
    },
    /// It is not shown, of either.
    BestOpen {
        a: String,
        b: String,
        at: Levels,
    },
    /// a is shown faster until the last COMMIT alone, where it is not otherwise.
    UntilCommit {
        pair: EnginePair,
        at: Levels,
    },
    /// A factor's step is shown to change an engine's response, or its ratio to another's.
    Effect {
        factor: String,
        from: Level,
        to: Level,
        at: Levels,
        engine: String,
        against: Option<String>,
    },
    /// No such effect is shown at these levels of the other factors; within the margin if `equal`.
    NoEffect {
        factor: String,
        from: Level,
        to: Level,
        others: Levels,
        equal: bool,
    },
    /// The result on the interaction of two factors.
    Interaction {
        factor: String,
        other: String,
        at: Levels,
        engine: String,
        shown: Shown,
    },
    /// An engine could not keep up with the load.
    Saturated {
        engine: String,
        at: Vec<Levels>,
    },
    Starved {
        engine: String,
        at: Levels,
    },
}

/// Words with the assertions that they state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sentence {
    pub text: String,
    /// Each with the part of the text that states it.
    pub assertions: Vec<(String, Assertion)>,
}

impl Sentence {
    /// Words that assert nothing of engines against each other.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), assertions: Vec::new() }
    }

    pub(super) fn stating(text: impl Into<String>, assertion: Assertion) -> Self {
        let text = text.into();
        Self { assertions: vec![(text.clone(), assertion)], text }
    }

    /// One more assertion that all of these words state.
    pub(super) fn also(mut self, assertion: Assertion) -> Self {
        self.assertions.push((self.text.clone(), assertion));
        self
    }

    /// The same, of which all words together state every assertion.
    pub(super) fn united(mut self) -> Self {
        for (words, _) in &mut self.assertions {
            words.clone_from(&self.text);
        }
        self
    }

    /// Words before it.
    pub(super) fn after(mut self, words: &str) -> Self {
        self.text.insert_str(0, words);
        self
    }

    /// Words, or another sentence, at its end.
    pub(super) fn then(mut self, more: impl Into<Self>) -> Self {
        let more = more.into();
        self.text.push_str(&more.text);
        self.assertions.extend(more.assertions);
        self
    }

    pub(super) fn joined(parts: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |all, part| all.then(between).then(part))
    }

    /// `a, b and c`.
    pub(super) fn listed(mut parts: Vec<Self>) -> Self {
        match parts.pop() {
            None => Self::default(),
            Some(last) if parts.is_empty() => last,
            Some(last) => Self::joined(parts, ", ").then(" and ").then(last),
        }
    }

    /// With a capital at its start.
    pub(super) fn capital(mut self) -> Self {
        self.text = names::capital(&self.text);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl From<&str> for Sentence {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}
