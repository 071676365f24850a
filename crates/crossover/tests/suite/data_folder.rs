//! The factor `data_folder`: data on other file systems, which are read back; folders that will not
//! do are refused.

use crate::place::{Place, error, read_json};

/// Short transactions on SQLite with these levels and engines.
fn plan(folders: &str, engine: &str) -> String {
    format!(
        "title = \"Which file system?\"\nworkload = \"oltp\"\nengines = [\"{engine}\"]\n\
         replicates = 1\n[oltp]\ntable_size = 100\nwarm_up = \"1s\"\n[trial]\nmode = \"steady\"\n\
         time = \"1s\"\n[factors]\nmix = [\"read_only\"]\nclients = [1]\n\
         data_folder = [{folders}]\n"
    )
}

#[test]
fn data_lie_where_each_level_says_and_it_is_read_back() {
    let place = Place::new();
    std::fs::create_dir(place.path("small")).unwrap();
    std::fs::create_dir(place.path("plain")).unwrap();
    let folder = |name: &str| place.path(name).display().to_string();
    let folders = format!("\"{}\", \"{}\"", folder("small"), folder("plain"));
    place.write("plan.toml", &plan(&folders, "sqlite"));
    let script = format!(
        "mount -t tmpfs -o size=64m,noatime crossover-test small && \
         CROSSOVER_DATA_DIR={} {} bench plan.toml",
        folder("data"),
        env!("CARGO_BIN_EXE_crossover")
    );
    let Some(output) = testing::run_with_own_mounts(&script, place.folder.path(), &[]) else {
        return;
    };
    let run = read_json(&place.only_run().join("run.json"));
    let engines = run["engines"].as_object().unwrap();
    let told = |name: &str| {
        let settings = engines.values().flat_map(|engine| engine["settings"].as_array().unwrap());
        let mut values = settings.filter(|one| one[0] == "data_folder").map(|one| &one[1]);
        values.find_map(|one| one.as_str()?.strip_prefix(&folder(name)).map(str::to_owned))
    };
    let small = told("small").unwrap_or_else(|| panic!("{run}\n{}", error(&output)));
    assert!(small.contains("tmpfs on crossover-test") && small.contains("noatime"), "{small}");
    assert!(!told("plain").unwrap().contains("crossover-test"));
    assert!(!error(&output).contains("lie on one file system"), "{}", error(&output));
    let left = std::fs::read_dir(place.path("plain/scratch")).unwrap();
    assert_eq!(left.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(), 0);
}

#[test]
fn folders_that_cannot_hold_the_data_are_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("here")).unwrap();
    let here = format!("\"{}\"", place.path("here").display());
    for (folders, engine, expected) in [
        ("\"/nowhere/at/all\"", "sqlite", "there is no folder /nowhere/at/all"),
        ("\"here\"", "sqlite", "here is not a folder by its whole path"),
        ("\"/proc\"", "sqlite", "nothing can be written in /proc"),
        (&here, "postgresql://me@127.0.0.1/mine", "/mine stay where they are"),
    ] {
        place.write("plan.toml", &plan(folders, engine));
        let message = place.refused(2, &["bench", "plan.toml"]);
        assert!(message.contains("factors.data_folder") && message.contains(expected), "{message}");
    }
}

#[test]
fn two_folders_of_one_file_system_are_told() {
    let place = Place::new();
    let folders = ["a", "b"].map(|name| {
        std::fs::create_dir(place.path(name)).unwrap();
        format!("\"{}\"", place.path(name).display())
    });
    place.write("plan.toml", &plan(&folders.join(", "), "sqlite"));
    let output = place.run(&["bench", "plan.toml"]);
    assert!(error(&output).contains("lie on one file system"), "{}", error(&output));
}
