//! No sentence of the answer says more or less than the verdicts show: random experiments of two to
//! eight engines, with any comparisons made or not, whose sentences are held against the verdicts.

mod experiment;
mod named;
mod truth;
mod whole;

use std::collections::BTreeSet;

use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;

use super::super::sentence::{Assertion, Sentence};
use super::super::{Background, Said, Wording};
use super::*;
use experiment::random_experiment;
use truth::Truth;

const ENOUGH_FOR_EVERY_KIND: u32 = 70;

/// Words that say something of engines against each other: none stands outside of an assertion.
const OF_ENGINES: [&str; 13] = [
    "faster",
    "slower",
    "fastest",
    "as fast",
    "times the",
    " equal",
    "undecided",
    "compared",
    " cross ",
    " rank ",
    " best",
    "keep up",
    "costs",
];

fn is_outside(sentence: &Sentence) -> Option<&'static str> {
    let mut rest = sentence.text.to_lowercase();
    let mut parts: Vec<String> =
        sentence.assertions.iter().map(|(words, _)| words.to_lowercase()).collect();
    parts.sort_by_key(|words| std::cmp::Reverse(words.len()));
    for words in parts {
        assert!(sentence.text.to_lowercase().contains(&words), "{words} in {}", sentence.text);
        rest = rest.replace(&words, "");
    }
    OF_ENGINES.into_iter().find(|word| rest.contains(word))
}

/// Every assertion of the sentences.
fn all<'s>(sentences: impl IntoIterator<Item = &'s Sentence>) -> Vec<&'s Assertion> {
    let of = |sentence: &'s Sentence| sentence.assertions.iter().map(|(_, assertion)| assertion);
    sentences.into_iter().flat_map(of).collect()
}

#[test]
fn no_sentence_says_more_or_less_than_the_verdicts() {
    let mut kinds: BTreeSet<String> = BTreeSet::new();
    let experiments = u64::from(testing::repetitions(ENOUGH_FOR_EVERY_KIND));
    for seed in 0..experiments {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (plan, cells, trials) = random_experiment(&mut random);
        let analysis = analyse(&Design::of(&plan), &cells, &trials);
        let background = Background { run: Some("RUN"), ..Background::default() };
        let wording = Wording::of(&plan, &background, &analysis);
        let said = Said::of(&wording, &background, &analysis);
        let truth = Truth::new(&plan, &analysis);
        let told = format!(
            "seed {seed}, {:?}, {} blocks:\n{}",
            plan.engines.iter().map(ToString::to_string).collect::<Vec<_>>(),
            plan.replicates,
            said.headline
                .iter()
                .chain(&said.sentences)
                .map(|one| one.text.as_str())
                .collect::<Vec<_>>()
                .join("\n")
        );
        for sentence in said.headline.iter().chain(&said.sentences).chain(&said.of_sweeps) {
            assert_eq!(is_outside(sentence), None, "{}\n{told}", sentence.text);
            for (words, assertion) in &sentence.assertions {
                let holds = truth.holds(assertion, &analysis.sweeps);
                assert!(holds, "{words}: {assertion:?}\n{told}");
                assert!(truth.names_levels(words, assertion), "{words}: {assertion:?}\n{told}");
                kinds.insert(format!("{assertion:?}").split(' ').next().unwrap().to_owned());
            }
        }
        let steps = analysis.throughput.as_ref().map(|one| one.steps.as_slice());
        for assertion in all(&said.of_steps) {
            assert!(truth.holds(assertion, steps.unwrap()), "{assertion:?}\n{told}");
        }
        if truth.has_verdict() {
            truth.is_whole(&said, &told);
        }
        for ranking in super::super::ranking::everywhere(&wording) {
            let ranked = Assertion::Ranked { ranks: ranking.ranks, at: ranking.levels };
            assert!(truth.holds(&ranked, &analysis.sweeps), "{ranked:?}\n{told}");
        }
    }
    if experiments < u64::from(ENOUGH_FOR_EVERY_KIND) {
        return;
    }
    // The experiments are no use where they leave a kind of sentence out.
    let missing: Vec<&str> = [
        "Faster",
        "Equal",
        "Undecided",
        "Leads",
        "LeftOut",
        "NotCompared",
        "Size",
        "Crossing",
        "Count",
        "Fastest",
        "FastestCount",
        "Ranked",
        "Best",
        "BestOpen",
        "UntilCommit",
        "Effect",
        "NoEffect",
        "Interaction",
        "Saturated",
    ]
    .into_iter()
    .filter(|kind| !kinds.contains(*kind))
    .collect();
    assert!(missing.is_empty(), "never said: {missing:?}");
}
