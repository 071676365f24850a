//! Clients that wait for their answers in a thread of their own: those of SQLite, which is in this
//! process, and of MariaDB, whose client library waits.

use std::time::Instant;

use super::SharedState;
use super::drawer::{Arguments, Drawer};
use super::notes::{ClientAccount, Notes};
use super::sink::Sink;
use crate::{Error, Failure};

/// A connection whose statements are prepared.
pub(super) trait ClientSession {
    /// Executes the statement at this place of [`super::program::Program::texts`]; rows returned
    /// or changed.
    fn execute(&mut self, place: usize, arguments: &Arguments) -> Result<u64, Refused>;

    /// Ends a transaction after a refusal, if one is open. Whether there was one.
    fn roll_back(&mut self) -> Result<bool, Refused>;
}

/// Why a statement did nothing.
pub(super) struct Refused {
    pub failure: Failure,
    pub text: String,
}

/// Offers load by one session until its time is over.
pub(super) fn work<S: Sink>(
    session: &mut impl ClientSession,
    account: &mut ClientAccount,
    shared: &SharedState<'_>,
    notes: &mut Notes<'_, S>,
) -> Result<(), Error> {
    let mut client = SessionClient {
        drawer: Drawer::new(&shared.program, account.client),
        session,
        account,
        shared,
        arguments: Arguments::default(),
    };
    let mut now = Instant::now();
    while notes.begin(client.account, now) {
        shared.check_not_stopped()?;
        client.drawer.begin();
        let failed = client.transaction(notes).err();
        now = notes.end(client.account, failed.map(|refused| (refused.failure, refused.text)));
        if client.account.totals.ended_by.is_some() {
            break;
        }
    }
    Ok(())
}

struct SessionClient<'c, 's, T: ClientSession> {
    session: &'c mut T,
    account: &'c mut ClientAccount,
    shared: &'c SharedState<'s>,
    drawer: Drawer,
    arguments: Arguments,
}

impl<T: ClientSession> SessionClient<'_, '_, T> {
    /// One transaction, tried until it succeeds or must be given up.
    fn transaction<S: Sink>(&mut self, notes: &mut Notes<'_, S>) -> Result<(), Refused> {
        loop {
            let Err(mut refused) = self.attempt(notes) else { return Ok(()) };
            if !refused.failure.ends_client() {
                match self.session.roll_back() {
                    Ok(true) => notes.rolled_back(self.account),
                    Ok(false) => {}
                    Err(error) => refused = error,
                }
            }
            let interrupted = self.shared.check_not_stopped().is_err();
            match notes.refused(self.account, refused.failure) {
                Some(failure) => return Err(Refused { failure, ..refused }),
                None if interrupted => return Err(refused),
                None => self.drawer.begin_again(),
            }
        }
    }

    fn attempt<S: Sink>(&mut self, notes: &mut Notes<'_, S>) -> Result<(), Refused> {
        let program = &self.shared.program;
        for call in &program.calls {
            if notes.is_cut_off() {
                return Err(Refused { failure: Failure::CutOff, text: String::new() });
            }
            let table = self.drawer.draw(program, *call, &mut self.arguments);
            let place = program.place(*call, table);
            let rows = self.session.execute(place, &self.arguments)?;
            notes.answered(self.account, (call.statement, call.slot), rows);
        }
        Ok(())
    }
}
