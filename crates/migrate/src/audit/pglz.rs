//! Compressed size of a value in PostgreSQL (`src/common/pg_lzcompress.c`, default strategy): of more
//! than 508 bytes before it enters an index, and inside a row that is too large.

use std::collections::HashMap;

/// Shorter values are left unchanged in an index: a sixteenth of a page.
const LEFT_ALONE_BYTES: usize = 508;
/// Shorter values are never compressed.
const SHORTEST_BYTES: usize = 32;
/// Length and raw size before the compressed bytes.
const HEADER_BYTES: usize = 8;
/// The compressor gives up without a match in this much output.
const FIRST_MATCH_BYTES: usize = 1024;
const FARTHEST: usize = 0x0fff;
const LONGEST_MATCH: usize = 273;
/// Length of a match that ends the search, and its decrease per candidate in percent.
const GOOD_MATCH: usize = 128;
const DROP_PERCENT: usize = 10;

/// The bytes of a value inside an index entry, its header included.
pub fn bytes_in_index(value: &[u8]) -> usize {
    match compressed(value) {
        Some(bytes) if value.len() > LEFT_ALONE_BYTES => HEADER_BYTES + bytes,
        _ => 4 + value.len(),
    }
}

/// The bytes of a value that is compressed inside a row, its header included; `None` if it is not.
pub fn bytes_in_row(value: &[u8]) -> Option<usize> {
    let is_tried = value.len() >= SHORTEST_BYTES;
    compressed(value).filter(|_| is_tried).map(|bytes| HEADER_BYTES + bytes)
}

/// The compressed size; `None` if less than a quarter is saved.
fn compressed(value: &[u8]) -> Option<usize> {
    let most = value.len() * 3 / 4;
    let mask = if value.len() < 1024 { 4095 } else { 8191 };
    let mut history: HashMap<usize, Vec<usize>> = HashMap::new();
    let (mut at, mut bytes, mut items, mut has_match) = (0, 0, 0_usize, false);
    while at < value.len() {
        if bytes >= most || (!has_match && bytes >= FIRST_MATCH_BYTES) {
            return None;
        }
        // A control byte precedes every eight items.
        bytes += usize::from(items.is_multiple_of(8));
        items += 1;
        let length = longest_match(value, at, history.get(&hash(value, at, mask)));
        has_match |= length > 2;
        let (taken, written) = match length {
            0..=2 => (1, 1),
            3..=17 => (length, 2),
            _ => (length, 3),
        };
        bytes += written;
        for place in at..at + taken {
            history.entry(hash(value, place, mask)).or_default().push(place);
        }
        at += taken;
    }
    (bytes < most).then_some(bytes)
}

fn hash(value: &[u8], at: usize, mask: usize) -> usize {
    let byte = |offset: usize| usize::from(value[at + offset]);
    match value.len() - at {
        0..4 => byte(0) & mask,
        _ => ((byte(0) << 6) ^ (byte(1) << 4) ^ (byte(2) << 2) ^ byte(3)) & mask,
    }
}

fn longest_match(value: &[u8], at: usize, places: Option<&Vec<usize>>) -> usize {
    let (mut longest, mut good) = (0, GOOD_MATCH);
    for place in places.into_iter().flatten().rev() {
        if at - place >= FARTHEST || longest >= good {
            break;
        }
        let pairs = value[at..].iter().zip(&value[*place..]).take(LONGEST_MATCH);
        longest = longest.max(pairs.take_while(|(one, other)| one == other).count());
        good -= good * DROP_PERCENT / 100;
    }
    longest
}
