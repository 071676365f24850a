//! A mix as the flat list of calls that one transaction makes, and what all clients share in
//! drawing their values.

use crate::OltpLoadOptions;
use crate::distribution::Keys;
use crate::row::{Rows, customers};
use crate::statement::{EngineDialect, ExecutedStatement as _};
use plan::oltp::{Mix, MixStatement, TableOptions};

/// One statement of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub statement: MixStatement,
    /// Its place among the program's statements.
    pub slot: usize,
    /// Whether another table is drawn before it.
    pub draws_table: bool,
}

/// Statements that every client of a load executes.
pub(crate) struct Program {
    pub calls: Vec<Call>,
    pub statements: Vec<MixStatement>,
    /// Whether a transaction must be rolled back after a refusal.
    pub has_transaction: bool,
    pub writes: bool,
    pub tables: u32,
    pub clients: u16,
    pub seed: u64,
    /// The lowest key of each table, from which churn deletes; none for other mixes.
    pub oldest: Vec<u64>,
    pub keys: Keys,
    pub customers: Keys,
    /// By table, for the texts that a row was filled with.
    pub rows: Vec<Rows>,
    pub options: OltpLoadOptions,
}

impl Program {
    pub(crate) fn new(tables: &TableOptions, options: &OltpLoadOptions, oldest: Vec<u64>) -> Self {
        let (calls, statements) = calls(options.mix);
        let set = options.character_set;
        Self {
            calls,
            statements,
            has_transaction: options.mix.has_transaction(),
            writes: options.mix.writes(),
            tables: tables.tables,
            clients: options.clients,
            seed: options.seed,
            oldest,
            keys: Keys::new(options.distribution, tables.table_size),
            customers: Keys::new(options.distribution, customers(tables.table_size)),
            rows: (1..=u64::from(tables.tables)).map(|t| Rows::new(tables, t, set)).collect(),
            options: options.clone(),
        }
    }

    /// The text of every prepared statement: by slot, then by table.
    pub(crate) fn texts(&self, dialect: EngineDialect) -> Vec<(MixStatement, String)> {
        let tables = self.tables;
        let of = |statement: &MixStatement| {
            let statement = *statement;
            (1..=tables).map(move |table| (statement, statement.sql(dialect, table, self.writes)))
        };
        self.statements.iter().flat_map(of).collect()
    }

    /// Where [`Program::texts`] has the statement of a call on a table, from 1.
    pub(crate) fn place(&self, call: Call, table: u32) -> usize {
        call.slot * self.tables as usize + (table - 1) as usize
    }
}

fn calls(mix: Mix) -> (Vec<Call>, Vec<MixStatement>) {
    let mut sequence = Vec::new();
    for step in mix.steps() {
        for turn in 0..step.times {
            sequence.push((step.statement, turn == 0 && !step.statement.stays_on_table()));
        }
    }
    if mix.has_transaction() {
        sequence.insert(0, (MixStatement::Begin, false));
        sequence.push((MixStatement::Commit, false));
    }
    let mut statements: Vec<MixStatement> = Vec::new();
    let mut calls = Vec::with_capacity(sequence.len());
    for (statement, draws_table) in sequence {
        let slot = statements.iter().position(|known| *known == statement).unwrap_or_else(|| {
            statements.push(statement);
            statements.len() - 1
        });
        calls.push(Call { statement, slot, draws_table });
    }
    (calls, statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_selects_share_a_table_and_an_insert_follows_its_delete() {
        let (calls, statements) = calls(Mix::ReadWrite);
        assert_eq!(calls.len() as u64, Mix::ReadWrite.statements());
        assert_eq!(statements.len(), 11);
        let drawn: Vec<_> = calls.iter().filter(|call| call.draws_table).collect();
        assert_eq!(drawn.len(), 8);
        let again = calls.iter().find(|call| call.statement == MixStatement::InsertAgain).unwrap();
        assert!(!again.draws_table);
        assert_eq!(calls.first().unwrap().statement, MixStatement::Begin);
        assert_eq!(calls.last().unwrap().statement, MixStatement::Commit);
    }
}
