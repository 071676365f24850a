//! The limit of failed sign-ins, per name and address: guesses from elsewhere never lock an
//! account's owner out.

use std::time::{Duration, Instant};

use super::rate::Buckets;
use crate::query::clipped;

/// Buckets of failed sign-ins.
#[derive(Debug)]
pub(super) struct SignInLimit {
    by_name_and_address: Buckets<String>,
    by_address: Buckets<String>,
    /// Far more than one address may try: for guesses from many.
    by_name: Buckets<String>,
}

impl SignInLimit {
    pub(super) fn new() -> Self {
        let minute = Duration::from_secs(60);
        Self {
            by_name_and_address: Buckets::new(10, 5 * minute),
            by_address: Buckets::new(400, 10 * minute),
            by_name: Buckets::new(1_000, 10 * minute),
        }
    }

    /// Counts an attempt, to be given back if the password is right; or returns the time to wait.
    pub(super) fn take(&self, name: &str, address: &str, now: Instant) -> Result<(), Duration> {
        let counted = self.counted(name, address);
        for (place, (buckets, key)) in counted.iter().enumerate() {
            if let Err(wait) = buckets.take(key, now) {
                // The attempt is refused, so it does not count.
                counted[..place].iter().for_each(|(buckets, key)| buckets.give_back(key));
                return Err(wait);
            }
        }
        Ok(())
    }

    /// Uncounts an attempt.
    pub(super) fn give_back(&self, name: &str, address: &str) {
        self.counted(name, address).iter().for_each(|(buckets, key)| buckets.give_back(key));
    }

    fn counted(&self, name: &str, address: &str) -> [(&Buckets<String>, String); 3] {
        // Only a name that no account can have is clipped.
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
    fn guesses_do_not_lock_the_owner_out_at_another_address() {
        let (limit, now) = (SignInLimit::new(), Instant::now());
        let guess = |name: &str, address: &str| limit.take(name, address, now);
        for _ in 0..10 {
            assert_eq!(guess("ann", "192.0.2.1"), Ok(()));
        }
        for _ in 0..2_000 {
            assert!(guess("ann", "192.0.2.1").is_err());
        }
        assert_eq!(guess("ann", "192.0.2.2"), Ok(()), "refused attempts do not count");
        assert_eq!(guess("bob", "192.0.2.1"), Ok(()));
    }

    #[test]
    fn guesses_from_many_addresses_are_limited() {
        let (limit, now) = (SignInLimit::new(), Instant::now());
        let guesses = (0..2_000).map(|number| format!("2001:db8::{:x}", number / 10));
        let allowed = guesses.filter(|from| limit.take("ann", from, now).is_ok()).count();
        assert_eq!(allowed, 1_000);
    }

    #[test]
    fn guesses_of_many_names_from_one_address_are_limited() {
        let (limit, now) = (SignInLimit::new(), Instant::now());
        let names = (0..1_000).map(|number| format!("name {number}"));
        let allowed = names.filter(|name| limit.take(name, "192.0.2.1", now).is_ok()).count();
        assert_eq!(allowed, 400);
    }
}
