//! Lock table of the server: the locks that a migration needs, compared with the room that there
//! is.

use notation::thousands;
use tokio_postgres::Client;

use super::matching::MatchedTable;
use crate::Error;
use crate::ddl::OF_CATALOGS;

/// Locks for reading these tables in one transaction: on them and their indexes. Emptying them also
/// locks their toast tables with their indexes.
pub async fn to_use(client: &Client, tables: &[MatchedTable], empties: bool) -> Result<u64, Error> {
    let oids: Vec<u32> = tables.iter().map(|table| table.oid).collect();
    let sql = "SELECT count(*) + 2 * count(*) FILTER (WHERE c.reltoastrelid <> 0 AND $2) \
                   + (SELECT count(*) FROM pg_index WHERE indrelid = ANY($1)) \
               FROM pg_class AS c WHERE c.oid = ANY($1)";
    let row = client.query_one(sql, &[&oids, &empties]).await;
    let row = row.map_err(Error::postgres("cannot count the locks that are needed"))?;
    Ok(OF_CATALOGS + row.get::<_, i64>(0).unsigned_abs())
}

/// Room for locks is `max_locks_per_transaction` for each process that the server may have.
const ROOM: &str = "\
    SELECT current_setting('max_locks_per_transaction')::bigint, sum(setting::bigint)::bigint \
    FROM pg_settings WHERE name IN ('max_connections', 'max_prepared_transactions', \
        'max_worker_processes', 'max_wal_senders') \
    OR name = (SELECT max(name) FROM pg_settings \
               WHERE name IN ('autovacuum_max_workers', 'autovacuum_worker_slots'))";

/// Fails if the server has no room for `needed` locks.
pub async fn ensure(client: &Client, tables: usize, needed: u64) -> Result<(), Error> {
    let row = client.query_one(ROOM, &[]).await;
    let row = row.map_err(Error::postgres("cannot read the server's room for locks"))?;
    let (each, processes) = (row.get::<_, i64>(0).unsigned_abs(), row.get::<_, i64>(1));
    let room = each * processes.unsigned_abs();
    if needed <= room {
        return Ok(());
    }
    // Others need some too.
    let setting = (needed + needed / 10).div_ceil(processes.unsigned_abs().max(1));
    Err(Error::Target(format!(
        "{} tables take about {} locks in one transaction, the server has room for {}: ALTER SYSTEM \
         SET max_locks_per_transaction = {setting} and restart it, or take fewer tables at a time by \
         --table",
        thousands(tables),
        thousands(needed),
        thousands(room)
    )))
}
