//! The rows that tables are filled with. Each is made from the seed, its table and its key alone,
//! by integer arithmetic, so that any of them can be made again to be compared.

use crate::distribution::Keys;
use crate::random::Random;
use crate::words::{append_town, append_words};
use plan::oltp::{CharacterSet, Distribution, TableOptions};

/// Orders of a customer, and items of an order, on average.
pub(crate) const ORDERS_PER_CUSTOMER: u32 = 10;
pub(crate) const ITEMS_PER_ORDER: u32 = 4;
/// Towns, each with a postal code of its own.
pub(crate) const TOWNS: u64 = 100;

const C_GROUPS: usize = 10;
const PAD_GROUPS: usize = 5;
const GROUP_DIGITS: usize = 11;

/// The lengths of [`plan::oltp::Schema::Variable`]: at least, at most, in characters.
const NAME_LENGTHS: (u64, u64) = (3, 250);
const BODY_LENGTHS: (u64, u64) = (32, 32_768);

/// The fields of a row as text, one after the other; kept for its memory.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Fields {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    fn push_number(&mut self, number: u64) {
        self.push(|out| append_number(number, out));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges.map(move |(start, end)| self.text.get(start..*end).unwrap_or_default())
    }
}

/// Makes the rows of one table.
pub(crate) struct Rows {
    seed: u64,
    /// Sets rows of one table apart from those of another.
    table: u64,
    keys: Keys,
    table_size: u32,
    set: CharacterSet,
}

/// Which values of a row are drawn apart from the others.
const OF_ROW: u64 = 0;
const OF_PAD: u64 = 1;

impl Rows {
    /// Of table `table`, its texts in `set` as sent.
    pub(crate) fn new(options: &TableOptions, table: u64, set: CharacterSet) -> Self {
        Self {
            seed: options.seed,
            table,
            keys: Keys::new(Distribution::Special, options.table_size),
            table_size: options.table_size,
            set,
        }
    }

    fn random(&self, key: u64, what: u64) -> Random {
        Random::new(self.seed, [self.table, key, what])
    }

    /// id, k, c, pad. k is drawn as sysbench draws it when nothing is asked for: special.
    pub(crate) fn sbtest(&self, key: u64, fields: &mut Fields) {
        let mut random = self.random(key, OF_ROW);
        fields.push_number(key);
        fields.push_number(u64::from(self.keys.draw(&mut random)));
        fields.push(|out| append_c(&mut random, out));
        fields.push(|out| self.append_pad(key, out));
    }

    /// The `pad` of a row.
    pub(crate) fn append_pad(&self, key: u64, out: &mut Vec<u8>) {
        append_pad(&mut self.random(key, OF_PAD), out);
    }

    pub(crate) fn customer(&self, key: u64, fields: &mut Fields) {
        let mut random = self.random(key, OF_ROW);
        let town = random.below(TOWNS);
        fields.push_number(key);
        fields.push(|out| append_words(2, CharacterSet::Utf8, &mut random, out));
        fields.push(|out| append_town(town, out));
        fields.push_number(postal_code(town));
    }

    pub(crate) fn order(&self, key: u64, fields: &mut Fields) {
        let mut random = self.random(key, OF_ROW);
        fields.push_number(key);
        fields.push_number(1 + random.below(u64::from(customers(self.table_size))));
        fields.push_number(random.below(3_650));
    }

    /// id, order_id, product, quantity, price_cents.
    pub(crate) fn item(&self, key: u64, fields: &mut Fields) {
        let mut random = self.random(key, OF_ROW);
        fields.push_number(key);
        fields.push_number(1 + (key - 1) / u64::from(ITEMS_PER_ORDER));
        fields.push_number(1 + random.below(10_000));
        fields.push_number(1 + random.below(9));
        fields.push_number(99 + random.below(100_000));
    }

    pub(crate) fn variable(&self, key: u64, fields: &mut Fields) {
        let mut random = self.random(key, OF_ROW);
        fields.push_number(key);
        fields.push(|out| append_variable_name(&mut random, out));
        fields.push(|out| append_variable_body(&mut random, out));
    }

    pub(crate) fn text(&self, key: u64, fields: &mut Fields) {
        let mut random = self.random(key, OF_ROW);
        fields.push_number(key);
        fields.push(|out| append_words(3, self.set, &mut random, out));
        fields.push(|out| append_line(self.set, &mut random, out));
    }
}

/// Customers for this many orders.
pub(crate) fn customers(orders: u32) -> u32 {
    orders.div_ceil(ORDERS_PER_CUSTOMER)
}

/// The postal code of a town.
pub(crate) fn postal_code(town: u64) -> u64 {
    1_000 + town * 83
}

/// 119 characters: ten groups of eleven digits.
pub(crate) fn append_c(random: &mut Random, out: &mut Vec<u8>) {
    append_groups(C_GROUPS, random, out);
}

/// 59 characters: five groups of eleven digits.
pub(crate) fn append_pad(random: &mut Random, out: &mut Vec<u8>) {
    append_groups(PAD_GROUPS, random, out);
}

/// A short text, most of them very short.
pub(crate) fn append_variable_name(random: &mut Random, out: &mut Vec<u8>) {
    append_letters(skewed(NAME_LENGTHS, random), random, out);
}

/// A text, most of them short, a few of several pages.
pub(crate) fn append_variable_body(random: &mut Random, out: &mut Vec<u8>) {
    append_letters(skewed(BODY_LENGTHS, random), random, out);
}

pub(crate) fn append_line(set: CharacterSet, random: &mut Random, out: &mut Vec<u8>) {
    append_words(5 + random.below(16), set, random, out);
}

pub(crate) fn append_number(number: u64, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut rest = number;
    let mut used = 0;
    for place in digits.iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
        used += 1;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(20 - used..).unwrap_or_default());
}

fn append_groups(groups: usize, random: &mut Random, out: &mut Vec<u8>) {
    for group in 0..groups {
        if group > 0 {
            out.push(b'-');
        }
        let mut rest = random.next();
        let mut digits = [0; GROUP_DIGITS];
        for digit in &mut digits {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        out.extend_from_slice(&digits);
    }
}

/// Twice as long has two fifths of the chance (a Pareto tail of 1.3), by integers alone.
fn skewed((least, most): (u64, u64), random: &mut Random) -> u64 {
    let mut length = least;
    while length < most && random.below(5) < 2 {
        length *= 2;
    }
    (length + random.below(length)).min(most)
}

fn append_letters(count: u64, random: &mut Random, out: &mut Vec<u8>) {
    let mut left = count;
    while left > 0 {
        // Eight letters or blanks of five bits each.
        let mut bits = random.next();
        for _ in 0..left.min(8) {
            let letter = (bits % 27) as u8;
            out.push(if letter == 26 { b' ' } else { b'a' + letter });
            bits /= 27;
        }
        left -= left.min(8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_patterns_of_sysbench() {
        let mut random = Random::new(1, [0, 0, 0]);
        let (mut c, mut pad) = (Vec::new(), Vec::new());
        append_c(&mut random, &mut c);
        append_pad(&mut random, &mut pad);
        assert_eq!((c.len(), pad.len()), (119, 59));
        for text in [c, pad] {
            let groups: Vec<&[u8]> = text.split(|byte| *byte == b'-').collect();
            assert!(groups.iter().all(|group| group.len() == 11));
            assert!(groups.iter().all(|group| group.iter().all(u8::is_ascii_digit)));
        }
    }

    #[test]
    fn a_row_is_the_same_in_every_run_and_differs_from_the_others() {
        let options = TableOptions { table_size: 1_000, ..TableOptions::default() };
        let row = |table, key| {
            let mut fields = Fields::default();
            Rows::new(&options, table, CharacterSet::Utf8).sbtest(key, &mut fields);
            fields.iter().map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        assert_eq!(row(1, 5), row(1, 5));
        assert_ne!(row(1, 5)[2], row(1, 6)[2]);
        assert_ne!(row(1, 5)[2], row(2, 5)[2]);
        let mut pad = Vec::new();
        Rows::new(&options, 1, CharacterSet::Utf8).append_pad(5, &mut pad);
        assert_eq!(row(1, 5)[3], pad);
        assert_eq!(row(1, 5)[0], b"5");
    }

    #[test]
    fn lengths_are_skewed() {
        let mut random = Random::new(1, [0, 0, 0]);
        let mut lengths: Vec<u64> =
            (0..20_000).map(|_| skewed(BODY_LENGTHS, &mut random)).collect();
        lengths.sort_unstable();
        let (median, longest) = (lengths[10_000], lengths[19_999]);
        assert!(median < 100 && longest > 8_192, "{median}, {longest}");
        assert!(lengths[0] >= 32 && longest <= 32_768);
    }

    #[test]
    fn numbers_are_written_as_usual() {
        for number in [0, 9, 10, 1_000_000, u64::MAX] {
            let mut text = Vec::new();
            append_number(number, &mut text);
            assert_eq!(text, number.to_string().as_bytes());
        }
    }
}
