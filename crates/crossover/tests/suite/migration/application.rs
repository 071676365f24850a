//! Files of applications that make their own tables: nothing is written before the user has chosen.

use super::{Shop, sql};
use crate::place::{error, text};

const OF_DJANGO: &str = "\
    CREATE TABLE django_migrations(id integer NOT NULL PRIMARY KEY AUTOINCREMENT, \
        app varchar(255) NOT NULL, name varchar(255) NOT NULL, applied datetime NOT NULL); \
    CREATE TABLE shop_order(id char(32) NOT NULL PRIMARY KEY); \
    INSERT INTO shop_order VALUES ('0123456789abcdef0123456789abcdef')";

/// `--make-tables`, another framework's preset or none go on; also from a file that says everything.
#[test]
fn tables_of_an_application_are_made_only_when_asked() {
    let place = Shop::new();
    sql(&place.source, &format!("DROP TABLE articles; {OF_DJANGO}"));
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let url = url.trim();
    let (account, rest) = url.split_once("@/").unwrap();
    let (_, server) = rest.split_once('?').unwrap();
    let another = format!("{account}@/another?{server}");
    let source = place.source();
    for words in [
        &["migrate", source, &another, "--create-database"][..],
        &["migrate", source, url, "--replace"],
        // Nothing is there to go on with, so it would begin.
        &["migrate", source, url, "--resume"],
        &["migrate", source, url, "--dry-run", "--framework", "rails"],
    ] {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {}", error(&output));
        let said = error(&output);
        assert!(said.starts_with("nothing was changed. A "), "{said}");
        assert!(said.ends_with("To make the tables all the same: --make-tables\n"), "{said}");
        assert!(output.stdout.is_empty() && !said.contains("created the database"), "{said}");
    }
    let advised = place.expect(0, &["audit", source, "--integers", "declared"]);
    assert!(advised.lines().next().unwrap().contains("--data-only --replace`;"), "{advised}");
    let said = place.refused(1, &["audit", source, "--target", &another]);
    assert!(said.contains("\"another\" does not exist"), "{said}");
    let said = place.refused(1, &["audit", source, "--target", url]);
    assert!(said.contains("has none of the 2 tables"), "{said}");
    // Tables that exist are the application's.
    let said = place.refused(1, &["migrate", source, url, "--data-only"]);
    assert!(said.contains("has none of the 2 tables"), "{said}");

    let text = place.expect(0, &["migrate", source, url, "--make-tables"]);
    let advice = text.lines().nth(1).unwrap();
    assert!(advice.contains("there char(32) is uuid (1 column)"), "{text}");
    let text = place.expect(0, &["migrate", source, url, "--replace", "--framework", "none"]);
    assert!(!text.contains("Django"), "{text}");
    let recipe = place.recipe();
    let keys = "source = \"../shop.db\"\nreplace = true\n";
    std::fs::write(&recipe, keys).unwrap();
    assert_eq!(place.run(&["migrate", &recipe, url]).status.code(), Some(3));
    for more in ["make_tables = true\n", "framework = \"none\"\n"] {
        std::fs::write(&recipe, format!("{keys}{more}")).unwrap();
        place.expect(0, &["migrate", &recipe, url]);
    }
    let said = place.refused(2, &["migrate", source, url, "--framework", "symfony"]);
    assert!(said.contains("use auto, none, django, sqlalchemy"), "{said}");
}

#[test]
fn two_frameworks_stop_a_migration() {
    let place = Shop::new();
    let alembic = "CREATE TABLE alembic_version(version_num VARCHAR(32) NOT NULL)";
    sql(&place.source, &format!("{OF_DJANGO}; {alembic}"));
    let nowhere = "postgresql://nowhere.invalid/shop";
    let output = place.run(&["migrate", place.source(), nowhere]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let said = error(&output);
    let question = "say which of them made it by --framework django or --framework sqlalchemy";
    assert!(said.contains(question), "{said}");
    assert!(text(&output.stdout).is_empty());
}
