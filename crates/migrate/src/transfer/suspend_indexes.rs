//! Suspended indexes and foreign keys: they are dropped before the load and restored from
//! PostgreSQL's own definitions afterwards. Both directions are saved as steps before anything is
//! dropped, so that they can be undone at any point.

use tokio_postgres::{Client, Row};

use super::step::{MigrationStep, Stage, validated};
use crate::Error;
use crate::display::sql_text;
use crate::source::quoted;
use crate::target::MatchedTable;

/// Indexes and foreign keys around some tables that can be suspended.
#[derive(Clone, Debug, Default)]
pub struct SuspendedIndexes {
    /// Steps that restore them; `undo` drops them.
    pub steps: Vec<MigrationStep>,
    /// Foreign keys that were not valid before and therefore are not afterwards, and those whose triggers
    /// this user may not set back.
    pub notices: Vec<String>,
}

/// Foreign keys from and to the tables, with their triggers that were set otherwise than at first, as
/// texts of SQL: function and state. A partition has those of the tables above it (since release 11),
/// and only there can they be dropped.
const FOREIGN_KEYS: &str = "\
    WITH RECURSIVE partition(oid, above) AS ( \
        SELECT i.inhrelid, i.inhparent FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid \
        WHERE (to_jsonb(c) ->> 'relispartition')::boolean), \
    above(oid) AS ( \
        SELECT unnest($1::oid[]) \
        UNION SELECT partition.above FROM partition JOIN above USING (oid)), \
    below(oid) AS ( \
        SELECT unnest($1::oid[]) \
        UNION SELECT partition.oid FROM partition JOIN below ON below.oid = partition.above), \
    related(oid) AS (SELECT oid FROM above UNION SELECT oid FROM below) \
    SELECT format('%I.%I', n.nspname, c.relname), f.conname::text, \
           pg_get_constraintdef(f.oid), obj_description(f.oid, 'pg_constraint'), \
           ARRAY(SELECT format('(%L, %L)', g.proname, CASE t.tgenabled WHEN 'D' THEN 'DISABLE' \
                     WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END) \
                 FROM pg_trigger AS t JOIN pg_proc AS g ON g.oid = t.tgfoid \
                 WHERE t.tgconstraint = f.oid AND t.tgenabled <> 'O' ORDER BY g.proname), \
           current_setting('is_superuser') = 'on', \
           c.relkind = 'p' OR p.relkind = 'p' \
    FROM pg_constraint AS f \
    JOIN pg_class AS c ON c.oid = f.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    JOIN pg_class AS p ON p.oid = f.confrelid \
    WHERE f.contype = 'f' AND coalesce(to_jsonb(f) ->> 'conparentid', '0') = '0' \
      AND (f.conrelid IN (SELECT oid FROM related) OR f.confrelid IN (SELECT oid FROM related)) \
    ORDER BY f.conrelid, f.conname";

/// Indexes and their constraints. An index stays in place if something depends on it that its
/// definition does not show: clustering, replica identity, tablespace, comment, statistics, a view.
const INDEXES: &str = "\
    SELECT format('%I.%I', n.nspname, t.relname), format('%I.%I', n.nspname, x.relname), \
           pg_get_indexdef(x.oid), k.conname::text, k.contype::text, \
           CASE WHEN k.condeferrable THEN ' DEFERRABLE' ELSE '' END \
               || CASE WHEN k.condeferred THEN ' INITIALLY DEFERRED' ELSE '' END \
    FROM pg_index AS i \
    JOIN pg_class AS x ON x.oid = i.indexrelid \
    JOIN pg_am AS m ON m.oid = x.relam \
    JOIN pg_class AS t ON t.oid = i.indrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace \
    LEFT JOIN pg_constraint AS k ON k.conindid = x.oid AND k.contype IN ('p', 'u', 'x') \
    WHERE i.indrelid = ANY($1) AND t.relkind = 'r' AND i.indisvalid \
      AND NOT i.indisclustered AND NOT i.indisreplident AND x.reltablespace = 0 \
      AND (k.oid IS NULL OR (k.contype <> 'x' AND m.amname = 'btree')) \
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
                            (SELECT 1 FROM pg_constraint AS f \
                             WHERE f.oid = d.objid AND f.contype = 'f'))) \
    ORDER BY (k.contype IS NOT DISTINCT FROM 'p') DESC, k.conname, x.relname";

impl SuspendedIndexes {
    pub async fn read(client: &Client, matched: &[MatchedTable]) -> Result<Self, Error> {
        let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
        let failed = || Error::postgres("cannot read the target's keys and indexes");
        let mut suspended = Self::default();
        // Without a search path every definition comes with the schemas that it needs.
        let path = "SELECT current_setting('search_path'), set_config('search_path', '', false)";
        let path: String = client.query_one(path, &[]).await.map_err(failed())?.get(0);
        // Keys precede the foreign keys that need them.
        for row in client.query(INDEXES, &[&tables]).await.map_err(failed())? {
            suspended.add_index(&row);
        }
        for row in client.query(FOREIGN_KEYS, &[&tables]).await.map_err(failed())? {
            suspended.add_foreign_key(&row);
        }
        let sql = "SELECT set_config('search_path', $1, false)";
        client.execute(sql, &[&path]).await.map_err(failed())?;
        Ok(suspended)
    }

    fn add_foreign_key(&mut self, row: &Row) {
        let (table, name, definition): (String, String, String) =
            (row.get(0), row.get(1), row.get(2));
        let (plain, name) = (&name, quoted(&name));
        let add = format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition}");
        let drop = format!("ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}");
        if definition.ends_with(" NOT ENFORCED") {
            self.steps.push(MigrationStep::statement(Stage::Attach, add, drop));
        } else if definition.ends_with(" NOT VALID") {
            self.notices.push(format!(
                "the foreign key {name} of {table} was not valid before and is restored like that: \
                 ALTER TABLE {table} VALIDATE CONSTRAINT {name}"
            ));
            self.steps.push(MigrationStep::statement(Stage::Attach, add, drop));
        } else if row.get(6) {
            // From partitioned tables they are made NOT VALID since release 18 alone.
            self.steps.push(MigrationStep::statement(Stage::Attach, add, drop));
        } else {
            self.steps.extend(validated(&table, &name, &add, &drop));
        }
        self.add_trigger_states(&table, plain, &row.get::<_, Vec<String>>(4), row.get(5));
        if let Some(comment) = row.get::<_, Option<String>>(3) {
            let comment = comment.replace('\'', "''").replace('\\', "\\\\");
            let sql = format!("COMMENT ON CONSTRAINT {name} ON {table} IS E'{comment}'");
            self.steps.push(MigrationStep::statement(Stage::Attach, sql, ""));
        }
    }

    /// The states of a foreign key's triggers, which its definition does not tell. Only a superuser may
    /// set them.
    fn add_trigger_states(&mut self, table: &str, name: &str, states: &[String], allowed: bool) {
        if states.is_empty() {
            return;
        }
        let sql = format!(
            "DO $crossover$ DECLARE t record; BEGIN FOR t IN SELECT g.tgrelid::regclass AS relation, \
             g.tgname AS name, s.state FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid \
             JOIN pg_constraint AS f ON f.oid = g.tgconstraint \
             JOIN (VALUES {}) AS s(function, state) ON s.function = p.proname \
             WHERE f.conrelid = {}::regclass AND f.conname = {} LOOP EXECUTE format('ALTER TABLE %s \
             %s TRIGGER %I', t.relation, t.state, t.name); END LOOP; END $crossover$",
            states.join(", "),
            sql_text(table),
            sql_text(name)
        );
        if allowed {
            self.steps.push(MigrationStep::statement(Stage::Attach, sql, ""));
        } else {
            self.notices.push(format!(
                "triggers of the foreign key {} of {table} were disabled or set otherwise, which only a \
                 superuser may restore: {sql}",
                quoted(name)
            ));
        }
    }

    fn add_index(&mut self, row: &Row) {
        let (table, index, definition): (String, String, String) =
            (row.get(0), row.get(1), row.get(2));
        let drop_index = format!("DROP INDEX IF EXISTS {index}");
        self.steps.push(MigrationStep::statement(Stage::Index, definition, drop_index));
        if let Some(name) = row.get::<_, Option<String>>(3) {
            let (name, deferrable): (String, String) = (quoted(&name), row.get(5));
            let kind = match row.get::<_, Option<&str>>(4) {
                Some("p") => "PRIMARY KEY",
                _ => "UNIQUE",
            };
            let add = format!(
                "ALTER TABLE {table} ADD CONSTRAINT {name} {kind} USING INDEX {name}{deferrable}"
            );
            let drop = format!("ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}");
            self.steps.push(MigrationStep::statement(Stage::Attach, add, drop));
        }
    }
}
