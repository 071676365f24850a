//! Rights that the role of a session lacks, with the statements that give them.

use tokio_postgres::Client;

use super::matching::MatchedTable;
use crate::Error;

/// Use of the tables of the target.
#[derive(Clone, Copy)]
pub enum TableAccess {
    /// They are made or replaced, or their keys and indexes are taken away and made again.
    Change,
    Read,
}

/// Words before statements that give rights.
pub const AS_SUPERUSER: &str = "as a superuser of the target";

/// Statements for what is missing: $1 the schema, $2 rights on it, $3 the tables, $4 whether the target
/// is changed, for which a schema is made, $5 whether a table without keys may belong to another role.
const MISSING: &str = "\
    SELECT format('GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user) \
    WHERE $4 AND NOT has_database_privilege(current_database(), 'CREATE') \
    UNION ALL \
    SELECT format('GRANT %s ON SCHEMA %I TO %I', r.right, n.nspname, current_user) \
    FROM pg_namespace AS n CROSS JOIN unnest($2::text[]) AS r(\"right\") \
    WHERE n.nspname = $1 AND NOT has_schema_privilege(n.oid, r.right) \
    UNION ALL \
    SELECT CASE WHEN $4 THEN format('ALTER TABLE %I.%I OWNER TO %I', $1, c.relname, current_user) \
           ELSE format('GRANT SELECT ON %I.%I TO %I', $1, c.relname, current_user) END \
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname = ANY($3) \
      AND CASE WHEN $4 THEN NOT pg_has_role(c.relowner, 'USAGE') \
               AND NOT ($5 AND NOT c.relhasindex AND has_table_privilege(c.oid, 'TRUNCATE')) \
          ELSE NOT has_table_privilege(c.oid, 'SELECT') END";

/// The error itself, with the statements after it if the server refused it for want of rights.
pub async fn explain(
    error: Error,
    client: &Client,
    namespace: &str,
    tables: &[String],
    access: TableAccess,
) -> Error {
    if !error.is_refused_right() {
        return error;
    }
    let (on_schema, is_changed): (&[&str], bool) = match access {
        TableAccess::Change => (&["USAGE", "CREATE"], true),
        TableAccess::Read => (&["USAGE"], false),
    };
    let asked =
        client.query(MISSING, &[&namespace, &on_schema, &tables, &is_changed, &false]).await;
    let statements: Vec<String> = asked.unwrap_or_default().iter().map(|row| row.get(0)).collect();
    match statements.is_empty() {
        true => error,
        false => Error::Target(format!("{error}; {AS_SUPERUSER}: {}", statements.join("; "))),
    }
}

/// The statements without which a load of existing tables is refused.
pub async fn needed_to_load(
    client: &Client,
    namespace: &str,
    tables: &[String],
) -> Result<Vec<String>, Error> {
    let on_schema: &[&str] = &["USAGE", "CREATE"];
    let failed = Error::postgres("cannot read the rights of the role");
    let asked = client.query(MISSING, &[&namespace, &on_schema, &tables, &true, &true]).await;
    Ok(asked.map_err(failed)?.iter().map(|row| row.get(0)).collect())
}

/// Fails if row-level security may hide rows of the tables from the role.
pub async fn refuse_hidden_rows(client: &Client, tables: &[MatchedTable]) -> Result<(), Error> {
    let guarded = "\
        SELECT quote_ident(current_user), string_agg(c.oid::regclass::text, ', ' ORDER BY c.oid) \
        FROM pg_class AS c WHERE c.oid = ANY($1) AND row_security_active(c.oid) HAVING count(*) > 0";
    let tables: Vec<u32> = tables.iter().map(|table| table.oid).collect();
    let failed = Error::postgres("cannot read the target's row-level security");
    let Some(row) = client.query_opt(guarded, &[&tables]).await.map_err(failed)? else {
        return Ok(());
    };
    let (role, names): (String, String) = (row.get(0), row.get(1));
    Err(Error::Target(format!(
        "row-level security may hide rows of {names} from the role {role}, so that nothing can be \
         compared; {AS_SUPERUSER}: ALTER ROLE {role} BYPASSRLS; or name the tables' owner in URL"
    )))
}

/// Fails if the role may not make indexes where it takes them away.
pub async fn ensure_indexes(client: &Client, tables: &[u32]) -> Result<(), Error> {
    let missing = "\
        SELECT DISTINCT format('GRANT CREATE ON SCHEMA %I TO %I', n.nspname, current_user) \
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE c.oid = ANY($1) AND NOT has_schema_privilege(n.oid, 'CREATE')";
    let failed = Error::postgres("cannot read the rights of the role");
    let rows = client.query(missing, &[&tables]).await.map_err(failed)?;
    let statements: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    if statements.is_empty() {
        return Ok(());
    }
    let statements = statements.join("; ");
    Err(Error::Target(format!(
        "the role may not make the indexes again that a load takes away; {AS_SUPERUSER}: {statements}"
    )))
}
