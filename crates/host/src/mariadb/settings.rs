//! A server as a run records it: version, variables, size.

use engine::EngineSpec;
use mysql::prelude::Queryable as _;
use record::EngineRecord;

use super::{TIMEOUT, durability};
use crate::error::DeployError;

/// Reads the database that `url` leads to, with the settings of a `session` and `further` variables
/// of the server.
pub fn read_record<'s>(
    engine: &EngineSpec,
    url: &str,
    session: impl Iterator<Item = (&'s str, &'s str)>,
    further: impl Iterator<Item = &'s str>,
) -> Result<EngineRecord, DeployError> {
    let read = || -> Result<_, connect::Error> {
        let mut connection = connect::mysql::connect(url, TIMEOUT)?;
        let version = connect::mysql::version(&mut connection)?;
        let mut settings = connect::mysql::session_settings(&mut connection, session)?;
        let shown = connect::mysql::SHOWN_VARIABLES.into_iter().chain(further);
        for (name, value) in connect::mysql::variables(&mut connection, shown)? {
            if !settings.iter().any(|(known, _)| *known == name) {
                settings.push((name, value));
            }
        }
        let built: Option<String> = connection.query_first(
            "SELECT concat(version(), ' ', @@version_compile_machine, ' ', @@version_compile_os)",
        )?;
        settings.push(("version()".to_owned(), built.unwrap_or_default()));
        let bytes: Option<Option<u64>> = connection.query_first(
            "SELECT CAST(sum(data_length + index_length) AS UNSIGNED) \
             FROM information_schema.tables WHERE table_schema = database()",
        )?;
        Ok((version, settings, bytes.flatten()))
    };
    let (version, settings, data_bytes) = read()?;
    Ok(EngineRecord {
        name: engine.label(),
        version,
        durability: durability(&settings).unwrap_or_default(),
        settings,
        data_bytes,
        ..EngineRecord::default()
    })
}
