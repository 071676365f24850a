//! `dashboard serve`: a session whose sign-in was answered is there after any fault.

use std::collections::HashSet;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use anyhow::{Context as _, ensure};
use parking_lot::Mutex;
use testing::dashboard::{DashboardClient, Server};

use super::{FaultSubject, begin_from_base, generate, keep_as_base};
use crate::damage::Damage;
use crate::replay::note_acknowledgement;
use crate::site::FaultSite;

const PASSWORD: &str = "correct horse battery staple";

/// As behind a proxy: the name of a cookie has the port that the browser sees, and each server of a try
/// listens at another one.
const HOST: &str = "dashboard.example";

/// People signing in at the same time, again and again.
const PEOPLE: usize = 4;

#[derive(Default)]
pub struct Serve {
    /// Cookies of sign-ins that were answered, in this try.
    acknowledged: Mutex<HashSet<String>>,
    asked: AtomicU64,
}

impl Serve {
    fn words(site: &FaultSite) -> Vec<String> {
        let words =
            ["dashboard", "serve", "--listen", "127.0.0.1:0", "--database", &site.database()];
        words.map(str::to_owned).to_vec()
    }

    fn sign_in(&self, address: &str, note: &(impl Fn(&str) + Sync), over: &AtomicBool) {
        let body = serde_json::json!({"name": "ann", "password": PASSWORD});
        while !over.load(Ordering::Relaxed) {
            let Ok(mut client) = DashboardClient::connect(address) else { return };
            client.host = HOST.to_owned();
            self.asked.fetch_add(1, Ordering::Relaxed);
            let answer = client.post("/api/session", &body).ok();
            let cookie = answer.filter(|reply| reply.status == 200).and_then(|reply| reply.cookie);
            if let Some(cookie) = cookie {
                note(&cookie);
                self.acknowledged.lock().insert(cookie);
            }
        }
    }
}

impl FaultSubject for Serve {
    fn name(&self) -> &'static str {
        "serve"
    }

    fn prepare(&mut self, site: &FaultSite) -> anyhow::Result<()> {
        if let Some(postgres) = site.postgres() {
            postgres.renew_trial(false)?;
        }
        generate(site)?;
        let password = site.kept("password");
        std::fs::write(&password, PASSWORD)?;
        let password = password.display().to_string();
        let account = ["dashboard", "account", "add", "ann", "--password-file", &password];
        site.run(&[&account[..], &["--database", &site.database()]].concat())?;
        keep_as_base(site)
    }

    fn begin(&self, site: &FaultSite) -> anyhow::Result<()> {
        self.acknowledged.lock().clear();
        self.asked.store(0, Ordering::Relaxed);
        begin_from_base(site)
    }

    fn command(&self, site: &FaultSite) -> Command {
        site.command(&Self::words(site))
    }

    fn ends(&self) -> bool {
        false
    }

    fn accompany(&self, site: &FaultSite, over: &AtomicBool) -> anyhow::Result<()> {
        let address = loop {
            let said = std::fs::read_to_string(site.aside("output"))?;
            let line = said.lines().find_map(|line| line.strip_prefix("http://"));
            match line {
                Some(address) if said.ends_with('\n') => break address.to_owned(),
                _ if over.load(Ordering::Relaxed) => return Ok(()),
                _ => thread::yield_now(),
            }
        };
        // Beside the record of writes, so that it is known which came before which answer.
        let record = site.aside("record");
        let note = |cookie: &str| note_acknowledgement(&record, cookie);
        thread::scope(|scope| {
            for _ in 0..PEOPLE {
                scope.spawn(|| self.sign_in(&address, &note, over));
            }
        });
        Ok(())
    }

    fn only_acknowledged(&self, known: &[String]) {
        let mut acknowledged = self.acknowledged.lock();
        acknowledged.retain(|cookie| known.contains(cookie));
    }

    fn after_fault(&self, _site: &FaultSite) -> anyhow::Result<Damage> {
        Ok(Damage::default())
    }

    fn finish(&self, _site: &FaultSite) -> anyhow::Result<()> {
        Ok(())
    }

    fn damage(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        let acknowledged = self.acknowledged.lock();
        let server = Server::start(&mut site.command(&Self::words(site)))?;
        let mut client = server.connect()?;
        client.host = HOST.to_owned();
        let mut damage = Damage::default();
        for cookie in &*acknowledged {
            let header = format!("Cookie: {cookie}\r\n");
            let reply = client.send("GET", "/api/session", &header, "")?;
            ensure!(reply.status == 200, "{}: {}", reply.status, reply.body);
            let session: serde_json::Value =
                serde_json::from_str(&reply.body).context("the session")?;
            damage.rows_lost += u64::from(session["name"] != "ann");
        }
        let list = ["dashboard", "account", "list", "--output-format", "json"];
        let listed = site.run(&[&list[..], &["--database", &site.database()]].concat())?;
        let accounts: serde_json::Value = serde_json::from_str(&listed)?;
        let sessions = accounts[0]["sessions"].as_u64().context("the number of sessions")?;
        damage.rows_doubled = sessions.saturating_sub(self.asked.load(Ordering::Relaxed));
        Ok(damage)
    }
}
