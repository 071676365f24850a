//! Reach of requests: whether they arrive at the database that is measured, or end in another one of the
//! application's own or in its cache.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_128;

use super::requests::CellRequest;
use crate::error::RunError;
use engine::EngineSpec;
use host::process::ChildApplication;
use host::{Activity, Database, Sight, Site, sqlite};
use load::resource::ServerSide;
use plan::Levels;

/// How long requests are repeated to see the file that they open.
const REPEATED_FOR: Duration = Duration::from_millis(500);

/// A look at the database of an application, from before its start until load is offered.
pub(super) struct Reach<'a> {
    site: &'a Site<'a>,
    engine: String,
    /// Why it cannot be looked at, where it cannot.
    activity: Result<Box<dyn Activity>, String>,
    application: ServerSide,
    /// Used while the application started.
    at_start: bool,
    /// Names this start among those of the run.
    start: String,
}

impl<'a> Reach<'a> {
    /// Begins to look, before the application is started.
    pub(super) fn watch(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
        database: &Database,
    ) -> Self {
        let activity = match site.plan.application.own_database {
            true => Err("the plan says own_database = true".to_owned()),
            false => database.hosted.activity(site.runtime),
        };
        let start = format!("{} {levels:?}", engine.label());
        Self {
            site,
            engine: engine.label(),
            activity,
            application: ServerSide { roots: Vec::new() },
            at_start: false,
            start: format!("{:032x}", xxh3_128(start.as_bytes())),
        }
    }

    /// The application runs and is ready.
    pub(super) fn note_start(&mut self, application: &ChildApplication) {
        self.application.roots = vec![application.pid()];
        if let Ok(activity) = &mut self.activity {
            self.at_start = activity.sight(&self.application) == Sight::Used;
        }
    }

    /// Forgets what was done before the requests.
    pub(super) fn begin(&mut self) {
        if let Ok(activity) = &mut self.activity {
            activity.begin();
        }
    }

    /// Whether requests may be sent that change data: those of the database that is measured, as far as
    /// that can be seen.
    pub(super) fn allows_writes(&self) -> bool {
        self.activity.is_err() || self.at_start || self.asked().exists()
    }

    /// Refuses a write that is answered without the database, although other requests use it: it may go to
    /// a database of the user's. Each is sent once for that, at the first start of the engine.
    pub(super) fn require_of_writes(
        &mut self,
        writes: &[&CellRequest],
        is_answered: impl Fn(&CellRequest) -> bool,
    ) -> Result<(), RunError> {
        let seen = self.site.scratch.join(format!("wrote-{}", self.start));
        if let (Ok(activity), false) = (&mut self.activity, seen.exists()) {
            for write in writes {
                activity.begin();
                let answered = is_answered(write);
                if answered && activity.sight(&self.application) == Sight::Unused {
                    return Err(RunError::WroteElsewhere {
                        engine: self.engine.clone(),
                        request: write.label(),
                        looked_at: activity.looked_at(),
                    });
                }
            }
            // Where it cannot be noted, they are looked at again.
            let _ = std::fs::write(seen, "");
        }
        self.begin();
        Ok(())
    }

    /// Refuses an application whose requests have not used the database. `checked` is what else came
    /// of them; `repeat` sends those that only read.
    pub(super) fn require(
        &mut self,
        checked: Result<(), RunError>,
        writes_were_sent: bool,
        repeat: impl Fn(),
    ) -> Result<(), RunError> {
        if self.site.interrupted.load(Ordering::Relaxed) {
            return checked;
        }
        let sight = match &mut self.activity {
            Ok(activity) => activity.sight(&self.application),
            Err(why) => Sight::Hidden(why.clone()),
        };
        match sight {
            Sight::Used => {
                // Where it cannot be noted, it is asked for again.
                let _ = std::fs::write(self.asked(), "");
                checked
            }
            Sight::Hidden(why) => {
                self.say_hidden(&why);
                checked
            }
            // A cache that outlives the application may answer now.
            Sight::Unused if self.asked().exists() => checked,
            Sight::Unused => match checked {
                // A path that there is not, or that wants a key.
                Err(error @ RunError::Refused { status: 400..500, .. }) => Err(error),
                checked => Err(self.not_asked(checked.err(), writes_were_sent, repeat)),
            },
        }
    }

    fn asked(&self) -> PathBuf {
        self.site.scratch.join(format!("asked-{}", self.start))
    }

    fn say_hidden(&self, why: &str) {
        let said = self.site.scratch.join(format!("hidden-{}", self.start));
        if std::fs::File::create_new(said).is_ok() {
            (self.site.say)(&format!(
                "{}: whether requests reach the database that is measured is not looked at: {why}",
                self.engine
            ));
        }
    }

    fn not_asked(
        &self,
        besides: Option<RunError>,
        writes_were_sent: bool,
        repeat: impl Fn(),
    ) -> RunError {
        let looked_at = self.activity.as_ref().map_or_else(|_| String::new(), |a| a.looked_at());
        let mut found = format!("no request {looked_at}");
        if self.at_start {
            found.push_str(", which was used while the application started");
        }
        if !writes_were_sent && !self.site.plan.only_reads() {
            found.push_str("; nothing but GET and HEAD was sent");
        }
        let others = if self.at_start { Vec::new() } else { self.opened_instead(repeat) };
        if !others.is_empty() {
            found.push_str(&format!("; the application has {} open", others.join(" and ")));
        }
        found.extend(besides.map(|error| format!("; {error}")));
        RunError::NotAsked { engine: self.engine.clone(), found, remedy: self.remedy() }
    }

    /// SQLite files that the application has open while it answers; never the one that is measured.
    fn opened_instead(&self, repeat: impl Fn()) -> Vec<String> {
        let processes = self.application.processes();
        let end = Instant::now() + REPEATED_FOR;
        let found = std::thread::scope(|scope| {
            let looker = scope.spawn(|| {
                let mut found = sqlite::opened_by(&processes);
                while found.is_empty() && Instant::now() < end {
                    found = sqlite::opened_by(&processes);
                }
                found
            });
            while !looker.is_finished() && Instant::now() < end {
                repeat();
            }
            looker.join().unwrap_or_default()
        });
        found.into_iter().map(|path| path.display().to_string()).collect()
    }

    fn remedy(&self) -> String {
        let all_the_same =
            "own_database = true (bench http: --own-database) measures it without this look";
        let application = &self.site.plan.application;
        let keys = application.database_keys();
        let keys = keys.iter().filter_map(|key| key.strip_prefix("application."));
        let passed = keys.map(|key| if key.starts_with("start.") { "start" } else { key });
        let mut passed: Vec<&str> =
            passed.filter(|key| *key == "start" || key.starts_with("environment.")).collect();
        passed.dedup();
        let first = if self.at_start {
            "Measure requests that it answers from there".to_owned()
        } else if passed.is_empty() {
            "Pass it the address under the name that it reads: environment = { DATABASE_URL = \
             \"{database_url}\" } (bench http: --environment 'DATABASE_URL={database_url}')"
                .to_owned()
        } else {
            format!("The address is passed in {}: does the application read it?", passed.join(", "))
        };
        let wants_reads = self.site.plan.requests.iter().all(|one| !plan::is_safe(&one.method));
        let end = match wants_reads && !self.at_start {
            true => {
                " Writes are not sent before that is seen: add a GET that reads the database to the \
                 mix, or name one as `ready` (--ready PATH)."
            }
            false => "",
        };
        let stop = if first.ends_with('?') { "" } else { "." };
        format!("{first}{stop}{end} Otherwise {all_the_same}")
    }
}
