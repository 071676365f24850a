//! Triggers of foreign keys that were disabled in the target: they are disabled after a load too, or
//! the statement for it is known.

use crate::reject::{load, reject_file, rejecting};
use crate::support::{File, Target, data_only};

const TABLES: &str = "\
    CREATE TABLE p(id bigint PRIMARY KEY); CREATE SCHEMA \"it's\"; \
    CREATE TABLE c(id bigint PRIMARY KEY, p_id bigint CONSTRAINT \"c's p\" REFERENCES p, \
        c_id bigint REFERENCES c); \
    CREATE TABLE \"it's\".d(p_id bigint REFERENCES p, other bigint REFERENCES p); \
    CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; \
    CREATE TRIGGER own AFTER INSERT ON c FOR EACH ROW EXECUTE PROCEDURE nothing()";

/// A trigger's state by its table and constraint: the names of a key's triggers are made by the server.
const STATES: &str = "\
    SELECT format('%s %s %s %s', t.tgrelid::regclass, f.conname, p.proname, t.tgenabled) \
    FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid \
    LEFT JOIN pg_constraint AS f ON f.oid = t.tgconstraint ORDER BY 1";

fn family() -> File {
    File::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1); \
         CREATE TABLE c(id INTEGER PRIMARY KEY, p_id INT, c_id INT); INSERT INTO c VALUES (1, 1, 1)",
    )
}

#[tokio::test]
async fn triggers_that_were_disabled_are_disabled_again() {
    let (file, target) = (family(), Target::new().await);
    target.run(TABLES).await;
    target
        .run(
            "ALTER TABLE c DISABLE TRIGGER ALL; ALTER TABLE c ENABLE TRIGGER own; \
             ALTER TABLE \"it's\".d DISABLE TRIGGER ALL; \
             DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE p ENABLE ALWAYS TRIGGER %I', tgname) \
                 FROM pg_trigger WHERE tgrelid = 'p'::regclass ORDER BY oid LIMIT 1); END $$",
        )
        .await;
    let before = target.texts(STATES).await;
    let report = target.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(target.texts(STATES).await, before);
    assert_eq!(report.notices, [""; 0]);
    // A move that fails puts them back as well.
    target.run("DELETE FROM c; DELETE FROM p").await;
    file.run("INSERT INTO c VALUES (2, 99, NULL)");
    target.migrate(&file, &data_only()).await.unwrap_err();
    assert_eq!(target.texts(STATES).await, before);
}

#[tokio::test]
async fn a_role_that_may_not_disable_them_gets_the_statement() {
    let (file, target) = (family(), Target::new().await);
    target.run(TABLES).await;
    target
        .run(
            "CREATE ROLE key_loader LOGIN; ALTER TABLE p OWNER TO key_loader; \
             ALTER TABLE c OWNER TO key_loader; ALTER TABLE \"it's\".d OWNER TO key_loader; \
             GRANT CREATE, USAGE ON SCHEMA public TO key_loader; \
             GRANT CREATE, USAGE ON SCHEMA \"it's\" TO key_loader; \
             DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO key_loader', \
                 current_database()); END $$; \
             ALTER TABLE c DISABLE TRIGGER ALL",
        )
        .await;
    let before = target.texts(STATES).await;
    let loader = target.on_behalf_of("key_loader").await;
    let report = loader.migrate(&file, &data_only()).await.unwrap();
    assert_eq!(report.notices.len(), 2, "{:?}", report.notices);
    for notice in &report.notices {
        target.run(notice.split_once("may restore: ").unwrap().1).await;
    }
    assert_eq!(target.texts(STATES).await, before);
    target.run("DROP OWNED BY key_loader CASCADE; DROP ROLE key_loader").await;
}

/// Rejected rows that were not repaired, where the target would let them in.
#[tokio::test]
async fn rows_that_no_trigger_watches_are_refused_all_the_same() {
    let Some(target) = Target::since(12).await else { return };
    let file = family();
    file.run("INSERT INTO c VALUES (2, 99, NULL), (3, 1, 2), (4, 1, 3)");
    let database: String =
        target.client.query_one("SELECT current_database()::text", &[]).await.unwrap().get(0);
    let set =
        |state: &str| format!("ALTER DATABASE {database} SET session_replication_role = {state}");
    let disable = "ALTER TABLE c DISABLE TRIGGER ALL".to_owned();
    let enable = "ALTER TABLE c ENABLE TRIGGER ALL".to_owned();
    let parts = TABLES
        .replace("c_id bigint REFERENCES c)", "c_id bigint REFERENCES c) PARTITION BY RANGE (id)")
        + "; CREATE TABLE c1 PARTITION OF c FOR VALUES FROM (0) TO (100)";
    let cases = [
        (TABLES, disable, enable),
        (TABLES, set("replica"), set("origin")),
        (&parts, set("replica"), set("origin")),
    ];
    for (tables, before, after) in cases {
        target.run(tables).await;
        let report = target.migrate(&file, &rejecting(&file)).await.unwrap();
        assert_eq!(report.rejected_rows, 3);
        let rejects = std::fs::read_to_string(reject_file(&file)).unwrap();
        target.run(&before).await;
        let error = load(&target, &file).await.unwrap_err().to_string();
        assert!(error.contains("c, rowid 2: by the foreign key \"c's p\""), "{error}");
        assert_eq!(target.texts("SELECT count(*)::text FROM c").await, ["1"]);
        // They refer to each other.
        std::fs::write(reject_file(&file), rejects.replace(":99", ":1")).unwrap();
        load(&target, &file).await.unwrap();
        assert_eq!(target.texts("SELECT count(*)::text FROM c").await, ["4"]);
        target.run(&after).await;
        std::fs::remove_file(reject_file(&file)).unwrap();
        target
            .run("DROP TABLE \"it's\".d, c, p; DROP SCHEMA \"it's\"; DROP FUNCTION nothing")
            .await;
    }
}
