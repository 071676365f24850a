//! Settings for every release of an experiment: given to those that know them, named where not.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use connect::postgres::connect;
use server::{Error, StartOptions};
use support::{Place, start, text};

#[tokio::test(flavor = "multi_thread")]
async fn common_settings_skip_unknown_ones_and_a_releases_own_win() {
    let place = Place::new();
    let mut options = StartOptions::new("13").unwrap().temporary();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    options.common_settings = vec![
        pair("work_mem", "8MB"),
        pair("update_process_title", "off"),
        // Since release 17.
        pair("summarize_wal", "off"),
    ];
    options.settings = vec![pair("work_mem", "2MB")];
    let server = start(&place, options.clone()).await.unwrap();
    assert_eq!(server.unknown_settings(), ["summarize_wal"]);
    let expected = [pair("update_process_title", "off"), pair("work_mem", "2MB")];
    assert_eq!(server.settings_read_back(), expected);
    let client = connect(&server.url("crossover")).await.unwrap();
    assert_eq!(text(&client, "SHOW work_mem").await, "2MB");
    drop(client);
    server.stop().await.unwrap();

    options.common_settings = vec![pair("work_mem", "much")];
    options.settings.clear();
    let refusal = start(&place, options).await.unwrap_err();
    assert!(matches!(refusal, Error::BadSetting { .. }), "{refusal}");
    assert_eq!(place.folders(), Vec::<String>::new());
}
