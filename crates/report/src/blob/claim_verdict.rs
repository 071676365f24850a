//! Verdict on a claim of the article by a measured ratio.

use stats::{Estimate, INTERVAL_MIN_REPLICATES};

use super::part::ClaimVerdict;

/// A claim on a ratio.
#[derive(Clone, Copy)]
pub(super) enum Says {
    /// It is at least this ratio, and above 1 in any case: the first is its size, the second its
    /// direction.
    AtLeast(f64),
    Between(f64, f64),
    /// It is below 1.
    Below,
}

pub(super) fn verdict(ratio: &Estimate, says: Says) -> ClaimVerdict {
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else { return ClaimVerdict::Undecided };
    if ratio.replicates < INTERVAL_MIN_REPLICATES {
        return ClaimVerdict::Undecided;
    }
    match says {
        Says::AtLeast(figure) if low > 1.0 && low >= figure => ClaimVerdict::Holds,
        Says::AtLeast(figure) if low > 1.0 && high < figure => ClaimVerdict::InPart,
        Says::AtLeast(_) if low > 1.0 => ClaimVerdict::SizeUndecided,
        Says::AtLeast(_) if high < 1.0 => ClaimVerdict::DoesNot,
        Says::AtLeast(_) => ClaimVerdict::Undecided,
        Says::Between(least, most) if low >= least && high <= most => ClaimVerdict::Holds,
        Says::Between(least, most) if high < least || low > most => {
            // Slower at least, though not by as much, or by more.
            if least > 1.0 && low > 1.0 { ClaimVerdict::InPart } else { ClaimVerdict::DoesNot }
        }
        Says::Between(least, _) if least > 1.0 && low > 1.0 => ClaimVerdict::SizeUndecided,
        Says::Between(..) => ClaimVerdict::Undecided,
        Says::Below if high < 1.0 => ClaimVerdict::Holds,
        Says::Below if low > 1.0 => ClaimVerdict::DoesNot,
        Says::Below => ClaimVerdict::Undecided,
    }
}
