//! Sequences behind identity, serial and `nextval` columns: they must continue after the largest
//! value, or the application's next insert fails.

use tokio_postgres::Client;

use crate::Error;
use crate::source::{SourceSchema, quoted};
use crate::target::MatchedTable;

/// First release with a transactional `ALTER SEQUENCE ... RESTART` and with bounds in the catalog.
/// Before, only the value is set, which a rollback leaves.
const TRANSACTIONAL_SINCE: i32 = 100_000;

/// Sequences that a column owns or that its default uses.
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

struct Sequence {
    name: String,
    least: i64,
    most: i64,
}

impl Sequence {
    async fn read(client: &Client, name: String, server_version: i32) -> Result<Self, Error> {
        let sql = if server_version >= TRANSACTIONAL_SINCE {
            let oid = format!("'{}'::regclass", name.replace('\'', "''"));
            format!("SELECT seqmin, seqmax FROM pg_sequence WHERE seqrelid = {oid}")
        } else {
            format!("SELECT min_value, max_value FROM {name}")
        };
        let failed = Error::postgres(format!("cannot read the bounds of {name}"));
        let row = client.query_one(&sql, &[]).await.map_err(failed)?;
        Ok(Self { name, least: row.get(0), most: row.get(1) })
    }

    /// The statement that makes it continue after `last`; `None` if it already does.
    fn after(&self, last: i64, server_version: i32) -> Option<String> {
        let Self { name, least, most } = self;
        if last < *least {
            return None;
        }
        if last < *most && server_version >= TRANSACTIONAL_SINCE {
            return Some(format!("ALTER SEQUENCE {name} RESTART WITH {}", last + 1));
        }
        // At its end there is no number to restart with: the next insert must be refused.
        let name = name.replace('\'', "''");
        Some(format!("SELECT setval('{name}', {}, true)", last.min(*most)))
    }
}

/// Sets every sequence of the tables. Returns their number.
pub async fn set(
    client: &Client,
    schema: &SourceSchema,
    matched: &[MatchedTable],
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
        let sequence = Sequence::read(client, sequence, server_version).await?;
        if let Some(set) = sequence.after(last, server_version) {
            client.batch_execute(&set).await.map_err(failed())?;
            count += 1;
        }
    }
    Ok(count)
}
