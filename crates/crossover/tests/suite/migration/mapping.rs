//! The file that `audit --write-mapping` writes and `migrate` carries out, and flags of many columns.

use super::{Shop, sql};
use crate::place::error;

#[test]
fn a_written_mapping_is_carried_out_unchanged() {
    let place = Shop::new();
    sql(
        place.source(),
        "CREATE TABLE Calls(Id INTEGER PRIMARY KEY, Made_At DATETIME, n INT); \
         INSERT INTO Calls VALUES (1, '2021-03-04T05:06:07Z', 7)",
    );
    let mapping = place.path("shop.toml").display().to_string();
    let write = ["audit", place.source(), "--names", "lower", "--write-mapping", &mapping];
    let audited = place.expect(3, &write);
    let next = "--map 'type:datetime=timestamptz' --map 'articles.uuid=uuid' \
                --map 'articles.slug=varchar(512)' --names lower\n";
    assert!(audited.ends_with(next), "{audited}");
    let again = place.run(&write);
    assert_eq!(again.status.code(), Some(2), "{}", error(&again));

    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let url = url.trim();
    let made = place.expect(0, &["migrate", &mapping, url, "--schema-only", "--workers", "1"]);
    assert!(made.starts_with("made: 2 tables in ") && made.contains("no rows moved"), "{made}");
    let moved = place.expect(0, &["migrate", &mapping, url, "--replace"]);
    assert!(moved.contains("101 rows in 2 tables"), "{moved}");
    let verify = moved.lines().find_map(|line| line.strip_prefix("To verify it again: ")).unwrap();
    assert!(verify.contains("--names lower"), "{verify}");
    place.expect(0, &["verify", place.source(), url, "--names", "lower"]);

    // A flag overrules the file; two flags must agree.
    let both =
        ["migrate", &mapping, url, "--replace", "--map", "Calls.n=int", "--map", "calls.N=text"];
    let refused = place.run(&both);
    let message = "--map 'calls.N=text': contradicts --map 'Calls.n=int': keep one of them";
    assert_eq!(refused.status.code(), Some(2));
    assert!(error(&refused).contains(message), "{}", error(&refused));
    place.expect(0, &both[..6]);
    let equal = ["migrate", place.source(), url, "--rename", "calls=articles"];
    assert_eq!(place.run(&equal).status.code(), Some(2));
}
