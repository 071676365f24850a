//! Existing tables of the target, read from PostgreSQL's catalog (releases 9.6 to 18).

use engine::PostgresUrl;
use tokio_postgres::Client;

use super::lock_wait::explain_lock;
use super::session::LOCK_WAIT;
use crate::Error;
use crate::source::quoted;
use crate::value::{CatalogType, PostgresType};

/// The tables of one schema of the target.
#[derive(Clone, Debug, Default)]
pub struct TargetCatalog {
    pub schema: String,
    /// Tables, views and foreign tables.
    pub relations: Vec<Relation>,
}

#[derive(Clone, Debug)]
pub struct Relation {
    pub oid: u32,
    pub name: String,
    /// `pg_class.relkind`: `r` table, `p` partitioned table, `v` view, ...
    pub kind: String,
    /// It has triggers other than PostgreSQL's internal ones.
    pub has_triggers: bool,
    pub columns: Vec<RelationColumn>,
}

#[derive(Clone, Debug)]
pub struct RelationColumn {
    pub name: String,
    /// Its type; `None` if Crossover does not write it.
    pub postgres_type: Option<PostgresType>,
    /// Its type as the server shows it.
    pub shown_type: String,
    pub not_null: bool,
    /// It fills itself if left out.
    pub has_default: bool,
    /// Its own default, as the server shows it.
    pub default: Option<String>,
    /// It is computed from others and cannot be written.
    pub generated: Option<GeneratedColumn>,
    pub comment: Option<String>,
    /// The CHECK constraints of the table in which it is, by their quoted names, with their definitions.
    pub checks: Vec<(String, String)>,
}

/// The way in which the target computes a column.
#[derive(Clone, Debug)]
pub struct GeneratedColumn {
    pub expression: String,
    /// `DROP EXPRESSION` makes an ordinary column of it: a stored one, since release 13.
    is_separable: bool,
}

impl GeneratedColumn {
    /// The statements that make it an ordinary column of this type, by an action of ALTER COLUMN where
    /// the column itself stays.
    pub fn changed(
        &self,
        relation: &str,
        name: &str,
        postgres_type: &PostgresType,
        action: &str,
    ) -> String {
        let ordinary = self.made_ordinary(relation, name, postgres_type);
        match self.is_separable {
            true => format!("{ordinary}; ALTER TABLE {relation} ALTER COLUMN {name} {action}"),
            false => ordinary,
        }
    }

    /// The statement that makes it an ordinary column; the names are quoted.
    pub fn made_ordinary(
        &self,
        relation: &str,
        name: &str,
        postgres_type: &PostgresType,
    ) -> String {
        match self.is_separable {
            true => format!("ALTER TABLE {relation} ALTER COLUMN {name} DROP EXPRESSION"),
            false => format!(
                "ALTER TABLE {relation} DROP COLUMN {name}, ADD COLUMN {name} {postgres_type}"
            ),
        }
    }
}

impl TargetCatalog {
    /// The quoted name of a table of this schema, with the schema.
    pub fn quoted(&self, table: &str) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(table))
    }

    /// The counterpart of the source's table `name`: the same name, otherwise the only one that
    /// differs in case.
    pub fn relation(&self, name: &str) -> Option<&Relation> {
        by_name(&self.relations, name, |relation| &relation.name)
    }
}

impl Relation {
    /// The counterpart of the source's column `name`, by the same rule.
    pub fn column(&self, name: &str) -> Option<&RelationColumn> {
        by_name(&self.columns, name, |column| &column.name)
    }
}

fn by_name<'a, T>(items: &'a [T], name: &str, of: impl Fn(&T) -> &str) -> Option<&'a T> {
    if let Some(same) = items.iter().find(|item| of(item) == name) {
        return Some(same);
    }
    let mut similar = items.iter().filter(|item| of(item).eq_ignore_ascii_case(name));
    similar.next().filter(|_| similar.next().is_none())
}

/// `schema`, or the one in which unqualified tables are created: the first of the search path.
pub async fn namespace(client: &Client, schema: Option<&str>) -> Result<String, Error> {
    if let Some(schema) = schema {
        return Ok(schema.to_owned());
    }
    let row = client
        .query_one("SELECT current_schema()::text", &[])
        .await
        .map_err(Error::postgres("cannot read the search path"))?;
    row.get::<_, Option<String>>(0).ok_or_else(|| {
        Error::Target("no schema of the search path exists; name one by --schema".to_owned())
    })
}

/// Reads the tables of a schema, or of the first of the search path, over a connection of its own.
pub async fn read_catalog(url: &PostgresUrl, schema: Option<&str>) -> Result<TargetCatalog, Error> {
    let client = connect::postgres::connect(url).await?;
    let sql = format!("SET lock_timeout = '{LOCK_WAIT}'");
    client.batch_execute(&sql).await.map_err(Error::postgres("cannot begin"))?;
    let schema = namespace(&client, schema).await?;
    catalog(&client, &schema).await.map_err(explain_lock)
}

/// `to_jsonb` reads columns that older releases do not have (attidentity since 10, attgenerated
/// since 12) as NULL.
const COLUMNS: &str = "\
    SELECT c.oid, c.relname::text, c.relkind::text, a.attname::text, \
           coalesce(d.typname, m.typname, b.typname, t.typname)::text, \
           CASE WHEN coalesce(d.oid, m.oid, b.oid, t.oid) = 'money'::regtype \
               THEN scale(1::money::numeric) \
               WHEN d.oid IS NOT NULL THEN m.typtypmod \
               WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, \
           format_type(a.atttypid, a.atttypmod), \
           a.attnotnull OR t.typnotnull, \
           a.atthasdef OR t.typdefault IS NOT NULL \
               OR coalesce(to_jsonb(a) ->> 'attidentity', '') <> '', \
           CASE WHEN coalesce(to_jsonb(a) ->> 'attgenerated', '') <> '' \
               THEN pg_get_expr(f.adbin, f.adrelid) END, \
           coalesce(to_jsonb(a) ->> 'attgenerated', '') = 's' \
               AND current_setting('server_version_num')::int >= 130000, \
           ARRAY(SELECT e.enumlabel::text FROM pg_enum AS e \
                 WHERE e.enumtypid = coalesce(d.oid, m.oid, b.oid, t.oid) ORDER BY e.enumsortorder), \
           EXISTS (SELECT FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal), \
           CASE WHEN coalesce(to_jsonb(a) ->> 'attgenerated', '') = '' \
               THEN pg_get_expr(f.adbin, f.adrelid) END, \
           col_description(c.oid, a.attnum), \
           ARRAY(SELECT quote_ident(k.conname) FROM pg_constraint AS k WHERE k.conrelid = c.oid \
                 AND k.contype = 'c' AND a.attnum = ANY(k.conkey) ORDER BY k.oid), \
           ARRAY(SELECT pg_get_constraintdef(k.oid) FROM pg_constraint AS k WHERE k.conrelid = c.oid \
                 AND k.contype = 'c' AND a.attnum = ANY(k.conkey) ORDER BY k.oid), \
           m.oid \
    FROM pg_class AS c \
    JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    JOIN pg_type AS t ON t.oid = a.atttypid \
    LEFT JOIN pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype \
    LEFT JOIN pg_type AS m ON m.typarray = coalesce(b.oid, t.oid) \
    LEFT JOIN pg_type AS d ON m.typtype = 'd' AND d.oid = m.typbasetype \
    LEFT JOIN pg_attrdef AS f ON f.adrelid = c.oid AND f.adnum = a.attnum \
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
    ORDER BY c.relname, a.attnum";

pub async fn catalog(client: &Client, schema: &str) -> Result<TargetCatalog, Error> {
    let rows = client
        .query(COLUMNS, &[&schema])
        .await
        .map_err(Error::postgres("cannot read the target's tables"))?;
    let mut catalog = TargetCatalog { schema: schema.to_owned(), relations: Vec::new() };
    for row in rows {
        let oid: u32 = row.get(0);
        if catalog.relations.last().is_none_or(|last| last.oid != oid) {
            let (name, kind, has_triggers) = (row.get(1), row.get(2), row.get(12));
            let columns = Vec::new();
            catalog.relations.push(Relation { oid, name, kind, has_triggers, columns });
        }
        let shown_type: String = row.get(6);
        let labels: Vec<String> = row.get(11);
        let expression: Option<String> = row.get(9);
        let is_separable = row.get(10);
        let (checks, definitions): (Vec<String>, Vec<String>) = (row.get(15), row.get(16));
        let entry = CatalogType {
            name: row.get(4),
            modifier: row.get(5),
            labels: &labels,
            shown: &shown_type,
            element_oid: row.get(17),
        };
        let column = RelationColumn {
            name: row.get(3),
            postgres_type: PostgresType::from_catalog(&entry),
            shown_type,
            not_null: row.get(7),
            has_default: row.get(8),
            default: row.get(13),
            generated: expression.map(|expression| GeneratedColumn { expression, is_separable }),
            comment: row.get(14),
            checks: checks.into_iter().zip(definitions).collect(),
        };
        if let Some(relation) = catalog.relations.last_mut() {
            relation.columns.push(column);
        }
    }
    Ok(catalog)
}
