//! A connection to SQLite in another process, which holds another library: the laboratory asks, and the
//! client process answers. Trials are not made of such questions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use connect::sqlite_library::{HeldLibrary, LibraryError, SqliteLibrary};
use serde::{Deserialize, Serialize};

use super::answer::AnswerTable;
use super::client::{Control, Seen, SqlError, SqlSession};
use super::library_session::LibrarySession;
use super::script::Script;
use super::sqlite::OpenMode;
use super::value::AnswerValue;
use crate::workload::{ClientJob, Counters};
use load::{ClientProcess, LoadError};

/// The file of a session, and the library that opens it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LibraryFile {
    pub library: HeldLibrary,
    pub path: PathBuf,
    pub access: OpenMode,
    pub settings: Vec<(String, String)>,
}

/// A library in its own words, and the file that it has opened, if it has.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LibraryFacts {
    pub version: String,
    pub source_id: String,
    pub compile_options: Vec<String>,
    /// The settings as read back.
    pub settings: Vec<(String, String)>,
}

impl LibraryFacts {
    fn of(library: &SqliteLibrary, settings: Vec<(String, String)>) -> Self {
        Self {
            version: library.version(),
            source_id: library.source_id(),
            compile_options: library.compile_options(),
            settings,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) enum SqlQuestion {
    Load(HeldLibrary),
    Open(LibraryFile),
    Prepare(Script),
    Execute(Script, usize, Vec<AnswerValue>),
    Fetch(Script, usize, Vec<AnswerValue>),
    Explain(Script, usize, Vec<AnswerValue>),
    Control(Control),
    Query(String),
    Counters,
}

#[derive(Serialize, Deserialize)]
enum SqlReply {
    Loaded(LibraryFacts),
    Opened(LibraryFacts),
    Prepared(bool),
    Seen(Seen),
    Table(AnswerTable),
    Text(String),
    Done,
    Counters(Counters),
}

/// The client's side: a session that answers questions.
#[derive(Default)]
pub(crate) struct AskedSession(Option<LibrarySession>);

impl AskedSession {
    /// The answer, ready to be sent.
    pub(crate) fn answer(&mut self, question: SqlQuestion) -> impl Serialize + use<> {
        self.reply(question)
    }

    fn reply(&mut self, question: SqlQuestion) -> Result<SqlReply, SqlError> {
        let question = match question {
            SqlQuestion::Load(library) => {
                let library = library.load().map_err(not_connected)?;
                return Ok(SqlReply::Loaded(LibraryFacts::of(&library, Vec::new())));
            }
            SqlQuestion::Open(file) => return self.open(&file),
            question => question,
        };
        let closed = || SqlError::NotConnected("no file is open".to_owned());
        let session = self.0.as_mut().ok_or_else(closed)?;
        Ok(match question {
            SqlQuestion::Load(_) | SqlQuestion::Open(_) => SqlReply::Done,
            SqlQuestion::Prepare(script) => SqlReply::Prepared(session.prepare(&script)?),
            SqlQuestion::Execute(script, step, values) => {
                SqlReply::Seen(session.execute(&script, step, &values)?)
            }
            SqlQuestion::Fetch(script, step, values) => {
                SqlReply::Table(session.fetch(&script, step, &values)?)
            }
            SqlQuestion::Explain(script, step, values) => {
                SqlReply::Text(session.explain(&script, step, &values)?)
            }
            SqlQuestion::Control(control) => {
                session.control(control)?;
                SqlReply::Done
            }
            SqlQuestion::Query(sql) => SqlReply::Table(session.query(&sql)?),
            SqlQuestion::Counters => SqlReply::Counters(session.counters()),
        })
    }

    fn open(&mut self, file: &LibraryFile) -> Result<SqlReply, SqlError> {
        let library = Arc::new(file.library.load().map_err(not_connected)?);
        let opened = LibrarySession::open(&library, &file.path, file.access, &file.settings);
        let (session, settings) = opened.map_err(not_connected)?;
        self.0 = Some(session);
        Ok(SqlReply::Opened(LibraryFacts::of(&library, settings)))
    }
}

fn not_connected(error: LibraryError) -> SqlError {
    SqlError::NotConnected(error.to_string())
}

/// The laboratory's side.
pub(crate) struct RemoteSession<'a> {
    process: ClientProcess,
    library: HeldLibrary,
    interrupted: &'a AtomicBool,
}

impl<'a> RemoteSession<'a> {
    pub(crate) fn open(
        program: &Path,
        file: &LibraryFile,
        interrupted: &'a AtomicBool,
    ) -> Result<(Self, LibraryFacts), SqlError> {
        let mut session = Self::start(program, &file.library, interrupted)?;
        match session.ask(SqlQuestion::Open(file.clone()))? {
            SqlReply::Opened(facts) => Ok((session, facts)),
            _ => Err(unexpected()),
        }
    }

    /// The library in its own words; no file is opened.
    pub(crate) fn load(
        program: &Path,
        library: &HeldLibrary,
        interrupted: &'a AtomicBool,
    ) -> Result<LibraryFacts, SqlError> {
        let mut session = Self::start(program, library, interrupted)?;
        match session.ask(SqlQuestion::Load(library.clone()))? {
            SqlReply::Loaded(facts) => Ok(facts),
            _ => Err(unexpected()),
        }
    }

    fn start(
        program: &Path,
        library: &HeldLibrary,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, SqlError> {
        let started = ClientProcess::start_alone(program);
        let process = started.map_err(|error| SqlError::NotConnected(error.to_string()))?;
        Ok(Self { process, library: library.clone(), interrupted })
    }

    fn ask(&mut self, question: SqlQuestion) -> Result<SqlReply, SqlError> {
        let question = ClientJob::Ask(question);
        let reply = self.process.ask::<Result<SqlReply, SqlError>>(&question, self.interrupted);
        reply.unwrap_or_else(|error| match error {
            LoadError::Interrupted => Err(SqlError::Interrupted),
            ended @ LoadError::ProcessEnded { .. } => {
                Err(SqlError::Ended(format!("{}: {ended}", self.library)))
            }
            lost => Err(SqlError::Lost(lost.to_string())),
        })
    }
}

fn unexpected() -> SqlError {
    SqlError::Lost("the client process gave another answer than was asked for".to_owned())
}

impl SqlSession for RemoteSession<'_> {
    fn prepare(&mut self, script: &Script) -> Result<bool, SqlError> {
        match self.ask(SqlQuestion::Prepare(script.clone()))? {
            SqlReply::Prepared(prepared) => Ok(prepared),
            _ => Err(unexpected()),
        }
    }

    fn execute(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<Seen, SqlError> {
        match self.ask(SqlQuestion::Execute(script.clone(), step, values.to_vec()))? {
            SqlReply::Seen(seen) => Ok(seen),
            _ => Err(unexpected()),
        }
    }

    fn fetch(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<AnswerTable, SqlError> {
        match self.ask(SqlQuestion::Fetch(script.clone(), step, values.to_vec()))? {
            SqlReply::Table(table) => Ok(table),
            _ => Err(unexpected()),
        }
    }

    fn explain(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<String, SqlError> {
        match self.ask(SqlQuestion::Explain(script.clone(), step, values.to_vec()))? {
            SqlReply::Text(text) => Ok(text),
            _ => Err(unexpected()),
        }
    }

    fn control(&mut self, control: Control) -> Result<(), SqlError> {
        self.ask(SqlQuestion::Control(control)).map(drop)
    }

    fn query(&mut self, sql: &str) -> Result<AnswerTable, SqlError> {
        match self.ask(SqlQuestion::Query(sql.to_owned()))? {
            SqlReply::Table(table) => Ok(table),
            _ => Err(unexpected()),
        }
    }

    fn counters(&mut self) -> Counters {
        match self.ask(SqlQuestion::Counters) {
            Ok(SqlReply::Counters(counters)) => counters,
            _ => Counters::new(),
        }
    }
}
