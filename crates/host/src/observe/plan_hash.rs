//! The shape of a plan as a short hash: two plans are one if they differ in nothing but estimates,
//! times and the values that the statement was asked with.

use engine::EngineKind;
use xxhash_rust::xxh3::xxh3_64;

/// Lines of PostgreSQL's plans that report estimates, the machine or one execution.
const NOT_SHAPE: [&str; 12] = [
    "Planned Partitions:",
    "Buckets:",
    "Batches:",
    "Memory Usage:",
    "Sort Method:",
    "Rows Removed",
    "Heap Fetches:",
    "Planning Time:",
    "Execution Time:",
    "Query Identifier:",
    "Disabled:",
    "Buffers:",
];

/// Members of MariaDB's and MySQL's JSON plans of the same kind; also all that begin with `r_`.
const NOT_SHAPE_JSON: [&str; 10] = [
    "rows",
    "filtered",
    "cost",
    "cost_info",
    "loops",
    "query_cost",
    "rows_examined_per_scan",
    "rows_produced_per_join",
    "data_read_per_join",
    "query_optimization",
];

/// Sixteen hexadecimal digits of a plan as an engine of `kind` writes it: PostgreSQL's text format,
/// SQLite's EXPLAIN QUERY PLAN indented by depth, MariaDB's and MySQL's JSON.
#[must_use]
pub fn plan_hash(kind: EngineKind, text: &str) -> String {
    let shape = match kind {
        EngineKind::Postgres => postgres_shape(text),
        EngineKind::Sqlite => sqlite_shape(text),
        EngineKind::Mariadb | EngineKind::Mysql => json_shape(text),
        EngineKind::Http | EngineKind::Dir | EngineKind::Tree | EngineKind::SqliteDir => {
            text.to_owned()
        }
    };
    format!("{:016x}", xxh3_64(shape.as_bytes()))
}

fn postgres_shape(text: &str) -> String {
    let mut shape = String::new();
    for line in text.lines() {
        let words = line.trim_start();
        if NOT_SHAPE.iter().any(|begin| words.starts_with(begin)) {
            continue;
        }
        if words.starts_with("JIT:") {
            // Whether code is compiled follows from the estimated cost alone.
            break;
        }
        let line = before_estimates(line).trim_end();
        // How many processes share a plan is part of it; no value of the statement is there.
        match words.starts_with("Workers Planned:") {
            true => shape.push_str(line),
            false => shape.push_str(&without_values(line)),
        }
        shape.push('\n');
    }
    shape
}

/// A node without `(cost=... rows=... width=...)` and what an execution adds behind it.
fn before_estimates(line: &str) -> &str {
    ["(cost=", "(actual "]
        .iter()
        .filter_map(|begin| line.find(begin))
        .min()
        .and_then(|end| line.get(..end))
        .unwrap_or(line)
}

fn sqlite_shape(text: &str) -> String {
    let mut shape = String::new();
    for line in text.lines() {
        // Releases before 3.8 estimate rows: `(~100000 rows)`.
        let line = line.split_once(" (~").map_or(line, |(before, _)| before);
        shape.push_str(line.trim_end());
        shape.push('\n');
    }
    shape
}

fn json_shape(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(mut plan) => {
            strip(&mut plan);
            plan.to_string()
        }
        Err(_) => without_values(text),
    }
}

fn strip(plan: &mut serde_json::Value) {
    match plan {
        serde_json::Value::Object(members) => {
            members.retain(|name, _| {
                !NOT_SHAPE_JSON.contains(&name.as_str()) && !name.starts_with("r_")
            });
            members.values_mut().for_each(strip);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
        serde_json::Value::String(text) => *text = without_values(text),
        _ => {}
    }
}

/// Numbers, texts in single quotes and numbered parameters become `?`. Names stay, those in
/// double quotes too; what belongs to a name (`index_2`) is no number.
fn without_values(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = characters.next() {
        match c {
            '\'' => {
                skip_quoted(&mut characters, c);
                result.push('?');
            }
            '"' | '`' => {
                result.push(c);
                for inside in characters.by_ref() {
                    result.push(inside);
                    if inside == c {
                        break;
                    }
                }
            }
            _ if (c.is_ascii_digit() || c == '$') && !is_of_name(last) => {
                while characters.next_if(|c| is_of_name(*c) || *c == '.').is_some() {}
                // `-1` and `1` are values alike.
                if result.ends_with('-') && !result.ends_with("--") {
                    result.pop();
                }
                result.push('?');
            }
            _ => result.push(c),
        }
        last = c;
    }
    result
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// To the end of a quoted text; a doubled quote stands for one.
fn skip_quoted(characters: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) {
    while let Some(c) = characters.next() {
        if c == quote && characters.next_if_eq(&quote).is_none() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "\
Limit  (cost=0.43..8.45 rows=1 width=8)
  ->  Index Scan using traffic_2_pkey on traffic  (cost=0.43..8.45 rows=1 width=8)
        Index Cond: ((day >= 18628) AND (day <= 18634))
        Filter: (name = 'it''s 7'::text)";

    #[test]
    fn values_estimates_and_times_do_not_matter() {
        let other = INDEX
            .replace("18628", "-3")
            .replace("18634", "$1")
            .replace("it''s 7", "")
            .replace("rows=1 ", "rows=900 ")
            .replace("8.45", "12345.67");
        assert_eq!(plan_hash(EngineKind::Postgres, INDEX), plan_hash(EngineKind::Postgres, &other));
        let analysed = INDEX.replace("width=8)", "width=8) (actual time=0.1..0.2 rows=1 loops=1)")
            + "\n        Rows Removed by Filter: 3\nPlanning Time: 1.2 ms\nJIT:\n  Functions: 3";
        assert_eq!(
            plan_hash(EngineKind::Postgres, INDEX),
            plan_hash(EngineKind::Postgres, &analysed)
        );
    }

    #[test]
    fn nodes_indexes_conditions_and_workers_matter() {
        let hash = plan_hash(EngineKind::Postgres, INDEX);
        for (part, other) in [
            ("Index Scan using traffic_2_pkey on", "Seq Scan on"),
            ("traffic_2_pkey", "traffic_3_pkey"),
            ("day >= ", "country >= "),
        ] {
            assert_ne!(
                hash,
                plan_hash(EngineKind::Postgres, &INDEX.replace(part, other)),
                "{part}"
            );
        }
        let gather = |workers| format!("Gather  (cost=1..2 rows=1)\n  Workers Planned: {workers}");
        assert_ne!(
            plan_hash(EngineKind::Postgres, &gather(1)),
            plan_hash(EngineKind::Postgres, &gather(2))
        );
    }

    #[test]
    fn plans_of_mariadb_are_compared_without_their_estimates() {
        let plan = |rows: u32, key: &str, value: &str| {
            format!(
                r#"{{"query_block":{{"cost":{rows},"table":{{"key":"{key}","rows":{rows},
                   "attached_condition":"t.a > {value}"}}}}}}"#
            )
        };
        let hash = plan_hash(EngineKind::Mariadb, &plan(10, "a", "7"));
        assert_eq!(hash, plan_hash(EngineKind::Mariadb, &plan(99, "a", "'x'")));
        assert_ne!(hash, plan_hash(EngineKind::Mariadb, &plan(10, "b", "7")));
    }
}
