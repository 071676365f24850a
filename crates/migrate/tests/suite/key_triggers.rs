//! Triggers of foreign keys that were disabled in the target: they are disabled after a load too, or
//! the statement for it is known.

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
