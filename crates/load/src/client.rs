//! Clients of a load, of any protocol: a client does one operation after another. Closed and open
//! load drive clients of HTTP and of SQL through these two traits alike.

use record::Outcome;

/// Makes the clients of a trial, each in its own thread.
pub trait Clients: Sync {
    /// One client; it lives in the thread that made it.
    type Client<'a>: Client
    where
        Self: 'a;

    /// Makes client `number`, from 0.
    fn client(&self, number: u16) -> Self::Client<'_>;
}

pub trait Client {
    /// Called once before the clocks start: connects, prepares, warms. What fails here is met
    /// again, and recorded, by the first operation.
    fn warm_up(&mut self) {}

    /// Does one operation of the mix and judges its answer; timed. A connection that is missing
    /// is opened. Where the user asked to stop it returns soon, whatever it returns.
    fn run(&mut self, operation: usize) -> Outcome;

    /// Called after each operation, untimed.
    fn tidy(&mut self) {}

    /// Connections made so far, the first included.
    fn connections_opened(&self) -> u64;
}
