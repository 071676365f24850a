//! The measuring client's connection against a real server: parameters and values of every kind,
//! refusals that leave the session usable, a server that stops, answers, or is too slow.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use connect::postgres::thin::{
    BoundParameter, PreparedStatement, ThinConnection, ThinError, ThinRow, WaitLimits,
};
use engine::PostgresUrl;
use server::StartOptions;
use support::{Place, start};

type Values = Vec<Option<String>>;

fn connect<'a>(url: &PostgresUrl, limits: WaitLimits<'a>) -> ThinConnection<'a> {
    tokio::task::block_in_place(|| ThinConnection::connect(url, &[("TimeZone", "UTC")], limits))
        .unwrap()
}

fn values(row: ThinRow<'_>) -> Values {
    row.values().map(|value| value.map(|v| String::from_utf8(v.to_vec()).unwrap())).collect()
}

fn rows(
    connection: &mut ThinConnection<'_>,
    statement: &PreparedStatement,
    parameters: &[BoundParameter<'_>],
) -> Vec<Values> {
    let mut rows = Vec::new();
    connection.execute(statement, parameters, |row| rows.push(values(row))).unwrap();
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_and_values_of_every_kind() {
    let place = Place::new();
    let server = start(&place, StartOptions::new("18").unwrap().temporary()).await.unwrap();
    let never = AtomicBool::new(false);
    let limits = WaitLimits { timeout: Duration::from_secs(60), interrupted: &never };
    let mut connection = connect(&server.url("crossover"), limits);

    let sql = "SELECT $1::int, $2::float8, $3::text, $4::bytea, $5::date, $6::numeric, $7::boolean";
    let statement = connection.prepare(sql, &[]).unwrap();
    assert_eq!(statement.parameter_types, [23, 701, 25, 17, 1082, 1700, 16]);
    assert_eq!(statement.columns[5].type_oid, 1700);
    let parameters = [
        BoundParameter::Integer(-7),
        BoundParameter::Double(0.1),
        BoundParameter::Text("ä'\\"),
        BoundParameter::Binary(&[0, 255]),
        BoundParameter::Text("2021-02-03"),
        BoundParameter::Text("12.50"),
        BoundParameter::Integer(1),
    ];
    let expected = ["-7", "0.1", "ä'\\", "\\x00ff", "2021-02-03", "12.50", "t"];
    let expected: Values = expected.iter().map(|value| Some((*value).to_owned())).collect();
    assert_eq!(rows(&mut connection, &statement, &parameters), [expected]);
    let nulls = rows(&mut connection, &statement, &[BoundParameter::Null; 7]);
    assert_eq!(nulls, [vec![None; 7]]);

    // Many rows, and one longer than any buffer so far.
    let many =
        connection.prepare("SELECT i, repeat('x', i) FROM generate_series(1, $1) i", &[]).unwrap();
    let seen = rows(&mut connection, &many, &[BoundParameter::Integer(2_000)]);
    assert_eq!(seen.len(), 2_000);
    assert!(seen.iter().enumerate().all(|(at, row)| row[1].as_ref().unwrap().len() == at + 1));

    connection.query("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)", |_| {}).unwrap();
    let update = connection.prepare("UPDATE t SET a = a + $1", &[]).unwrap();
    assert!(update.columns.is_empty());
    assert_eq!(connection.execute(&update, &[BoundParameter::Integer(1)], |_| {}).unwrap(), 2);
    drop(connection);
    server.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_leave_the_session_usable_and_lost_servers_are_told() {
    let place = Place::new();
    let server = start(&place, StartOptions::new("18").unwrap().temporary()).await.unwrap();
    let never = AtomicBool::new(false);
    let limits = WaitLimits { timeout: Duration::from_secs(60), interrupted: &never };
    let mut connection = connect(&server.url("crossover"), limits);

    let refusal = connection.prepare("SELECT\n nope", &[]).unwrap_err();
    let ThinError::Server { code, position, .. } = &refusal else { panic!("{refusal}") };
    assert_eq!((code.as_str(), *position), ("42703", Some(9)));
    assert!(!refusal.ends_connection());
    connection.query("BEGIN", |_| {}).unwrap();
    let divide = connection.prepare("SELECT 1 / $1::int", &[]).unwrap();
    let refusal = connection.execute(&divide, &[BoundParameter::Integer(0)], |_| {}).unwrap_err();
    assert_eq!(refusal.to_string(), "division by zero");
    assert!(connection.in_transaction());
    connection.query("ROLLBACK", |_| {}).unwrap();
    assert!(!connection.in_transaction());
    assert_eq!(
        rows(&mut connection, &divide, &[BoundParameter::Integer(1)]),
        [[Some("1".to_owned())]]
    );
    let copy = connection.query("COPY (SELECT 1) TO STDOUT", |_| {});
    copy.unwrap();

    let short = WaitLimits { timeout: Duration::from_secs(5), interrupted: &never };
    let mut hasty = connect(&server.url("crossover"), short);
    let late = hasty.query("SELECT pg_sleep(60)", |_| {}).unwrap_err();
    assert!(matches!(late, ThinError::TimedOut(_)) && late.ends_connection(), "{late}");
    let stop = AtomicBool::new(false);
    let told = WaitLimits { timeout: Duration::from_secs(60), interrupted: &stop };
    let mut stopped = connect(&server.url("crossover"), told);
    stop.store(true, Ordering::Relaxed);
    let error = stopped.query("SELECT pg_sleep(60)", |_| {}).unwrap_err();
    assert!(matches!(error, ThinError::Interrupted), "{error}");

    server.stop().await.unwrap();
    let lost = connection.execute(&divide, &[BoundParameter::Integer(1)], |_| {}).unwrap_err();
    assert!(lost.ends_connection(), "{lost}");
}
