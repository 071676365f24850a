//! What stands in the way of fast loading: foreign keys and indexes are taken down before the rows
//! and restored from PostgreSQL's own words afterwards, all in the transaction that loads, so that
//! whatever goes wrong leaves them as they were.

use tokio_postgres::{Client, Row};

use super::matching::Matched;
use crate::Error;

/// The statements that take down and restore.
#[derive(Clone, Debug, Default)]
pub struct Takedown {
    down: Vec<String>,
    /// Restores primary keys, unique constraints and indexes.
    pub keys: Vec<String>,
    /// Restores foreign keys, which validates them unless they were not valid before.
    pub foreign_keys: Vec<String>,
    /// Foreign keys that were not valid before and therefore are not afterwards.
    pub notices: Vec<String>,
}

/// Foreign keys from and to the tables. Those of partitioned tables stay.
const FOREIGN_KEYS: &str = "\
    SELECT format('%I.%I', n.nspname, c.relname), f.conname::text, \
           pg_get_constraintdef(f.oid), obj_description(f.oid, 'pg_constraint') \
    FROM pg_constraint AS f \
    JOIN pg_class AS c ON c.oid = f.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    JOIN pg_class AS p ON p.oid = f.confrelid \
    WHERE f.contype = 'f' AND (f.conrelid = ANY($1) OR f.confrelid = ANY($1)) \
      AND c.relkind = 'r' AND p.relkind = 'r' \
      AND NOT EXISTS (SELECT 1 FROM pg_inherits AS i WHERE i.inhrelid = c.oid) \
    ORDER BY f.conrelid, f.conname";

/// Indexes and their constraints. One stays in place if something hangs on it that its definition
/// does not tell: clustering, replica identity, tablespace, comment, statistics, a view.
const INDEXES: &str = "\
    SELECT format('%I.%I', n.nspname, t.relname), format('%I.%I', n.nspname, x.relname), \
           pg_get_indexdef(x.oid), k.conname::text, pg_get_constraintdef(k.oid) \
    FROM pg_index AS i \
    JOIN pg_class AS x ON x.oid = i.indexrelid \
    JOIN pg_class AS t ON t.oid = i.indrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace \
    LEFT JOIN pg_constraint AS k ON k.conindid = x.oid AND k.contype IN ('p', 'u', 'x') \
    WHERE i.indrelid = ANY($1) AND t.relkind = 'r' AND i.indisvalid \
      AND NOT i.indisclustered AND NOT i.indisreplident AND x.reltablespace = 0 \
      AND coalesce(k.contype, 'u') <> 'x' \
      AND obj_description(x.oid, 'pg_class') IS NULL \
      AND (k.oid IS NULL OR obj_description(k.oid, 'pg_constraint') IS NULL) \
      AND NOT EXISTS (SELECT 1 FROM pg_inherits AS h WHERE h.inhrelid IN (x.oid, t.oid)) \
      AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a \
                      WHERE a.attrelid = x.oid AND a.attstattarget >= 0) \
      AND NOT EXISTS (SELECT 1 FROM pg_depend AS d \
                      WHERE d.deptype = 'n' \
                        AND ((d.refclassid = 'pg_class'::regclass AND d.refobjid = x.oid) \
                          OR (d.refclassid = 'pg_constraint'::regclass AND d.refobjid = k.oid)) \
                        AND NOT (d.classid = 'pg_constraint'::regclass AND EXISTS \
                            (SELECT 1 FROM pg_constraint AS f JOIN pg_class AS c \
                             ON c.oid = f.conrelid WHERE f.oid = d.objid AND f.contype = 'f' \
                             AND c.relkind = 'r' AND NOT EXISTS \
                             (SELECT 1 FROM pg_inherits AS i WHERE i.inhrelid = c.oid)))) \
    ORDER BY (k.contype IS NOT DISTINCT FROM 'p') DESC, k.conname, x.relname";

impl Takedown {
    /// Reads what can be taken down around the tables in `matched`.
    pub async fn read(client: &Client, matched: &[Matched]) -> Result<Self, Error> {
        let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
        let failed = || Error::postgres("cannot read the target's keys and indexes");
        let mut takedown = Self::default();
        for row in client.query(FOREIGN_KEYS, &[&tables]).await.map_err(failed())? {
            takedown.add_foreign_key(&row);
        }
        for row in client.query(INDEXES, &[&tables]).await.map_err(failed())? {
            takedown.add_index(&row);
        }
        Ok(takedown)
    }

    fn add_foreign_key(&mut self, row: &Row) {
        let (table, name, definition): (String, String, String) =
            (row.get(0), row.get(1), row.get(2));
        let name = crate::inspect::quoted(&name);
        if definition.contains("NOT VALID") || definition.contains("NOT ENFORCED") {
            self.notices.push(format!(
                "the foreign key {name} of {table} was not valid before and is restored like that: \
                 ALTER TABLE {table} VALIDATE CONSTRAINT {name}"
            ));
        }
        self.down.push(format!("ALTER TABLE {table} DROP CONSTRAINT {name}"));
        self.foreign_keys.push(format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"));
        if let Some(comment) = row.get::<_, Option<String>>(3) {
            let comment = comment.replace('\'', "''");
            self.foreign_keys.push(format!(
                "COMMENT ON CONSTRAINT {name} ON {table} IS E'{}'",
                comment.replace('\\', "\\\\")
            ));
        }
    }

    fn add_index(&mut self, row: &Row) {
        let (table, index, definition): (String, String, String) =
            (row.get(0), row.get(1), row.get(2));
        match (row.get::<_, Option<String>>(3), row.get::<_, Option<String>>(4)) {
            (Some(constraint), Some(constraint_definition)) => {
                let name = crate::inspect::quoted(&constraint);
                self.down.push(format!("ALTER TABLE {table} DROP CONSTRAINT {name}"));
                self.keys.push(format!(
                    "ALTER TABLE {table} ADD CONSTRAINT {name} {constraint_definition}"
                ));
            }
            _ => {
                self.down.push(format!("DROP INDEX {index}"));
                self.keys.push(definition);
            }
        }
    }

    /// Takes everything down. Must run inside a transaction.
    pub async fn run(&self, client: &Client) -> Result<(), Error> {
        for sql in &self.down {
            client.batch_execute(sql).await.map_err(Error::postgres(format!("`{sql}`")))?;
        }
        Ok(())
    }
}
