//! One digest over all rows, so that two databases, or two machines, can be compared by a line.

use sha2::{Digest as _, Sha256};

use super::traffic::Fact;
use crate::database::SqlValue;
use crate::schema::Table;

/// SHA-256 over every table's name and rows: integers as 32 bits, little end first; texts in
/// UTF-8 after their length. Facts come last, without any mark between them.
pub struct Digest(Sha256);

impl Digest {
    pub fn new() -> Self {
        Self(Sha256::new())
    }

    pub fn table(&mut self, table: Table) {
        self.text(table.name());
    }

    pub fn row(&mut self, row: &[SqlValue<'_>]) {
        for cell in row {
            match cell {
                SqlValue::Null => self.0.update([0]),
                SqlValue::Integer(number) => {
                    self.0.update([1]);
                    self.0.update((*number as i32).to_le_bytes());
                }
                SqlValue::Text(text) => {
                    self.0.update([2]);
                    self.text(text);
                }
                // No table has any.
                SqlValue::Bytes(_) => {}
            }
        }
    }

    pub fn facts(&mut self, facts: &[Fact]) {
        let bytes: Vec<u8> =
            facts.iter().flat_map(|fact| fact.values()).flat_map(i32::to_le_bytes).collect();
        self.0.update(bytes);
    }

    pub fn finish(self) -> String {
        hex::encode(self.0.finalize())
    }

    fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }
}
