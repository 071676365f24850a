//! Incremental hash of a large row, fed from where it is stored, so that no copy of it is made. Its
//! hashes are those of a row in one piece.

use rusqlite::types::ValueRef;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::shape::Shape;
use crate::value::{Canonical, Conversions, FieldSink, TargetField, Unfit, canonical, encode};

pub const LARGE_ROW_BYTES: usize = 8 << 20;

pub struct RowPieces {
    shape: Shape,
    row: Box<Xxh3>,
    field: Box<Xxh3>,
    /// Hashes of the fields that have ended.
    columns: Vec<u128>,
    /// The key's fields, unless all fields are the key.
    key: Vec<Vec<u8>>,
}

pub struct Hashes {
    pub columns: Vec<u128>,
    pub key: u64,
    pub row: u128,
}

impl FieldSink for RowPieces {
    fn put(&mut self, bytes: &[u8]) {
        self.row.update(bytes);
        self.field.update(bytes);
        let place = self.shape.key.iter().position(|place| *place == self.columns.len());
        if let Some(field) = place.and_then(|place| self.key.get_mut(place)) {
            field.extend_from_slice(bytes);
        }
    }
}

impl RowPieces {
    pub fn new(shape: &Shape) -> Self {
        let is_whole = shape.key.len() == shape.forms.len();
        let key = if is_whole { Vec::new() } else { vec![Vec::new(); shape.key.len()] };
        let (row, field) = (Box::new(Xxh3::new()), Box::new(Xxh3::new()));
        Self { shape: shape.clone(), row, field, columns: Vec::new(), key }
    }

    /// Adds the next field as the source has it.
    pub fn add_stored(
        &mut self,
        field: &TargetField,
        value: ValueRef<'_>,
    ) -> Result<Conversions, Unfit> {
        if self.form() == Canonical::Same {
            let conversions = encode(field, value, self)?;
            self.end_field();
            return Ok(conversions);
        }
        let mut encoded = Vec::new();
        let conversions = encode(field, value, &mut encoded)?;
        let (length, bytes) = encoded.split_at(4);
        let is_null = i32::from_be_bytes(length.try_into().unwrap_or_default()) < 0;
        self.add(length, (!is_null).then_some(bytes));
        Ok(conversions)
    }

    /// Adds the next field, its length and bytes, as the target sends it.
    pub fn add(&mut self, length: &[u8], bytes: Option<&[u8]>) {
        match (self.form(), bytes) {
            (Canonical::Same, Some(bytes)) => {
                self.put(length);
                self.put(bytes);
            }
            (form, bytes) => {
                let mut one_form = Vec::new();
                canonical(form, length, bytes, &mut one_form);
                self.put(&one_form);
            }
        }
        self.end_field();
    }

    fn form(&self) -> Canonical {
        self.shape.forms.get(self.columns.len()).copied().unwrap_or(Canonical::Same)
    }

    fn end_field(&mut self) {
        self.columns.push(self.field.digest128());
        self.field.reset();
    }

    pub fn hashes(self) -> Hashes {
        let is_whole = self.shape.key.len() == self.shape.forms.len();
        let key = if is_whole { self.row.digest() } else { xxh3_64(&self.key.concat()) };
        Hashes { columns: self.columns, key, row: self.row.digest128() }
    }
}
