//! Engine under workload `oltp`, whatever its kind: tables as filled, and copies of them
//! that a trial may change. One file per kind implements it.

use std::path::PathBuf;

use ::oltp::OltpTarget;
use plan::ConnectionBy;
use plan::oltp::TableOptions;

use crate::error::RunError;
use host::observe::Watch;
use load::resource::ServerSide;
use record::EngineRecord;

/// An engine that is ready for load.
pub(super) trait OltpEngine {
    fn record(&self) -> &EngineRecord;

    /// None where its processes are out of sight.
    fn side(&self) -> Option<&ServerSide>;

    /// Folders or files with the data.
    fn data_paths(&self) -> &[PathBuf];

    /// The tables as filled, to be read only.
    fn filled(&mut self, tables: &TableOptions) -> Result<OltpTarget, RunError>;

    /// The same rows, restored, to be changed by one trial; nothing is left to be written back.
    fn restored(&mut self, tables: &TableOptions) -> Result<OltpTarget, RunError>;

    /// The same tables as clients reach them.
    fn reached(&self, target: OltpTarget, _by: ConnectionBy) -> OltpTarget {
        target
    }

    /// Looks at the engine while load is on it.
    fn watch(&self, target: &OltpTarget) -> Box<dyn Watch + Send>;

    fn check_alive(&mut self) -> Result<(), RunError>;

    fn retire(self: Box<Self>) -> Result<(), RunError>;
}
