//! Sequences behind identity, serial and `nextval` columns of the target: their bounds, the columns
//! that take numbers from them, and the statement that makes them go on.

use tokio_postgres::{Client, Row};

use super::column_default::ColumnDefault;
use super::matching::MatchedTable;
use crate::Error;
use crate::display::sql_text;
use crate::source::{SourceSchema, quoted};

/// First release with a transactional `ALTER SEQUENCE ... RESTART`, with bounds in the catalog and
/// with sequences of a type.
const TRANSACTIONAL_SINCE: i32 = 100_000;

/// Sequences that columns of the tables `$1` own or that their defaults use, each with every column of
/// the database that does so: one may be shared, and may be in another schema. `$2` to `$4` are those that
/// defaults name without a trace among the dependencies: table, column, sequence.
const USES: &str = r"
    WITH used(relation, number, sequence) AS (
        SELECT d.refobjid, d.refobjsubid, d.objid FROM pg_depend AS d
        WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
          AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i')
        UNION
        SELECT f.adrelid, f.adnum, d.refobjid FROM pg_attrdef AS f
        JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid
        WHERE d.refclassid = 'pg_class'::regclass
        UNION
        SELECT * FROM unnest($2::oid[], $3::int4[], $4::oid[])
        UNION
        SELECT f.adrelid, f.adnum, b.refobjid
        FROM pg_attrdef AS f
        JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid
          AND d.refclassid = 'pg_proc'::regclass
        JOIN pg_depend AS b ON b.classid = 'pg_proc'::regclass AND b.objid = d.refobjid
          AND b.refclassid = 'pg_class'::regclass
        WHERE f.adrelid = ANY($1))
    SELECT s.oid, format('%I.%I', n.nspname, s.relname),
           pg_has_role(s.relowner, 'USAGE') AND has_schema_privilege(n.oid, 'USAGE'),
           has_sequence_privilege(s.oid, 'SELECT') AND has_sequence_privilege(s.oid, 'UPDATE')
               AND has_schema_privilege(n.oid, 'USAGE'),
           t.oid, format('%I.%I', o.nspname, t.relname), a.attname::text,
           coalesce(b.typname, y.typname)::text,
           has_column_privilege(t.oid, a.attnum, 'SELECT') AND has_schema_privilege(o.oid, 'USAGE'),
           current_user::text
    FROM used AS u
    JOIN pg_class AS s ON s.oid = u.sequence AND s.relkind = 'S'
    JOIN pg_namespace AS n ON n.oid = s.relnamespace
    JOIN pg_class AS t ON t.oid = u.relation AND t.relkind IN ('r', 'p')
    JOIN pg_namespace AS o ON o.oid = t.relnamespace AND NOT pg_is_other_temp_schema(o.oid)
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = u.number AND NOT a.attisdropped
    JOIN pg_type AS y ON y.oid = a.atttypid
    LEFT JOIN pg_type AS b ON y.typtype = 'd' AND b.oid = y.typbasetype
    WHERE s.oid IN (SELECT sequence FROM used WHERE relation = ANY($1))
    ORDER BY s.oid, t.oid, a.attnum";

/// A sequence with the columns that take numbers from it.
#[derive(Clone, Debug)]
pub struct TargetSequence {
    /// Quoted, with its schema.
    pub name: String,
    pub increment: i64,
    pub least: i64,
    pub most: i64,
    /// This session's user, who may restart it, or only set its value.
    pub user: String,
    pub may_restart: bool,
    pub may_set: bool,
    pub uses: Vec<SequenceUse>,
}

/// A column that takes numbers from a sequence.
#[derive(Clone, Debug)]
pub struct SequenceUse {
    pub table: u32,
    /// The table's name, quoted, with its schema.
    pub relation: String,
    pub column: String,
    /// The whole numbers that its type holds; `None` for other types.
    pub range: Option<(i64, i64)>,
    is_numeric: bool,
    is_readable: bool,
}

impl SequenceUse {
    fn of(row: &Row) -> Self {
        let type_name: String = row.get(7);
        let range = match type_name.as_str() {
            "int2" => Some((i16::MIN.into(), i16::MAX.into())),
            "int4" => Some((i32::MIN.into(), i32::MAX.into())),
            "int8" | "numeric" => Some((i64::MIN, i64::MAX)),
            _ => None,
        };
        Self {
            table: row.get(4),
            relation: row.get(5),
            column: row.get(6),
            range,
            is_numeric: type_name == "numeric",
            is_readable: row.get(8),
        }
    }

    /// The largest whole number in the column, or the least.
    async fn extreme(&self, client: &Client, function: &str) -> Result<Option<i64>, Error> {
        if self.range.is_none() || !self.is_readable {
            return Ok(None);
        }
        let (column, relation) = (quoted(&self.column), &self.relation);
        let (what, within) = match self.is_numeric {
            true => (
                format!("trunc({column})"),
                format!(" WHERE {column} BETWEEN {} AND {}", i64::MIN, i64::MAX),
            ),
            false => (column, String::new()),
        };
        let sql = format!("SELECT {function}({what})::bigint FROM {relation}{within}");
        let failed = Error::postgres(format!("cannot read the numbers of {relation}"));
        Ok(client.query_one(&sql, &[]).await.map_err(failed)?.get(0))
    }
}

impl TargetSequence {
    /// The sequences that the tables use, with those that their `defaults` name.
    pub async fn read_all(
        client: &Client,
        matched: &[MatchedTable],
        defaults: &[ColumnDefault],
        server_version: i32,
    ) -> Result<Vec<Self>, Error> {
        let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
        let (mut relations, mut numbers, mut named) = (Vec::new(), Vec::new(), Vec::new());
        for default in defaults {
            for sequence in &default.sequences {
                relations.push(default.table);
                numbers.push(default.number);
                named.push(*sequence);
            }
        }
        let failed = Error::postgres("cannot read the target's sequences");
        let rows = client.query(USES, &[&tables, &relations, &numbers, &named]).await;
        let rows = rows.map_err(failed)?;
        let mut sequences: Vec<(u32, Self)> = Vec::new();
        for row in rows {
            let oid: u32 = row.get(0);
            if sequences.last().is_none_or(|(last, _)| *last != oid) {
                sequences.push((oid, Self::of(client, &row, oid, server_version).await?));
            }
            if let Some((_, sequence)) = sequences.last_mut() {
                sequence.uses.push(SequenceUse::of(&row));
            }
        }
        Ok(sequences.into_iter().map(|(_, sequence)| sequence).collect())
    }

    async fn of(client: &Client, row: &Row, oid: u32, server_version: i32) -> Result<Self, Error> {
        let (name, may_restart, may_set): (String, bool, bool) =
            (row.get(1), row.get(2), row.get(3));
        let sql = match (server_version >= TRANSACTIONAL_SINCE, may_restart || may_set) {
            (true, _) => format!(
                "SELECT seqincrement, seqmin, seqmax FROM pg_sequence WHERE seqrelid = {oid}::oid"
            ),
            (false, true) => format!("SELECT increment_by, min_value, max_value FROM {name}"),
            // Hidden from a role that may not set it, which is the finding: those of most sequences.
            (false, false) => format!("SELECT 1::bigint, 1::bigint, {}::bigint", i64::MAX),
        };
        let failed = Error::postgres(format!("cannot read the bounds of {name}"));
        let bounds = client.query_one(&sql, &[]).await.map_err(failed)?;
        let (increment, least, most) = (bounds.get(0), bounds.get(1), bounds.get(2));
        let (user, uses) = (row.get(9), Vec::new());
        Ok(Self { name, increment, least, most, user, may_restart, may_set, uses })
    }

    pub fn ascends(&self) -> bool {
        self.increment > 0
    }

    /// The last number in its direction.
    pub fn end(&self) -> i64 {
        if self.ascends() { self.most } else { self.least }
    }

    /// The one of two numbers that is further in its direction.
    pub fn further(&self, one: Option<i64>, other: Option<i64>) -> Option<i64> {
        let both = one.into_iter().chain(other);
        if self.ascends() { both.max() } else { both.min() }
    }

    /// The furthest number in the columns that use it, of those tables that `counts` names, and its
    /// own position: programs outside the database may know it, even if its row is replaced.
    pub async fn furthest(
        &self,
        client: &Client,
        counts: impl Fn(u32) -> bool,
    ) -> Result<Option<i64>, Error> {
        let function = if self.ascends() { "max" } else { "min" };
        let mut furthest = None;
        for each in self.uses.iter().filter(|each| counts(each.table)) {
            furthest = self.further(furthest, each.extreme(client, function).await?);
        }
        Ok(self.further(furthest, self.position(client).await?))
    }

    /// The number after which it goes on; `None` if this user may not know it.
    pub async fn position(&self, client: &Client) -> Result<Option<i64>, Error> {
        if !self.may_restart && !self.may_set {
            return Ok(None);
        }
        let sql = format!("SELECT last_value, is_called FROM {}", self.name);
        let failed = Error::postgres(format!("cannot read {}", self.name));
        let row = client.query_one(&sql, &[]).await.map_err(failed)?;
        let last: i64 = row.get(0);
        // One that was started or restarted gives out its last value first.
        Ok(match row.get(1) {
            true => Some(last),
            false => last.checked_sub(self.increment.signum()),
        })
    }

    /// `true` if no number is left once `last` is given out.
    pub fn is_at_end(&self, last: i64) -> bool {
        if self.ascends() { last >= self.most } else { last <= self.least }
    }

    /// The statement that makes it go on after `last`; `None` if it already does.
    pub fn after(&self, last: i64, server_version: i32) -> Option<SequenceStatement> {
        let Self { name, least, most, .. } = self;
        let is_before_the_first = if self.ascends() { last < *least } else { last > *most };
        if is_before_the_first {
            return None;
        }
        let is_transactional = self.may_restart && server_version >= TRANSACTIONAL_SINCE;
        let sql = match is_transactional && !self.is_at_end(last) {
            true => {
                let next = if self.ascends() { last + 1 } else { last - 1 };
                format!("ALTER SEQUENCE {name} RESTART WITH {next}")
            }
            // At its end there is no number to restart with: the next insert must be refused.
            false => {
                let last = last.clamp(*least, *most);
                format!("SELECT setval({}, {last}, true)", sql_text(name))
            }
        };
        Some(SequenceStatement { sql, is_transactional })
    }

    /// The statement that gives it all numbers of its direction; `None` if it has them already. Columns
    /// too narrow for them are widened with it.
    pub fn widening(&self, server_version: i32) -> Option<String> {
        let all = if self.ascends() { i64::MAX } else { i64::MIN };
        if self.end() == all {
            return None;
        }
        let narrow = |each: &&SequenceUse| each.range.is_some_and(|range| range.1 < i64::MAX);
        let columns = self.uses.iter().filter(narrow).map(|each| {
            let column = quoted(&each.column);
            format!("ALTER TABLE {} ALTER COLUMN {column} TYPE bigint; ", each.relation)
        });
        let of_type = if server_version >= TRANSACTIONAL_SINCE { " AS bigint" } else { "" };
        let bound = if self.ascends() { "MAXVALUE" } else { "MINVALUE" };
        let columns = columns.collect::<String>();
        Some(format!("{columns}ALTER SEQUENCE {}{of_type} NO {bound}", self.name))
    }
}

/// The furthest number that is taken though no row of the target has it, in a table that takes them from
/// `sequence`: given out by AUTOINCREMENT, or of a rejected row.
pub fn given_out(
    sequence: &TargetSequence,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Option<i64> {
    let of_use = |each: &SequenceUse| {
        let table = matched.iter().find(|table| table.oid == each.table)?;
        let column = table.columns.iter().find(|column| column.name == each.column)?;
        let source = &schema.tables[table.source];
        let rejected = table.rejected.iter().copied().max();
        let last = source.autoincrement.max(rejected)?;
        (last > 0 && source.is_numbered(column.source)).then_some(last)
    };
    // SQLite's numbers ascend.
    sequence.uses.iter().filter_map(of_use).max().filter(|_| sequence.ascends())
}

/// A statement that sets a sequence.
pub struct SequenceStatement {
    pub sql: String,
    /// A rollback undoes it.
    pub is_transactional: bool,
}
