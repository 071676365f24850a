//! Sequences behind identity, serial and `nextval` columns: after the rows they must go on after
//! the largest value, or the application's next insert fails.

use tokio_postgres::Client;

use super::matching::Matched;
use crate::Error;
use crate::inspect::{Schema, quoted};

/// `ALTER SEQUENCE ... RESTART` is transactional from this release on; before, only the value is
/// set, which a rollback leaves.
const TRANSACTIONAL_SINCE: i32 = 100_000;

/// Sequences that belong to a column, or from which its default draws.
const SEQUENCES: &str = "\
    SELECT t.oid, a.attname::text, format('%I.%I', n.nspname, s.relname) \
    FROM pg_class AS t \
    JOIN pg_attribute AS a ON a.attrelid = t.oid \
    JOIN pg_class AS s ON s.relkind = 'S' JOIN pg_namespace AS n ON n.oid = s.relnamespace \
    WHERE t.oid = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped \
      AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) \
      AND (EXISTS (SELECT 1 FROM pg_depend AS d \
                   WHERE d.classid = 'pg_class'::regclass AND d.objid = s.oid \
                     AND d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid \
                     AND d.refobjsubid = a.attnum AND d.deptype IN ('a', 'i')) \
        OR EXISTS (SELECT 1 FROM pg_attrdef AS f JOIN pg_depend AS d \
                   ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid \
                   WHERE f.adrelid = t.oid AND f.adnum = a.attnum \
                     AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid)) \
    ORDER BY 1, 2";

/// Sets every sequence behind the tables; how many.
pub async fn set(
    client: &Client,
    schema: &Schema,
    matched: &[Matched],
    server_version: i32,
) -> Result<usize, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let failed = || Error::postgres("cannot set the sequences");
    let found = client.query(SEQUENCES, &[&tables]).await.map_err(failed())?;
    let mut count = 0;
    for row in &found {
        let (oid, column, sequence): (u32, String, String) = (row.get(0), row.get(1), row.get(2));
        let Some(table) = matched.iter().find(|table| table.oid == oid) else { continue };
        let sql = format!("SELECT max({})::bigint FROM {}", quoted(&column), table.relation);
        let largest: Option<i64> = client.query_one(&sql, &[]).await.map_err(failed())?.get(0);
        // AUTOINCREMENT never gives a number again, even after its row is deleted.
        let given_out = schema.tables[table.source].autoincrement;
        let Some(last) = largest.max(given_out).filter(|last| *last >= 1) else { continue };
        let next = last.checked_add(1).filter(|_| server_version >= TRANSACTIONAL_SINCE);
        let restart = match next {
            Some(next) => format!("ALTER SEQUENCE {sequence} RESTART WITH {next}"),
            None => format!("SELECT setval('{}', {last})", sequence.replace('\'', "''")),
        };
        client.batch_execute(&restart).await.map_err(failed())?;
        count += 1;
    }
    Ok(count)
}
