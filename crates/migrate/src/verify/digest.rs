//! Digest of a table that does not depend on the order of its rows: sums of 128-bit hashes, per
//! column and, for whole rows, per bucket of keys. Differing buckets limit the search for differing
//! rows.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::pieces::{Hashes, LARGE_ROW_BYTES, RowPieces};
use super::rows::RowSink;
use super::shape::Shape;
use crate::Error;
use crate::value::canonical;

/// Buckets of keys: few enough to stay in the processor's cache.
pub const BUCKETS: usize = 1 << 14;

pub struct TableDigest {
    pub rows: u64,
    pub columns: Vec<u128>,
    /// Sums of row hashes by bucket of the key.
    pub buckets: Vec<u128>,
}

impl TableDigest {
    /// An empty digest of `columns` columns.
    pub fn empty(columns: usize) -> Self {
        Self { rows: 0, columns: vec![0; columns], buckets: vec![0; BUCKETS] }
    }

    /// Adds the rows of another part of the same table.
    pub fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        for (sum, part) in self.columns.iter_mut().zip(&other.columns) {
            *sum = sum.wrapping_add(*part);
        }
        for (sum, part) in self.buckets.iter_mut().zip(&other.buckets) {
            *sum = sum.wrapping_add(*part);
        }
    }

    pub fn table(&self) -> u128 {
        self.buckets.iter().fold(0, |sum, bucket| sum.wrapping_add(*bucket))
    }
}

/// Takes rows in binary COPY form and adds them to a digest.
pub struct Hasher<'a> {
    shape: &'a Shape,
    pub digest: TableDigest,
    row: CanonicalRow,
}

/// A row with every field in canonical form: length and bytes, as in binary COPY.
#[derive(Default)]
pub struct CanonicalRow {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    key: Vec<u8>,
}

impl CanonicalRow {
    /// Reads the fields of one binary tuple (without its leading field count).
    #[inline]
    pub fn read(&mut self, shape: &Shape, tuple: &[u8]) -> Result<(), Error> {
        self.bytes.clear();
        self.ends.clear();
        let mut rest = tuple;
        for form in &shape.forms {
            let (field, after) = split_field(rest).ok_or_else(malformed)?;
            canonical(*form, &rest[..4], field, &mut self.bytes);
            self.ends.push(self.bytes.len());
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err(malformed()) }
    }

    /// One field: its length and its bytes.
    #[inline]
    pub fn field(&self, position: usize) -> &[u8] {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.bytes[start..self.ends[position]]
    }

    #[inline]
    pub fn key(&mut self, shape: &Shape) -> u64 {
        if shape.key.len() == self.ends.len() {
            return xxh3_64(&self.bytes);
        }
        if let &[only] = shape.key.as_slice() {
            return xxh3_64(self.field(only));
        }
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for &position in &shape.key {
            key.extend_from_slice(self.field(position));
        }
        let hash = xxh3_64(&key);
        self.key = key;
        hash
    }

    pub fn hash(&self) -> u128 {
        xxh3_128(&self.bytes)
    }
}

pub fn bucket(key: u64) -> usize {
    key as usize % BUCKETS
}

impl<'a> Hasher<'a> {
    pub fn new(shape: &'a Shape) -> Self {
        let digest = TableDigest::empty(shape.forms.len());
        Self { shape, digest, row: CanonicalRow::default() }
    }

    #[inline]
    pub fn add(&mut self, tuple: &[u8]) -> Result<(), Error> {
        if tuple.len() >= LARGE_ROW_BYTES {
            return self.add_large(tuple);
        }
        self.row.read(self.shape, tuple)?;
        for (position, sum) in self.digest.columns.iter_mut().enumerate() {
            *sum = sum.wrapping_add(xxh3_128(self.row.field(position)));
        }
        let key = self.row.key(self.shape);
        let sum = &mut self.digest.buckets[bucket(key)];
        *sum = sum.wrapping_add(self.row.hash());
        self.digest.rows += 1;
        Ok(())
    }

    fn add_large(&mut self, tuple: &[u8]) -> Result<(), Error> {
        let mut pieces = RowPieces::new(self.shape);
        let mut rest = tuple;
        for _ in &self.shape.forms {
            let (field, after) = split_field(rest).ok_or_else(malformed)?;
            pieces.add(&rest[..4], field);
            rest = after;
        }
        if !rest.is_empty() {
            return Err(malformed());
        }
        self.add_hashes(pieces.hashes());
        Ok(())
    }

    fn add_hashes(&mut self, hashes: Hashes) {
        for (sum, hash) in self.digest.columns.iter_mut().zip(hashes.columns) {
            *sum = sum.wrapping_add(hash);
        }
        let sum = &mut self.digest.buckets[bucket(hashes.key)];
        *sum = sum.wrapping_add(hashes.row);
        self.digest.rows += 1;
    }
}

impl RowSink for Hasher<'_> {
    #[inline]
    fn tuple(&mut self, tuple: &[u8]) -> Result<(), Error> {
        self.add(tuple)
    }

    fn pieces(&self) -> Option<RowPieces> {
        Some(RowPieces::new(self.shape))
    }

    fn take_pieces(&mut self, pieces: RowPieces) {
        self.add_hashes(pieces.hashes());
    }
}

/// The fields of a tuple, each with its length in front.
pub fn fields(tuple: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = tuple;
    std::iter::from_fn(move || {
        let (_, after) = split_field(rest)?;
        let (field, after) = rest.split_at(rest.len() - after.len());
        rest = after;
        Some(field)
    })
}

/// The first field of a tuple (`None` inside for NULL) and what follows.
fn split_field(tuple: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (length, rest) = tuple.split_first_chunk::<4>()?;
    match i32::from_be_bytes(*length) {
        -1 => Some((None, rest)),
        length => {
            let (field, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some((Some(field), rest))
        }
    }
}

fn malformed() -> Error {
    Error::Worker("a row of unexpected shape".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Canonical;

    #[test]
    fn a_row_in_pieces_has_the_hashes_of_a_whole_one() {
        let field = |bytes: &[u8]| [&(bytes.len() as i32).to_be_bytes(), bytes].concat();
        let null = (-1_i32).to_be_bytes().to_vec();
        let tuple = [field(b"key"), field(&[7; 1000]), null, field(b"blanks  ")].concat();
        let (same, blanks) = (Canonical::Same, Canonical::Blanks);
        for key in [vec![0], vec![3, 0], vec![0, 1, 2, 3], vec![1]] {
            let shape = Shape { forms: vec![same, same, same, blanks], key };
            let (mut whole, mut pieces) = (Hasher::new(&shape), Hasher::new(&shape));
            whole.add(&tuple).unwrap();
            pieces.add_large(&tuple).unwrap();
            assert_eq!(whole.digest.columns, pieces.digest.columns);
            assert_eq!(whole.digest.buckets, pieces.digest.buckets, "{:?}", shape.key);
        }
    }
}
