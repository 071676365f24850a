//! Pages: the totals of one span of days, packed into one value of the database. They are sorted by
//! key, each number in as few bytes as it needs: six for a fact, against twenty as a row of a
//! table. Read from front to back, a page costs some nanoseconds for each total.
//!
//! A page is a byte that says whether totals are counted, then groups. A group is the first part of
//! the key (its difference to that of the group before), the number of totals, and each of them. A
//! total is the second part of the key (its difference to the one before), the number of facts
//! unless it is always one, and the sums. All are varints (base 128, least part first); what may be negative is
//! zigzag-coded.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TotalSums {
    /// The number of facts; a total has at least one.
    pub facts: i64,
    /// Page views, sessions, seconds.
    pub metrics: [i64; 3],
}

impl TotalSums {
    #[inline]
    pub fn add(&mut self, other: &Self, sign: i64) {
        self.facts += sign * other.facts;
        for (sum, other) in self.metrics.iter_mut().zip(other.metrics) {
            *sum += sign * other;
        }
    }
}

/// One total: what it is for, by two ids, and its sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageEntry {
    pub key: (i32, i32),
    pub sums: TotalSums,
}

/// The page is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

/// Every total is one fact.
const FACTS: u8 = 1;
/// Totals have the number of their facts.
const COUNTED: u8 = 2;

/// The page of these totals, which are sorted by their keys and have each key once.
pub(crate) fn encode(entries: &[PageEntry]) -> Vec<u8> {
    let counted = entries.iter().any(|entry| entry.sums.facts != 1);
    let mut page = Vec::with_capacity(entries.len() * 6 + 1);
    page.push(if counted { COUNTED } else { FACTS });
    let mut before = 0;
    for group in entries.chunk_by(|one, other| one.key.0 == other.key.0) {
        let first = group.first().map_or(0, |entry| i64::from(entry.key.0));
        write(&mut page, zigzag(first - before));
        write(&mut page, group.len() as u64);
        before = first;
        let mut before = 0;
        for entry in group {
            let second = i64::from(entry.key.1);
            write(&mut page, zigzag(second - before));
            before = second;
            if counted {
                write(&mut page, zigzag(entry.sums.facts));
            }
            entry.sums.metrics.iter().for_each(|metric| write(&mut page, zigzag(*metric)));
        }
    }
    page
}

/// Hands each total of a page to `each`, in the order of the keys.
pub(crate) fn each(
    page: &[u8],
    mut each: impl FnMut((i32, i32), &TotalSums),
) -> Result<(), Damaged> {
    let counted = match page.first() {
        Some(&FACTS) => false,
        Some(&COUNTED) => true,
        _ => return Err(Damaged),
    };
    let mut reader = PageReader { page, place: 1 };
    let mut first = 0;
    while reader.place < page.len() {
        first = reader.id_after(first)?;
        let mut left = reader.number()?;
        let mut second = 0;
        while left > 0 {
            left -= 1;
            second = reader.id_after(second)?;
            let facts = if counted { reader.signed()? } else { 1 };
            let metrics = [reader.signed()?, reader.signed()?, reader.signed()?];
            each((first, second), &TotalSums { facts, metrics });
        }
    }
    Ok(())
}

/// All totals of a page.
pub(crate) fn decode(page: &[u8]) -> Result<Vec<PageEntry>, Damaged> {
    let mut entries = Vec::with_capacity(page.len() / 6);
    each(page, |key, sums| entries.push(PageEntry { key, sums: *sums }))?;
    Ok(entries)
}

struct PageReader<'a> {
    page: &'a [u8],
    place: usize,
}

impl PageReader<'_> {
    #[inline]
    fn number(&mut self) -> Result<u64, Damaged> {
        let byte = *self.page.get(self.place).ok_or(Damaged)?;
        self.place += 1;
        if byte < 0x80 {
            return Ok(byte.into());
        }
        self.long_number(byte)
    }

    fn long_number(&mut self, first: u8) -> Result<u64, Damaged> {
        let mut number = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = *self.page.get(self.place).ok_or(Damaged)?;
            self.place += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    #[inline]
    fn signed(&mut self) -> Result<i64, Damaged> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    #[inline]
    fn id_after(&mut self, before: i32) -> Result<i32, Damaged> {
        let id = i64::from(before).wrapping_add(self.signed()?);
        i32::try_from(id).map_err(|_| Damaged)
    }
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn write(page: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        page.push(number as u8 | 0x80);
        number >>= 7;
    }
    page.push(number as u8);
}

/// Brings totals into the order of their keys and adds up those that have the same one.
pub(crate) fn collect(mut entries: Vec<PageEntry>) -> Vec<PageEntry> {
    entries.sort_unstable_by_key(|entry| entry.key);
    entries.dedup_by(|later, kept| {
        let same = later.key == kept.key;
        if same {
            kept.sums.add(&later.sums, 1);
        }
        same
    });
    entries
}

/// `totals` with `part` added or, with the sign -1, taken away; both are sorted by their keys.
pub(crate) fn combine(totals: &[PageEntry], part: &[PageEntry], sign: i64) -> Vec<PageEntry> {
    let mut combined = Vec::with_capacity(totals.len() + part.len());
    let mut totals = totals.iter().peekable();
    for entry in part {
        while let Some(total) = totals.next_if(|total| total.key < entry.key) {
            combined.push(*total);
        }
        let mut sums = TotalSums::default();
        if let Some(total) = totals.next_if(|total| total.key == entry.key) {
            sums = total.sums;
        }
        sums.add(&entry.sums, sign);
        if sums.facts != 0 {
            combined.push(PageEntry { key: entry.key, sums });
        }
    }
    combined.extend(totals);
    combined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entries() -> impl Strategy<Value = Vec<PageEntry>> {
        let id = || prop_oneof![0..60_i32, any::<i32>()];
        let metric = || prop_oneof![0..300_i64, any::<i32>().prop_map(i64::from), any::<i64>()];
        let facts = prop_oneof![Just(1_i64), 1..400_i64];
        let entry = (id(), id(), facts, [metric(), metric(), metric()]);
        let entry = entry.prop_map(|(first, second, facts, metrics)| PageEntry {
            key: (first, second),
            sums: TotalSums { facts, metrics },
        });
        prop::collection::vec(entry, 0..200).prop_map(|mut entries| {
            entries.sort_unstable_by_key(|entry| entry.key);
            entries.dedup_by_key(|entry| entry.key);
            entries
        })
    }

    fn small() -> impl Strategy<Value = Vec<PageEntry>> {
        entries().prop_map(|mut entries| {
            entries.iter_mut().flat_map(|entry| &mut entry.sums.metrics).for_each(|it| *it %= 1000);
            entries
        })
    }

    proptest! {
        #![proptest_config(testing::cases(500))]

        #[test]
        fn a_page_holds_what_was_written(entries in entries()) {
            prop_assert_eq!(decode(&encode(&entries)).unwrap(), entries);
        }

        #[test]
        fn an_addition_can_be_subtracted_again(totals in small(), part in small()) {
            let more = combine(&totals, &part, 1);
            let both: Vec<PageEntry> = totals.iter().chain(&part).copied().collect();
            prop_assert_eq!(&more, &collect(both));
            prop_assert_eq!(combine(&more, &part, -1), totals);
        }

        #[test]
        fn a_damaged_page_is_told_and_never_a_panic(
            mut page in prop::collection::vec(any::<u8>(), 0..60), cut in 0..60_usize
        ) {
            let _ = decode(&page);
            page.truncate(cut);
            let _ = decode(&page);
        }
    }

    #[test]
    fn a_page_cut_off_is_damaged() {
        let entry = |first, second| PageEntry {
            key: (first, second),
            sums: TotalSums { facts: 1, metrics: [2, 1, 3000] },
        };
        let page = encode(&[entry(3, 1), entry(3, 9), entry(4000, 2)]);
        for length in [0, 2, 3, 5, page.len() - 1] {
            assert_eq!(decode(&page[..length]), Err(Damaged), "{length}");
        }
        assert_eq!(decode(&[9, 1]), Err(Damaged));
    }
}
