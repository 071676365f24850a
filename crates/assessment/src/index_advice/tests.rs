//! Proposals for known statements, and none where an index brings nothing.

use super::*;

/// 20,000 orders of 500 customers, of whom one in a hundred is rare.
fn shop() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE); \
             CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, day TEXT, \
                 \"Total Price\" INTEGER, doubled AS (\"Total Price\" * 2), flag INTEGER); \
             CREATE INDEX by_day ON orders(day); \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
             INSERT INTO orders(id, customer_id, day, \"Total Price\", flag) \
             SELECT i, i % 500, 'day ' || (i % 300), i % 7919, 1 FROM n; \
             INSERT INTO customers SELECT id, 'name ' || id FROM orders WHERE id <= 500; \
             ANALYZE",
        )
        .unwrap();
    connection
}

fn proposed(statements: &[&str]) -> Vec<String> {
    let all = propose(&shop(), statements).unwrap();
    all.into_iter().map(|proposal| proposal.sql).collect()
}

#[test]
fn a_filter_without_index_gets_one() {
    let found = proposed(&["SELECT * FROM orders WHERE customer_id = 7"]);
    assert_eq!(found, ["CREATE INDEX orders_customer_id ON orders(customer_id)"]);
}

#[test]
fn equality_comes_before_range_and_order() {
    let found =
        proposed(&["SELECT * FROM orders WHERE \"Total Price\" > 7000 AND customer_id = 7"]);
    let expected = "CREATE INDEX orders_customer_id_total_price ON \
                    orders(customer_id, \"Total Price\")";
    assert_eq!(found, [expected]);
    let found =
        proposed(&["SELECT id FROM orders WHERE customer_id = 7 ORDER BY day DESC LIMIT 3"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("(customer_id, day"), "{found:?}");
}

#[test]
fn an_index_that_exists_is_not_proposed_again() {
    assert!(proposed(&["SELECT * FROM orders WHERE day = 'day 3'"]).is_empty());
    assert!(proposed(&["SELECT * FROM orders WHERE id = 3"]).is_empty());
    assert!(proposed(&["SELECT count(*) FROM orders"]).is_empty());
}

#[test]
fn an_index_on_a_column_of_one_value_is_not_proposed() {
    assert_eq!(proposed(&["SELECT * FROM orders WHERE flag = 1"]), Vec::<String>::new());
}

#[test]
fn a_shorter_index_gives_way_to_one_that_begins_with_it() {
    let found = proposed(&[
        "SELECT * FROM orders WHERE customer_id = 7",
        "SELECT * FROM orders WHERE customer_id = 7 AND \"Total Price\" = 7",
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_collation_other_than_the_column_has_is_written_down() {
    let found = proposed(&["SELECT * FROM customers WHERE name = 'Name 3'"]);
    assert_eq!(found, ["CREATE INDEX customers_name ON customers(name)"]);
    let found = proposed(&["SELECT * FROM customers WHERE name = 'x' COLLATE BINARY"]);
    let expected = "CREATE INDEX customers_name ON customers(name COLLATE \"BINARY\")";
    assert_eq!(found, [expected]);
}

#[test]
fn every_proposal_is_used_by_the_real_planner() {
    let file = shop();
    let statements = [
        "SELECT count(*) FROM orders AS o JOIN customers AS c ON o.customer_id = c.id \
         WHERE c.name = 'name 3'",
        "SELECT * FROM orders WHERE \"Total Price\" BETWEEN 10 AND 12",
    ];
    let proposals = propose(&file, &statements).unwrap();
    assert!(proposals.len() >= 2, "{proposals:?}");
    for proposal in &proposals {
        file.execute_batch(&proposal.sql).unwrap();
    }
    file.execute_batch("ANALYZE").unwrap();
    let used: BTreeSet<String> = indexes_used(&file, &statements).into_iter().flatten().collect();
    for proposal in proposals {
        assert!(used.contains(&proposal.name), "{} of {used:?}", proposal.name);
    }
}
