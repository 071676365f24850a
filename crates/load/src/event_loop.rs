//! Event loop of a load: one thread waits for all of its connections, and a protocol goes on with those
//! that are ready. What a thread per client costs is not spent on the machine that is measured.

use crate::LoadError;
use crate::poller::{Poller, Wait};

/// At full load, where the loop is never idle, deadlines are checked after this many waits.
const WAITS_BETWEEN_CHECKS: u32 = 64;

/// Clients of one thread and their connections, which are numbered from 0. It has its sockets watched
/// by the loop's poller.
pub trait Protocol {
    type Error: From<LoadError>;

    /// Does what is due by the clock, and by what has arrived since. How long the next event may be
    /// waited for; none: all is over.
    fn go_on(&mut self, poller: &Poller) -> Result<Option<Wait<'_>>, Self::Error>;

    /// Goes on with a connection whose socket is ready, as far as that allows.
    fn advance(&mut self, connection: usize, poller: &Poller) -> Result<(), Self::Error>;

    /// Ends what takes too long. Called at least ten times per second where waits have a limit.
    fn check_deadlines(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Runs until all is over.
pub fn run_event_loop<P: Protocol>(protocol: &mut P, poller: &mut Poller) -> Result<(), P::Error> {
    let (mut ready, mut waits) = (Vec::new(), 0_u32);
    while let Some(wait) = protocol.go_on(poller)? {
        poller.wait(wait, &mut ready).map_err(LoadError::Poll)?;
        for connection in ready.iter().copied() {
            protocol.advance(connection, poller)?;
        }
        waits = waits.wrapping_add(1);
        if ready.is_empty() || waits.is_multiple_of(WAITS_BETWEEN_CHECKS) {
            protocol.check_deadlines()?;
        }
    }
    Ok(())
}
