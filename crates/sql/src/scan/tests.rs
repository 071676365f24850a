//! Every kind of quoting, on every engine; properties over random texts.

use proptest::prelude::*;

use super::*;

fn parameters(text: &str, dialect: Dialect) -> Vec<String> {
    let statements = scan(text, dialect).unwrap();
    assert_eq!(statements.len(), 1, "{text}");
    statements[0].parameters().into_iter().map(str::to_owned).collect()
}

#[test]
fn each_engine_gets_its_own_marks() {
    let text = "SELECT * FROM t WHERE a = :a AND b > :b OR a < :a -- :c\n";
    let statements = scan(text, Dialect::Postgres).unwrap();
    let rendered = |dialect| statements[0].render(dialect);
    let postgres = rendered(Dialect::Postgres);
    assert_eq!(postgres.sql, "SELECT * FROM t WHERE a = $1 AND b > $2 OR a < $1 -- :c");
    assert_eq!(postgres.parameters, ["a", "b"]);
    assert!(rendered(Dialect::Sqlite).sql.contains("a = ?1 AND b > ?2 OR a < ?1"));
    assert_eq!(rendered(Dialect::Mysql).parameters, ["a", "b", "a"]);
}

#[test]
fn what_only_looks_like_a_parameter_is_left_alone() {
    let postgres = r#"SELECT ':a', ":b", E'\':c', $$:d$$, $x$ $$ :e $x$, n::integer, :f,
                      a[1:2], /* :g /* :h */ :i */ f(x := 1) -- :j"#;
    assert_eq!(parameters(postgres, Dialect::Postgres), ["f"]);
    let sqlite = r#"SELECT 'it''s :a', "x"":b", [:c], `:d`, '\', :e /* /* :f */"#;
    assert_eq!(parameters(sqlite, Dialect::Sqlite), ["e"]);
    let mysql = "SELECT '\\':a', \"\\\":b\", `:c`, @x := :d # :e";
    assert_eq!(parameters(mysql, Dialect::Mysql), ["d"]);
}

#[test]
fn parameters_in_an_engines_own_form_are_found() {
    let unnamed = |text: &str, dialect| {
        let statements = scan(text, dialect).unwrap();
        statements[0].unnamed.map(|(line, mark)| (line, mark.to_owned()))
    };
    let found = |line: usize, mark: &str| Some((line, mark.to_owned()));
    assert_eq!(unnamed("SELECT :a\nWHERE b = ?", Dialect::Sqlite), found(2, "?"));
    assert_eq!(unnamed("SELECT ?1, ?2", Dialect::Sqlite), found(1, "?1"));
    assert_eq!(unnamed("SELECT @a", Dialect::Sqlite), found(1, "@a"));
    assert_eq!(unnamed("SELECT $a", Dialect::Sqlite), found(1, "$a"));
    assert_eq!(unnamed("SELECT a$b, '?', \"@a\", [$c] -- ?", Dialect::Sqlite), None);
    assert_eq!(unnamed("SELECT\n$1 + :b", Dialect::Postgres), found(2, "$1"));
    assert_eq!(unnamed("SELECT a ? 'b', @ -5, a$1, $$ $1 $$", Dialect::Postgres), None);
    assert_eq!(unnamed("SELECT @a, ?", Dialect::Mysql), found(1, "?"));
}

#[test]
fn statements_are_split_at_semicolons_and_know_their_line() {
    let text = "-- first\nSELECT ';' ;\n\n/* nothing; */ ;\n  UPDATE t\nSET a = 1;\n";
    let statements = scan(text, Dialect::Sqlite).unwrap();
    assert_eq!(statements.iter().map(|one| one.line).collect::<Vec<_>>(), [2, 5]);
    assert_eq!(statements[0].first_line, 1);
    assert_eq!(statements.iter().map(Scanned::writes).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_statement_that_writes_is_told_by_its_words() {
    let writes = |text: &str| scan(text, Dialect::Postgres).unwrap()[0].writes();
    assert!(!writes("select 'delete' from \"update\""));
    assert!(writes("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone"));
    assert!(!writes("WITH a AS (SELECT 1) SELECT * FROM a"));
    assert!(writes("VACUUM"));
}

#[test]
fn what_is_not_closed_is_named_with_its_line() {
    let failure = |text: &str, dialect| scan(text, dialect).unwrap_err();
    assert_eq!(failure("SELECT\n'a", Dialect::Sqlite).0, 2);
    assert!(failure("/* /* */", Dialect::Postgres).1.contains("comment"));
    assert!(failure("SELECT $a$ x", Dialect::Postgres).1.contains("$a$"));
    assert!(failure("SELECT [a", Dialect::Sqlite).1.contains("[ ]"));
}

/// Texts that hide `:hidden` by the rules of PostgreSQL, and plain ones without a parameter.
fn token() -> impl Strategy<Value = String> {
    let inside = "[a-zé0-9 :;,]{0,6}";
    prop_oneof![
        inside.prop_map(|text| format!("' :hidden {text}''{text}'")),
        inside.prop_map(|text| format!("\" :hidden {text}\"")),
        inside.prop_map(|text| format!("E'\\':hidden {text}'")),
        inside.prop_map(|text| format!("$t$ :hidden {text}' $t$")),
        inside.prop_map(|text| format!("/* :hidden '{text} /* ; */ */")),
        inside.prop_map(|text| format!("-- :hidden '{text}\n")),
        Just("n::hidden".to_owned()),
        Just("[1:2]".to_owned()),
        "[a-z]{1,5}".prop_map(|word| format!("{word} ")),
        "[0-9]{1,3}",
        Just("- / $ ".to_owned()),
    ]
}

proptest! {
    #![proptest_config(testing::cases(256))]

    #[test]
    fn exactly_the_parameters_are_found_and_nothing_is_lost(
        tokens in prop::collection::vec((token(), prop::option::of("[a-z_][a-z0-9_]{0,5}")), 1..12)
    ) {
        let mut text = String::from("select");
        let mut expected: Vec<&str> = Vec::new();
        for (token, parameter) in &tokens {
            text.push_str(&format!(" {token}"));
            if let Some(name) = parameter {
                text.push_str(&format!(" :{name}"));
                expected.push(name);
            }
        }
        let statements = scan(&text, Dialect::Postgres).unwrap();
        prop_assert_eq!(statements.len(), 1);
        let mut found = Vec::new();
        let mut again = String::new();
        for piece in &statements[0].pieces {
            match piece {
                Piece::Text(text) => again.push_str(text),
                Piece::Parameter(name) => {
                    found.push(*name);
                    again.push_str(&format!(":{name}"));
                }
            }
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(again, text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-z1?@:;'\"$\\\\\\[\\]`#/*é\n -]{0,40}") {
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
            let _ = scan(&text, dialect);
        }
    }
}
