//! The values of one client's statements.

use super::program::{Call, Program};
use crate::random::Random;
use crate::row::{
    TOWNS, append_c, append_line, append_pad, append_variable_body, append_variable_name,
    postal_code,
};
use crate::statement::{Draw, ExecutedStatement as _, RANGE_ROWS};
use crate::words::append_town;
use plan::oltp::MixStatement;

/// Which of the seed's sequences are clients': those of rows begin with a table's number.
const OF_CLIENT: u64 = u64::MAX;

/// A value of a parameter; a text lies in its [`Arguments`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument<'a> {
    Number(i64),
    Text(&'a [u8]),
}

/// The values of one execution; kept for its memory.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    values: Vec<DrawnValue>,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum DrawnValue {
    Number(i64),
    /// Where it begins and ends.
    Text(usize, usize),
}

impl Arguments {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Argument<'_>> + Clone {
        self.values.iter().map(move |value| match *value {
            DrawnValue::Number(number) => Argument::Number(number),
            DrawnValue::Text(start, end) => {
                Argument::Text(self.text.get(start..end).unwrap_or_default())
            }
        })
    }

    fn clear(&mut self) {
        self.values.clear();
        self.text.clear();
    }

    fn number(&mut self, number: u64) {
        // Keys have 32 bits, and those that an engine chose are near them.
        self.values.push(DrawnValue::Number(i64::try_from(number).unwrap_or(i64::MAX)));
    }

    fn text(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        self.values.push(DrawnValue::Text(start, self.text.len()));
    }
}

/// State that a client draws from: small, so that it can be put back to where a transaction began.
#[derive(Clone, Debug)]
struct DrawState {
    random: Random,
    /// From 1.
    table: u32,
    key: u64,
    k: u64,
    town: u64,
    /// Rows that this client has asked to delete, oldest first.
    deleted: u64,
}

#[derive(Debug)]
pub(crate) struct Drawer {
    client: u16,
    now: DrawState,
    at_begin: DrawState,
}

impl Drawer {
    pub(crate) fn new(program: &Program, client: u16) -> Self {
        let random = Random::new(program.seed, [OF_CLIENT, u64::from(client), 0]);
        let now = DrawState { random, table: 1, key: 1, k: 1, town: 0, deleted: 0 };
        Self { client, at_begin: now.clone(), now }
    }

    pub(crate) fn begin(&mut self) {
        self.at_begin.clone_from(&self.now);
    }

    /// It begins again, with the same values.
    pub(crate) fn begin_again(&mut self) {
        self.now.clone_from(&self.at_begin);
    }

    /// Draws the values of a call; its table, from 1.
    pub(crate) fn draw(&mut self, program: &Program, call: Call, out: &mut Arguments) -> u32 {
        let tables = u64::from(program.tables);
        if call.statement == MixStatement::DeleteOldest {
            // In turn, each client from another table on, so that no row of any is left out.
            self.now.table = 1 + ((u64::from(self.client) + self.now.deleted) % tables) as u32;
        } else if call.draws_table && tables > 1 {
            self.now.table = 1 + self.now.random.below(tables) as u32;
        }
        out.clear();
        for draw in call.statement.draws() {
            self.one(program, *draw, out);
        }
        self.now.table
    }

    fn one(&mut self, program: &Program, draw: Draw, out: &mut Arguments) {
        let set = program.options.character_set;
        let DrawState { random, table, key, k, town, deleted } = &mut self.now;
        match draw {
            Draw::Key => {
                *key = u64::from(program.keys.draw(random));
                out.number(*key);
            }
            Draw::SameKey => out.number(*key),
            Draw::RangeEnd => out.number(*key + u64::from(RANGE_ROWS) - 1),
            Draw::K => {
                *k = u64::from(program.keys.draw(random));
                out.number(*k);
            }
            Draw::KEnd => out.number(*k + u64::from(RANGE_ROWS) - 1),
            Draw::C => out.text(|text| append_c(random, text)),
            Draw::Pad => out.text(|text| append_pad(random, text)),
            Draw::PadOfKey => {
                let rows = program.rows.get(*table as usize - 1);
                out.text(|text| rows.into_iter().for_each(|rows| rows.append_pad(*key, text)));
            }
            Draw::Customer => out.number(u64::from(program.customers.draw(random))),
            Draw::Town => {
                *town = random.below(TOWNS);
                out.text(|text| append_town(*town, text));
            }
            Draw::PostalCode => out.number(postal_code(*town)),
            Draw::VariableName => out.text(|text| append_variable_name(random, text)),
            Draw::VariableBody => out.text(|text| append_variable_body(random, text)),
            Draw::Oldest => {
                let oldest = program.oldest.get(*table as usize - 1).copied().unwrap_or(1);
                let before = *deleted / u64::from(program.tables) * u64::from(program.clients);
                out.number(oldest + before + u64::from(self.client));
                *deleted += 1;
            }
            Draw::Line => out.text(|text| append_line(set, random, text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::OltpLoadOptions;
    use plan::oltp::{Mix, TableOptions};

    fn transaction(drawer: &mut Drawer, program: &Program) -> Vec<String> {
        let mut arguments = Arguments::default();
        let mut drawn = Vec::new();
        for call in &program.calls {
            let table = drawer.draw(program, *call, &mut arguments);
            drawn.extend(arguments.iter().map(|value| format!("{table} {value:?}")));
        }
        drawn
    }

    fn program(mix: Mix, tables: u32) -> Program {
        let tables = TableOptions { tables, table_size: 1_000, ..TableOptions::default() };
        let oldest = vec![1; tables.tables as usize];
        Program::new(&tables, &OltpLoadOptions::new(mix, 2, Duration::from_secs(1)), oldest)
    }

    #[test]
    fn a_retry_draws_the_same_and_the_next_transaction_does_not() {
        for mix in Mix::ALL.iter().copied() {
            let program = program(mix, 1);
            let mut drawer = Drawer::new(&program, 0);
            drawer.begin();
            let first = transaction(&mut drawer, &program);
            drawer.begin_again();
            assert_eq!(transaction(&mut drawer, &program), first, "{mix}");
            drawer.begin();
            assert_ne!(transaction(&mut drawer, &program), first, "{mix}");
        }
    }

    #[test]
    fn a_row_comes_back_into_its_table_with_its_key_and_its_pad() {
        let program = program(Mix::WriteOnly, 4);
        let mut drawer = Drawer::new(&program, 1);
        let mut arguments = Arguments::default();
        for _ in 0..20 {
            drawer.begin();
            let mut deleted = None;
            for call in &program.calls {
                let table = drawer.draw(&program, *call, &mut arguments);
                let values: Vec<Argument<'_>> = arguments.iter().collect();
                match (call.statement, values.as_slice()) {
                    (MixStatement::Delete, [Argument::Number(key)]) => {
                        deleted = Some((table, *key));
                    }
                    (
                        MixStatement::InsertAgain,
                        [Argument::Number(key), _, _, Argument::Text(pad)],
                    ) => {
                        assert_eq!(deleted, Some((table, *key)));
                        let mut expected = Vec::new();
                        program.rows[table as usize - 1].append_pad(*key as u64, &mut expected);
                        assert_eq!(*pad, expected);
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn churn_deletes_every_row_of_every_table_once_oldest_first() {
        for tables in [1, 3] {
            let program = program(Mix::Churn, tables);
            let mut deleted = vec![Vec::new(); tables as usize];
            for client in 0..2 {
                let mut drawer = Drawer::new(&program, client);
                let mut arguments = Arguments::default();
                // Two rows by each transaction, one of each table in three rows.
                for call in std::iter::repeat_n(&program.calls, 3 * tables as usize).flatten() {
                    let table = drawer.draw(&program, *call, &mut arguments);
                    if let (MixStatement::DeleteOldest, Some(Argument::Number(key))) =
                        (call.statement, arguments.iter().next())
                    {
                        deleted[table as usize - 1].push(key);
                    }
                }
            }
            for mut keys in deleted {
                keys.sort_unstable();
                assert_eq!(keys, (1..=12).collect::<Vec<i64>>());
            }
        }
    }
}
