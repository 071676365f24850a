//! How many wrong passwords are borne. Who guesses has to wait soon, but only he: an account that
//! wrong passwords from anywhere could close would be closed to its owner by anybody.

use std::time::{Duration, Instant};

use super::rate::Buckets;
use crate::query::clipped;

/// Wrong passwords by those who tried them and by those whom they would have let in.
#[derive(Debug)]
pub(super) struct SignIns {
    by_name_and_address: Buckets,
    by_address: Buckets,
    /// Far more than one address may try: for guesses from many.
    by_name: Buckets,
}

impl SignIns {
    pub(super) fn new() -> Self {
        let minute = Duration::from_secs(60);
        Self {
            by_name_and_address: Buckets::new(10, 5 * minute),
            by_address: Buckets::new(400, 10 * minute),
            by_name: Buckets::new(1_000, 10 * minute),
        }
    }

    /// Counts a try, to be given back if the password is right; or says how long to wait.
    pub(super) fn take(&self, name: &str, address: &str, now: Instant) -> Result<(), Duration> {
        let counted = self.counted(name, address);
        for (place, (buckets, key)) in counted.iter().enumerate() {
            if let Err(wait) = buckets.take(key, now) {
                // Nothing is tried now.
                counted[..place].iter().for_each(|(buckets, key)| buckets.give_back(key));
                return Err(wait);
            }
        }
        Ok(())
    }

    /// Takes back what was counted.
    pub(super) fn give_back(&self, name: &str, address: &str) {
        self.counted(name, address).iter().for_each(|(buckets, key)| buckets.give_back(key));
    }

    fn counted(&self, name: &str, address: &str) -> [(&Buckets, String); 3] {
        // No account has a name so long that it would be clipped.
        let name = clipped(name);
        [
            (&self.by_name_and_address, format!("{address} {name}")),
            (&self.by_address, address.to_owned()),
            (&self.by_name, name),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_guesses_waits_and_the_owner_elsewhere_does_not() {
        let (sign_ins, now) = (SignIns::new(), Instant::now());
        let guess = |name: &str, address: &str| sign_ins.take(name, address, now);
        for _ in 0..10 {
            assert_eq!(guess("ann", "192.0.2.1"), Ok(()));
        }
        for _ in 0..2_000 {
            assert!(guess("ann", "192.0.2.1").is_err());
        }
        assert_eq!(guess("ann", "192.0.2.2"), Ok(()), "refused tries count for nobody");
        assert_eq!(guess("bob", "192.0.2.1"), Ok(()));
    }

    #[test]
    fn many_addresses_cannot_guess_without_end() {
        let (sign_ins, now) = (SignIns::new(), Instant::now());
        let guesses = (0..2_000).map(|number| format!("2001:db8::{:x}", number / 10));
        let borne = guesses.filter(|from| sign_ins.take("ann", from, now).is_ok()).count();
        assert_eq!(borne, 1_000);
    }

    #[test]
    fn one_address_cannot_try_a_few_passwords_of_everybody() {
        let (sign_ins, now) = (SignIns::new(), Instant::now());
        let names = (0..1_000).map(|number| format!("name {number}"));
        let borne = names.filter(|name| sign_ins.take(name, "192.0.2.1", now).is_ok()).count();
        assert_eq!(borne, 400);
    }
}
