//! SIGKILL at a random moment: to the command, to PostgreSQL, to both.

use std::thread;
use std::time::Duration;

use rand::RngExt as _;

use super::{Fault, judge, usual_time, while_it_runs};
use crate::damage::Damage;
use crate::postgres;
use crate::random::SeededRandom;
use crate::site::{Engine, FaultSite};
use crate::subject::FaultSubject;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Victim {
    Command,
    Server,
    Both,
}

struct Kill {
    victim: Victim,
    usual: Duration,
}

pub fn all() -> Vec<Box<dyn Fault>> {
    let kill = |victim| -> Box<dyn Fault> { Box::new(Kill { victim, usual: Duration::ZERO }) };
    [Victim::Command, Victim::Server, Victim::Both].map(kill).into()
}

impl Fault for Kill {
    fn name(&self) -> &'static str {
        match self.victim {
            Victim::Command => "our process killed",
            Victim::Server => "the server killed",
            Victim::Both => "both killed",
        }
    }

    fn suits(&self, _: &dyn FaultSubject, engine: Engine) -> bool {
        self.victim == Victim::Command || engine == Engine::Postgres
    }

    fn prepare(&mut self, site: &mut FaultSite, subject: &dyn FaultSubject) -> anyhow::Result<()> {
        self.usual = usual_time(site, subject)?;
        Ok(())
    }

    fn attempt(
        &self,
        site: &mut FaultSite,
        subject: &dyn FaultSubject,
        random: &mut SeededRandom,
    ) -> anyhow::Result<Option<Damage>> {
        site.clear()?;
        subject.begin(site)?;
        let moment = self.usual.mul_f64(random.random_range(0.0..1.05));
        let (in_time, ended) = while_it_runs(site, subject, |running| {
            thread::sleep(moment);
            let mut in_time = !running.has_ended()?;
            if self.victim != Victim::Command {
                // An experiment's own may not have started yet, or have ended.
                let server = subject.server(site)?;
                in_time &= server.is_some();
                if let Some(server) = server {
                    postgres::kill(server);
                }
            }
            if self.victim != Victim::Server {
                running.kill();
            }
            Ok(in_time)
        })?;
        let damage = judge(site, subject, &ended)?;
        Ok(in_time.then_some(damage))
    }
}
