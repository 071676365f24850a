//! `verify --structure`: the tables of the target beside those that a migration would make.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use migrate::{AuditOptions, MigrateOptions, StructureComparison, StructureDifference};

use crate::support::{File, Target};

const FILE: &str = "\
    CREATE TABLE author(id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(20) NOT NULL DEFAULT 'x', \
        mail TEXT UNIQUE); \
    CREATE TABLE post(id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, words INTEGER, \
        CHECK (words > 0)); \
    CREATE INDEX by_words ON post(words DESC) WHERE words > 10; \
    INSERT INTO author(id, name) VALUES (9, 'a'); DELETE FROM author; \
    INSERT INTO author(id, name) VALUES (3, 'b'); INSERT INTO post VALUES (1, 3, 12)";

async fn compared(file: &File, target: &Target) -> StructureComparison {
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let options = AuditOptions::default();
    migrate::verify_structure(&file.path, &target.url, &options, &progress, &interrupted)
        .await
        .unwrap()
}

fn sentences(differences: &[StructureDifference]) -> Vec<String> {
    differences.iter().map(StructureDifference::sentence).collect()
}

#[tokio::test]
async fn a_migrated_file_has_the_structure_that_was_promised() {
    let (file, target) = (File::new(FILE), Target::new().await);
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let before = target.structure().await;
    let found = compared(&file, &target).await;
    assert_eq!((sentences(&found.differences), sentences(&found.additions)), (vec![], vec![]));
    assert!(found.same > 15, "{}", found.same);
    assert_eq!(target.structure().await, before);
}

#[tokio::test]
async fn every_kind_of_difference_is_named() {
    let Some(target) = Target::since(10).await else { return };
    let file = File::new(FILE);
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    target
        .run(
            "ALTER TABLE author ALTER COLUMN name TYPE text, ALTER COLUMN name DROP NOT NULL, \
                ALTER COLUMN name SET DEFAULT 'y', DROP CONSTRAINT author_mail_key; \
             ALTER TABLE post DROP CONSTRAINT post_author_id_fkey, DROP CONSTRAINT post_check; \
             DROP INDEX by_words; CREATE INDEX another ON post(words); \
             ALTER SEQUENCE author_id_seq RESTART WITH 4",
        )
        .await;
    let found = compared(&file, &target).await;
    let differences = sentences(&found.differences);
    let expected = [
        "author.name: default 'y'::text, where 'x'::character varying was promised",
        "author.name: NOT NULL is missing",
        "author.name: type text, where character varying(20) was promised",
        "author: UNIQUE (mail) is missing",
        "post: CHECK ((words > 0)) is missing",
        "post: FOREIGN KEY (author_id) REFERENCES author(id) is missing",
        "post: index USING btree (words DESC) WHERE (words > 10) is missing",
        "public.author_id_seq: sequence at 3, where at 9 was promised",
    ];
    assert_eq!(differences, expected);
    assert_eq!(sentences(&found.additions), ["post: index USING btree (words) is there besides"]);
}
