//! Names in the target, tables without rows, and the migration file that an audit writes.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{AuditOptions, MigrateOptions, MigrationRecipe, Naming, Selection, VerifyOptions};

use crate::support::{File, Target, by_values};

/// Names with capitals in every place that has one.
const SHOP: &str = "CREATE TABLE Customer(Id INTEGER PRIMARY KEY, FullName TEXT NOT NULL \
         CONSTRAINT NotEmpty CHECK (length(FullName) > 0), IsActive BOOLEAN DEFAULT 1); \
     CREATE TABLE \"Order\"(Id INTEGER PRIMARY KEY, CustomerId INT REFERENCES Customer(Id), \
         Total INT CHECK (\"Order\".Total >= 0), UNIQUE (CustomerId, Total)); \
     CREATE INDEX OrderTotal ON \"Order\"(Total DESC) WHERE Total > 5; \
     CREATE VIEW Best AS SELECT FullName FROM Customer; \
     INSERT INTO Customer VALUES (1, 'Ann', 1), (2, 'Bob', 0); \
     INSERT INTO \"Order\" VALUES (1, 1, 10), (2, 2, 3)";

fn naming(lower: bool, renames: &[&str]) -> Selection {
    let renames = renames.iter().map(|rename| rename.parse().unwrap()).collect();
    Selection { naming: Naming { lower, renames }, ..Selection::default() }
}

#[tokio::test]
async fn small_letters_and_new_names_reach_every_statement() {
    let file = File::new(SHOP);
    let target = Target::new().await;
    let selection = naming(true, &["Order=purchase", "order.total=amount"]);
    let options = MigrateOptions { selection: selection.clone(), ..MigrateOptions::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    let rows = "SELECT fullname || amount FROM customer JOIN purchase ON customerid = customer.id \
                ORDER BY amount";
    assert_eq!(target.texts(rows).await, ["Bob3", "Ann10"]);
    assert_eq!(
        target
            .texts(
                "SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint \
                 WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1"
            )
            .await,
        [
            "customer_pkey PRIMARY KEY (id)",
            "notempty CHECK ((length(fullname) > 0))",
            "purchase_check CHECK ((amount >= 0))",
            "purchase_customerid_amount_key UNIQUE (customerid, amount)",
            "purchase_customerid_fkey FOREIGN KEY (customerid) REFERENCES customer(id)",
            "purchase_pkey PRIMARY KEY (id)",
        ]
    );
    let index = "SELECT pg_get_indexdef('ordertotal'::regclass)";
    assert!(target.texts(index).await[0].ends_with("(amount DESC) WHERE (amount > 5)"));
    let view = report.findings.iter().find(|each| each.table == "Best").unwrap();
    let draft = view.statement.as_deref().unwrap();
    assert!(draft.contains("SELECT \"fullname\" FROM \"customer\""), "{draft}");

    let verify = async |selection: Selection| {
        let options = VerifyOptions { selection, ..VerifyOptions::default() };
        let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
        migrate::verify(&file.path, &target.url, &options, &progress, &stop).await
    };
    assert!(verify(selection.clone()).await.unwrap().is_equal());
    let error = verify(Selection::default()).await.unwrap_err().to_string();
    assert!(error.contains("Order: the target's schema public has no such table"), "{error}");
    for flag in ["--names lower", "--rename 'Order=purchase'", "--rename 'order.total=amount'"] {
        assert!(report.flags.iter().any(|own| own == flag), "{:?}", report.flags);
    }
    // The same tables, now existing, with a row that they refuse.
    target
        .run("TRUNCATE purchase, customer; ALTER TABLE customer ADD CHECK (fullname <> 'Bob')")
        .await;
    let reject_file = Some(file.path.with_extension("jsonl"));
    let options = MigrateOptions { data_only: true, reject_file, selection, ..options };
    let report = target.migrate(&file, &options).await.unwrap();
    assert_eq!(report.rejected_rows, 2);
    assert_eq!(target.texts(rows).await, ["Ann10"]);
}

#[tokio::test]
async fn names_that_would_be_equal_are_refused_before() {
    let file = File::new(SHOP);
    let target = Target::new().await;
    for (renames, expected) in [
        (&["Order=Customer"][..], "the table Customer and the table Order would both be called"),
        (&["Order=OrderTotal"], "the index OrderTotal would both be called OrderTotal"),
        (&["Customer.Id=FullName"], "the column Customer.FullName would both be called FullName"),
        (&["Shop=x"], "--rename 'Shop=x': the source has no such table or column"),
    ] {
        let options = MigrateOptions { selection: naming(false, renames), ..Default::default() };
        let error = target.migrate(&file, &options).await.unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(expected), "{error}");
    }
    assert!("Order".parse::<migrate::Rename>().is_err());
    // Renamed, names that PostgreSQL would cut or keeps for itself are no obstacle.
    let long = "a name of more than sixty-three bytes, which PostgreSQL would cut off";
    let file = File::new(&format!("CREATE TABLE \"{long}\"(xmin INT)"));
    let renames = [format!("{long}=short"), format!("{long}.xmin=least")];
    let renames: Vec<&str> = renames.iter().map(String::as_str).collect();
    let options = MigrateOptions { selection: naming(false, &renames), ..Default::default() };
    target.migrate(&file, &options).await.unwrap();
    assert!(target.texts("SELECT least::text FROM short").await.is_empty());
}

#[tokio::test]
async fn a_schema_alone_has_its_keys_and_no_rows() {
    let file = File::new(SHOP);
    file.run("UPDATE \"Order\" SET Total = 'much' WHERE Id = 1");
    let target = Target::new().await;
    let options =
        MigrateOptions { schema_only: true, workers: Some(1), ..MigrateOptions::default() };
    let report = target.migrate(&file, &options).await.unwrap();
    let answer = report.to_text(&migrate::TextOptions::default());
    assert!(answer.starts_with("made: 2 tables in "), "{answer}");
    assert!(answer.lines().next().unwrap().ends_with("no rows moved"), "{answer}");
    assert!(report.verification.is_none());
    assert_eq!(target.texts("SELECT \"FullName\" FROM \"Customer\"").await.len(), 0);
    let made = "SELECT conname::text FROM pg_constraint WHERE connamespace = 'public'::regnamespace \
                AND contype <> 'n' UNION SELECT relname::text FROM pg_class WHERE relkind = 'i' AND \
                relnamespace = 'public'::regnamespace ORDER BY 1";
    let keys = ["CustomerId_Total_key", "CustomerId_fkey", "check", "pkey"];
    let keys = keys.map(|key| format!("Order_{key}"));
    let all: Vec<String> = ["Customer_pkey", "NotEmpty", "OrderTotal"].map(str::to_owned).into();
    let mut all: Vec<String> = all.into_iter().chain(keys).collect();
    all.sort();
    let mut made = target.texts(made).await;
    made.sort();
    assert_eq!(made, all);
    let next = "INSERT INTO \"Customer\"(\"FullName\") VALUES ('Eve') RETURNING \"Id\"::text";
    assert_eq!(target.texts(next).await, ["1"]);
}

#[tokio::test]
async fn a_written_mapping_makes_the_same_tables() {
    let file = File::new(SHOP);
    file.run(
        "CREATE TABLE \"a \"\"b\"\"\"(c, at DATETIME, seen DATETIME, n SMALLINT, day DATE); \
         INSERT INTO \"a \"\"b\"\"\" VALUES (1, '2021-03-04T05:06:07Z', NULL, 70000, 1614834367)",
    );
    let (progress, stop) = (ProgressBar::hidden(), AtomicBool::new(false));
    let selection = Selection { excluded: vec!["Best".to_owned()], ..naming(true, &["Order=buy"]) };
    let options = AuditOptions { selection: selection.clone(), ..AuditOptions::default() };
    let audit = |options: &AuditOptions| migrate::audit(&file.path, options, &progress, &stop);
    let report = audit(&options).unwrap();
    let remedied = AuditOptions { rules: report.remedied(&options.rules), ..options };
    let path = file.path.with_extension("toml");
    let report = audit(&remedied).unwrap();
    report.write_mapping(&path, &remedied).unwrap();
    assert!(report.write_mapping(&path, &remedied).unwrap_err().to_string().contains("exists"));

    let text = std::fs::read_to_string(&path).unwrap();
    for line in [
        "\"Customer.FullName\" = \"text\" # TEXT: 2 text",
        "\"a \\\"b\\\".at\" = \"timestamptz\" # DATETIME: 1 text (timestamps with a zone)",
        "\"a \\\"b\\\".seen\" = \"timestamptz\" # DATETIME: 1 null",
        "\"a \\\"b\\\".day\" = \"timestamptz using epoch_seconds\" # DATE: 1 integer",
        "\"a \\\"b\\\".c\" = \"bigint\" # no declared type: 1 integer",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{text}");
    }
    let recipe = MigrationRecipe::read(&path).unwrap();
    assert!(recipe.source.ends_with(file.path.file_name().unwrap()));
    let (by_file, by_flags) = (Target::new().await, Target::new().await);
    by_file.migrate(&file, &recipe.options).await.unwrap();
    let options = MigrateOptions { rules: remedied.rules, selection, ..MigrateOptions::default() };
    by_flags.migrate(&file, &options).await.unwrap();
    assert_eq!(by_file.structure().await, by_flags.structure().await);
    let columns = "SELECT format('%s.%s %s %s', table_name, column_name, data_type, is_nullable) \
                   FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1";
    assert_eq!(by_file.texts(columns).await, by_flags.texts(columns).await);
}

#[test]
fn a_migration_file_has_the_new_keys() {
    let file = File::new("CREATE TABLE t(a INT)");
    let path = file.path.with_extension("toml");
    let read = |text: &str| {
        std::fs::write(&path, format!("source = \"x.db\"\n{text}")).unwrap();
        MigrationRecipe::read(&path)
    };
    let recipe = read(
        "integers = \"declared\"\nnames = \"lower\"\nworkers = 2\nschema_only = true\n\
         [rename]\n\"t.a\" = \"b\"\n[map]\n\"type:datetime\" = \"timestamptz\"",
    );
    let options = recipe.unwrap().options;
    assert_eq!(options.selection, naming(true, &["t.a=b"]));
    assert_eq!((options.workers, options.schema_only), (Some(2), true));
    assert_eq!(options.types.integers, migrate::IntegerRule::Declared);
    assert_ne!(options.types, by_values());
    for (text, expected) in [
        ("workers = 0", "workers"),
        ("schema_only = true\ndata_only = true", "schema_only goes with neither"),
        ("[rename]\nt = \"\"", "write OLD=NEW"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
