//! A connection that is cut after a random number of bytes: a proxy stands between the command and
//! PostgreSQL's socket.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::Context as _;
use parking_lot::Mutex;
use rand::RngExt as _;

use super::{Fault, expect_end, judge, wait_for_end, while_it_runs};
use crate::damage::Damage;
use crate::random::SeededRandom;
use crate::site::{Ended, Engine, FaultSite};
use crate::subject::FaultSubject;

const SOCKET: &str = ".s.PGSQL.5432";

/// Bytes of an undisturbed try, both ways.
#[derive(Default)]
pub struct Cut {
    usual_bytes: u64,
}

impl Fault for Cut {
    fn name(&self) -> &'static str {
        "connections cut"
    }

    fn suits(&self, subject: &dyn FaultSubject, engine: Engine) -> bool {
        engine == Engine::Postgres && subject.name() != "bench"
    }

    fn prepare(&mut self, site: &mut FaultSite, subject: &dyn FaultSubject) -> anyhow::Result<()> {
        let (bytes, ended) = through_proxy(site, subject, u64::MAX)?;
        expect_end(subject, &ended)?;
        self.usual_bytes = bytes;
        Ok(())
    }

    fn attempt(
        &self,
        site: &mut FaultSite,
        subject: &dyn FaultSubject,
        random: &mut SeededRandom,
    ) -> anyhow::Result<Option<Damage>> {
        let allowed = random.random_range(0..self.usual_bytes);
        let (bytes, ended) = through_proxy(site, subject, allowed)?;
        let damage = judge(site, subject, &ended)?;
        Ok((bytes >= allowed).then_some(damage))
    }
}

/// One try through a proxy that cuts everything after `allowed` bytes, once; the bytes that passed.
fn through_proxy(
    site: &mut FaultSite,
    subject: &dyn FaultSubject,
    allowed: u64,
) -> anyhow::Result<(u64, Ended)> {
    site.clear()?;
    subject.begin(site)?;
    let socket = site.postgres().and_then(|it| it.socket()).context("no socket")?.join(SOCKET);
    let folder = site.aside("proxy");
    let proxy = Proxy::listen(&folder, &socket, allowed)?;
    if let Some(postgres) = site.postgres_mut() {
        postgres.detour(Some(folder));
    }
    let ran = while_it_runs(site, subject, |running| wait_for_end(subject, running));
    if let Some(postgres) = site.postgres_mut() {
        postgres.detour(None);
    }
    let ((), ended) = ran?;
    Ok((proxy.passed(), ended))
}

struct Proxy {
    passed: Arc<AtomicU64>,
}

impl Proxy {
    fn listen(folder: &Path, to: &Path, allowed: u64) -> anyhow::Result<Self> {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir(folder)?;
        let listener = UnixListener::bind(folder.join(SOCKET))?;
        let mode = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.join(SOCKET), mode)?;
        let passed = Arc::new(AtomicU64::new(0));
        let (count, to) = (passed.clone(), to.to_owned());
        let open: Arc<Mutex<Vec<UnixStream>>> = Arc::default();
        // The thread ends with the program; the socket is removed with the site.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = UnixStream::connect(&to) else { continue };
                let mut kept = open.lock();
                kept.extend([&client, &server].iter().filter_map(|it| it.try_clone().ok()));
                drop(kept);
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { continue };
                    let (count, open) = (count.clone(), open.clone());
                    thread::spawn(move || carry(from, to, &count, allowed, &open));
                }
            }
        });
        Ok(Self { passed })
    }

    fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }
}

/// Carries bytes one way. The one that passes the limit cuts every connection, in mid-message.
fn carry(
    mut from: UnixStream,
    mut to: UnixStream,
    passed: &AtomicU64,
    allowed: u64,
    open: &Mutex<Vec<UnixStream>>,
) {
    let mut buffer = vec![0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let read_bytes = u64::try_from(read).unwrap_or(0);
        let before = passed.fetch_add(read_bytes, Ordering::Relaxed);
        if (before..before + read_bytes).contains(&allowed) {
            let rest = usize::try_from(allowed - before).unwrap_or(0);
            let _ = to.write_all(buffer.get(..rest).unwrap_or_default());
            for stream in open.lock().drain(..) {
                let _ = stream.shutdown(Shutdown::Both);
            }
            return;
        }
        if to.write_all(buffer.get(..read).unwrap_or_default()).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
