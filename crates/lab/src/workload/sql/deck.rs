//! The sets of parameter values that a statement is executed with: drawn once from the run's seed,
//! the same for every engine, and dealt to the clients in an order that is the same too.

use std::collections::BTreeMap;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng};
use serde::{Deserialize, Serialize};

use super::value::AnswerValue;
use plan::Levels;
use plan::derive_seed;
use plan::{Given, Parameter, Placeholders, PlanError, Statement};

/// Distinguishes these seeds from those of orders and arrivals.
const DRAWS: u64 = u64::MAX - 1;
const DEALS: u64 = u64::MAX - 2;

/// Where the values of one parameter, or of several that belong together, come from; the plan's queries
/// answered.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Source {
    Range(i64, i64),
    Values(Vec<AnswerValue>),
    /// The plan's own sets of values.
    Sets(Vec<Vec<AnswerValue>>),
}

impl Source {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Range(first, last) => last.abs_diff(*first).saturating_add(1),
            Self::Values(values) => values.len() as u64,
            Self::Sets(sets) => sets.len() as u64,
        }
    }

    /// Each of its values once.
    pub(super) fn distinct(self) -> Self {
        match self {
            Self::Values(mut values) => {
                values.sort_by(AnswerValue::order);
                values.dedup();
                Self::Values(values)
            }
            other @ (Self::Range(..) | Self::Sets(_)) => other,
        }
    }

    /// Adds its value, or its set of values, of this number.
    pub(super) fn put(&self, number: u64, values: &mut Vec<AnswerValue>) {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        match self {
            Self::Range(first, _) => {
                values.push(AnswerValue::Integer(first.saturating_add_unsigned(number)));
            }
            Self::Values(own) => values.push(own.get(index).cloned().unwrap_or(AnswerValue::Null)),
            Self::Sets(sets) => values.extend(sets.get(index).into_iter().flatten().cloned()),
        }
    }
}

/// The names of the values that a statement may bind: its own parameters, then what the plan
/// fills in everywhere. The order is that of the drawn values.
pub(crate) fn names(statement: &Statement, placeholders: &Placeholders) -> Vec<String> {
    let own: Vec<&String> = statement.value_names().collect();
    let filled = placeholders.keys().filter(|name| !own.contains(name));
    own.iter().copied().chain(filled).cloned().collect()
}

/// A value of the plan's own, by its text.
fn filled_in(name: &str, text: &str, levels: &Levels) -> AnswerValue {
    match levels.get(name) {
        Some(level) => AnswerValue::from(level),
        None => {
            text.parse().map_or_else(|_| AnswerValue::Text(text.to_owned()), AnswerValue::Integer)
        }
    }
}

/// Where the values of [`names`] come from, in their order. `query` answers the plan's queries with the
/// first column, in any order.
pub(crate) fn sources<E: From<PlanError>>(
    statement: &Statement,
    placeholders: &Placeholders,
    levels: &Levels,
    mut query: impl FnMut(&str) -> Result<Vec<AnswerValue>, E>,
) -> Result<Vec<Source>, E> {
    let mut sources = Vec::new();
    for (name, parameter) in &statement.parameters {
        sources.push(match parameter {
            Parameter::Range { range: [first, last] } => Source::Range(*first, *last),
            Parameter::List { list } => {
                Source::Values(list.iter().map(AnswerValue::from).collect())
            }
            Parameter::Query { query: text } => {
                let mut values = query(text)?;
                if values.is_empty() {
                    let message =
                        format!("{}: the query of parameter {name} has no rows", statement.name);
                    return Err(PlanError::impossible("statement.parameters", message).into());
                }
                // An engine may return them in any order; the draws must not depend on it.
                values.sort_by(AnswerValue::order);
                Source::Values(values)
            }
        });
    }
    if !statement.sets.is_empty() {
        let set = |set: &BTreeMap<String, Given>| set.values().map(AnswerValue::from).collect();
        sources.push(Source::Sets(statement.sets.iter().map(set).collect()));
    }
    let is_own = |name: &String| statement.value_names().any(|own| own == name);
    let filled = placeholders.iter().filter(|(name, _)| !is_own(name));
    for (name, text) in filled {
        sources.push(Source::Values(vec![filled_in(name, text, levels)]));
    }
    Ok(sources)
}

/// The number of sets to draw: all of the plan's own, if these are more.
pub(crate) fn draws(statement: &Statement) -> u32 {
    u32::try_from(statement.sets.len()).unwrap_or(u32::MAX).max(statement.draws)
}

/// Every combination of values where there are no more than `draws`; otherwise `draws` random ones.
pub(crate) fn draw(
    sources: &[Source],
    draws: u32,
    seed: u64,
    operation: usize,
) -> Vec<Vec<AnswerValue>> {
    let combinations = sources.iter().map(Source::len).fold(1u64, u64::saturating_mul);
    if combinations <= u64::from(draws) {
        let combination = |mut number: u64| {
            let mut values = Vec::new();
            for source in sources {
                source.put(number % source.len(), &mut values);
                number /= source.len();
            }
            values
        };
        return (0..combinations).map(combination).collect();
    }
    let seed = derive_seed(seed, &[DRAWS, operation as u64]);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let set = |_| {
        let mut values = Vec::new();
        for source in sources {
            source.put(random.random_range(0..source.len()), &mut values);
        }
        values
    };
    (0..draws).map(set).collect()
}

/// One client's way through the decks: the same in every trial and on every engine.
pub(crate) struct Dealer {
    random: Xoshiro256PlusPlus,
}

impl Dealer {
    pub(crate) fn new(seed: u64, client: u16) -> Self {
        let seed = derive_seed(seed, &[DEALS, client.into()]);
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The index of the next set in a deck of `length`.
    pub(crate) fn deal(&mut self, length: usize) -> usize {
        if length < 2 { 0 } else { self.random.random_range(0..length) }
    }
}

/// How a set of values is written in messages: `id = 7, day = "2021-01-01"`; only the statement's own.
pub(crate) fn shown(statement: &Statement, names: &[String], values: &[AnswerValue]) -> String {
    let own: Vec<&String> = statement.value_names().collect();
    let pairs = names.iter().zip(values).filter(|(name, _)| own.contains(name));
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name} = {value}")).collect();
    if pairs.is_empty() { String::new() } else { format!(" with {}", pairs.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_taken_whole_if_few_and_drawn_if_many() {
        let few =
            [Source::Range(1, 3), Source::Values(vec![AnswerValue::Null, AnswerValue::text("x")])];
        let deck = draw(&few, 6, 1, 0);
        assert_eq!(deck.len(), 6);
        assert!(deck.iter().enumerate().all(|(at, set)| !deck[..at].contains(set)));

        let many = [Source::Range(i64::MIN, i64::MAX), Source::Range(1, 1_000)];
        let deck = draw(&many, 100, 7, 0);
        assert_eq!(deck.len(), 100);
        assert_eq!(deck, draw(&many, 100, 7, 0));
        assert_ne!(deck, draw(&many, 100, 8, 0));
        assert_ne!(deck, draw(&many, 100, 7, 1));
        assert_eq!(draw(&[], 10, 1, 0), [Vec::<AnswerValue>::new()]);
    }

    #[test]
    fn a_range_is_drawn_evenly_with_both_ends() {
        let deck = draw(&[Source::Range(1, 10), Source::Range(0, 999_999)], 20_000, 3, 0);
        for number in 1..=10 {
            let count = deck.iter().filter(|set| set[0] == AnswerValue::Integer(number)).count();
            // 2,000 expected, a standard deviation of 42.
            assert!((1_800..=2_200).contains(&count), "{number}: {count}");
        }
    }

    #[test]
    fn a_query_gives_the_same_values_in_any_row_order() {
        let mut statement = Statement { name: "a".to_owned(), ..Statement::default() };
        let query = Parameter::Query { query: "SELECT id FROM t".to_owned() };
        statement.parameters.insert("id".to_owned(), query);
        let drawn = |answer: [i64; 3]| {
            let answer: Vec<AnswerValue> = answer.into_iter().map(AnswerValue::Integer).collect();
            let none = (Placeholders::new(), Levels::new());
            let made = sources::<PlanError>(&statement, &none.0, &none.1, |_| Ok(answer.clone()));
            draw(&made.unwrap(), 10, 1, 0)
        };
        assert_eq!(drawn([3, 1, 2]), drawn([2, 3, 1]));
        let none = (Placeholders::new(), Levels::new());
        let empty = sources::<PlanError>(&statement, &none.0, &none.1, |_| Ok(Vec::new()));
        assert!(empty.err().unwrap().to_string().contains("parameter id has no rows"));
    }
}
