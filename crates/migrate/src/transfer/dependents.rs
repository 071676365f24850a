//! Objects of the target that depend on tables which `--replace` drops: PostgreSQL refuses to drop them,
//! and CASCADE would take the objects along.

use tokio_postgres::Row;

use crate::Error;
use crate::display::list;
use crate::finding::Finding;
use crate::target::TargetSession;

/// Objects that depend on the tables `$2` of the schema `$1`, or on what is dropped with these (`gone`):
/// description, the statement that drops it and the one that makes it again, where they are known. Those that
/// must be dropped first come first; views lie over others by `depth`.
const DEPENDENTS: &str = r"
    WITH RECURSIVE edge(refclassid, refobjid, classid, objid, step) AS (
        SELECT refclassid, refobjid, classid, objid, 0 FROM pg_depend WHERE deptype IN ('a', 'i', 'P', 'S')
        UNION ALL
        SELECT d.refclassid, d.refobjid, 'pg_class'::regclass, r.ev_class, 1
        FROM pg_depend AS d JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
        JOIN pg_class AS v ON v.oid = r.ev_class AND v.relkind IN ('v', 'm')
        WHERE d.deptype = 'n' AND d.refobjid <> r.ev_class),
    gone(classid, objid, depth) AS (
        SELECT 'pg_class'::regclass::oid, c.oid, 0
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relname = ANY($2) AND c.relkind IN ('r', 'p')
        UNION
        SELECT e.classid, e.objid, g.depth + e.step
        FROM gone AS g JOIN edge AS e ON e.refclassid = g.classid AND e.refobjid = g.objid),
    dependent(classid, objid, subid, depth) AS (
        SELECT classid, objid, 0, max(depth) FROM gone WHERE depth > 0 AND classid = 'pg_class'::regclass
        GROUP BY classid, objid
        UNION ALL
        SELECT d.classid, d.objid, max(d.objsubid), 1000
        FROM gone AS g JOIN pg_depend AS d ON d.refclassid = g.classid AND d.refobjid = g.objid
        WHERE d.deptype = 'n' AND (d.classid, d.objid) NOT IN (SELECT classid, objid FROM gone)
        GROUP BY d.classid, d.objid)
    SELECT pg_describe_object(d.classid, d.objid, d.subid),
        CASE WHEN v.relkind = 'v' THEN format('DROP VIEW %s', v.name)
             WHEN v.relkind = 'm' THEN format('DROP MATERIALIZED VIEW %s', v.name)
             WHEN k.oid IS NOT NULL
                 THEN format('ALTER TABLE %s DROP CONSTRAINT %I', k.relation, k.conname)
        END,
        CASE WHEN v.relkind = 'v' THEN format('CREATE VIEW %s%s AS %s', v.name,
                 ' WITH (' || array_to_string(v.reloptions, ', ') || ')', rtrim(pg_get_viewdef(v.oid), ';'))
             WHEN v.relkind = 'm' THEN format('CREATE MATERIALIZED VIEW %s AS %s', v.name,
                 rtrim(pg_get_viewdef(v.oid), ';'))
             WHEN k.oid IS NOT NULL THEN format('ALTER TABLE %s ADD CONSTRAINT %I %s', k.relation, k.conname,
                 pg_get_constraintdef(k.oid))
        END
    FROM dependent AS d
    LEFT JOIN (SELECT c.oid, c.relkind, c.reloptions, format('%I.%I', n.nspname, c.relname) AS name
               FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
               WHERE c.relkind IN ('v', 'm')) AS v
        ON d.classid = 'pg_class'::regclass AND v.oid = d.objid
    LEFT JOIN (SELECT f.oid, f.conname, format('%I.%I', n.nspname, c.relname) AS relation
               FROM pg_constraint AS f JOIN pg_class AS c ON c.oid = f.conrelid
               JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE f.contype = 'f') AS k
        ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
    WHERE d.classid <> 'pg_class'::regclass OR v.oid IS NOT NULL OR d.depth = 1000
    ORDER BY d.depth DESC, 1";

/// Names of the schema `$1` that are not tables: what they are, and their quoted names.
const NOT_TABLES: &str = "\
    SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' \
               WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'c' THEN 'TYPE' \
               ELSE 'INDEX' END, format('%I.%I', n.nspname, c.relname) \
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE n.nspname = $1 AND c.relname = ANY($2) AND c.relkind NOT IN ('r', 'p') ORDER BY 2";

/// Properties of the tables `$2` of the schema `$1` that a table made for the move has not.
const PROPERTIES: &str = "\
    SELECT c.relname::text, concat_ws(', ', \
        CASE WHEN c.relrowsecurity THEN 'row-level security' END, \
        CASE WHEN EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid) THEN 'policies' END, \
        CASE WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal) \
            THEN 'triggers' END, \
        CASE WHEN c.relacl IS NOT NULL THEN 'grants' END, \
        CASE WHEN c.relkind = 'p' THEN 'partitions' END, \
        CASE WHEN (to_jsonb(c) ->> 'relispartition')::boolean THEN 'its place as a partition' END) \
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE n.nspname = $1 AND c.relname = ANY($2) AND c.relkind IN ('r', 'p') ORDER BY 1";

/// A warning for each table that `--replace` drops with properties which the new one has not.
pub async fn lost_properties(
    session: &TargetSession,
    namespace: &str,
    tables: &[String],
) -> Result<Vec<Finding>, Error> {
    let failed = Error::postgres("cannot read the properties of the target's tables");
    let rows = session.client.query(PROPERTIES, &[&namespace, &tables]).await.map_err(failed)?;
    let of_table = |row: &Row| {
        let (table, lost): (String, String) = (row.get(0), row.get(1));
        let message =
            format!("--replace drops the target's table and makes another without its {lost}");
        let fix =
            "make them again after the move, or replace the rows alone: --data-only --replace";
        (!lost.is_empty()).then(|| Finding::warning("lost_properties", &table, message, fix))
    };
    Ok(rows.iter().filter_map(of_table).collect())
}

/// Fails if tables of these names cannot be dropped: names each object that prevents it.
pub async fn refuse(
    session: &TargetSession,
    namespace: &str,
    tables: &[String],
) -> Result<(), Error> {
    let failed = || Error::postgres("cannot read what depends on the target's tables");
    let rows = session.client.query(NOT_TABLES, &[&namespace, &tables]).await.map_err(failed())?;
    let others: Vec<(String, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    if !others.is_empty() {
        let names = others.iter().map(|(kind, name)| format!("{} {name}", kind.to_lowercase()));
        let drops = others.iter().map(|(kind, name)| format!("DROP {kind} {name}"));
        return Err(Error::Target(format!(
            "--replace drops tables alone, and names of the file are in the target: {}; leave them out by \
             --exclude, name another schema by --schema, or, in the target, before the move: {}",
            list(names),
            drops.collect::<Vec<_>>().join("; ")
        )));
    }
    // Names come with their schemas.
    let path = "SELECT current_setting('search_path'), set_config('search_path', '', false)";
    let path: String = session.client.query_one(path, &[]).await.map_err(failed())?.get(0);
    let found = session.client.query(DEPENDENTS, &[&namespace, &tables]).await.map_err(failed())?;
    let sql = "SELECT set_config('search_path', $1, false)";
    session.client.execute(sql, &[&path]).await.map_err(failed())?;
    if found.is_empty() { Ok(()) } else { Err(Error::Target(refusal(&found))) }
}

fn refusal(found: &[Row]) -> String {
    let names = list(found.iter().map(|row| row.get::<_, String>(0)));
    let statements =
        |place: usize| found.iter().filter_map(move |row| row.get::<_, Option<String>>(place));
    let drops: Vec<String> = statements(1).collect();
    let mut makes: Vec<String> = statements(2).collect();
    makes.reverse();
    let unknown = found.iter().filter(|row| row.get::<_, Option<String>>(1).is_none());
    let unknown = list(unknown.map(|row| row.get::<_, String>(0)));
    let mut ways = vec![
        "replace the rows alone by --data-only --replace, which leaves all of them in place"
            .to_owned(),
    ];
    if !drops.is_empty() {
        ways.push(format!(
            "in the target, before the move: {}; after it: {}",
            drops.join("; "),
            makes.join("; ")
        ));
    }
    if !unknown.is_empty() {
        ways.push(format!("drop before the move, and make again after it: {unknown}"));
    }
    format!(
        "objects of the target depend on tables that --replace drops: {names}; {}",
        ways.join("; or, ")
    )
}
