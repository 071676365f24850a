//! Whole experiments on applications known by their URL: what is sent to them, how their answers
//! are judged, and what is said of those that cannot be measured.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lab::error::RunError;
use lab::run::start;
use record::Finished;
use record::Status;
use report::analysis::analyse;

use super::laboratory::Laboratory;
use testing::loopback::{After, Loopback, with_length};

/// A server whose every answer is a function of the path and of how often it was asked for it.
fn answering(answer: impl Fn(&str, usize) -> (u16, String) + Send + Sync + 'static) -> Loopback {
    let asked = AtomicUsize::new(0);
    Loopback::serve(move |request, stream| {
        let (status, body) = match request.path() {
            "/" => (200, "ready".to_owned()),
            path => answer(path, asked.fetch_add(1, Ordering::SeqCst)),
        };
        stream.write_all(&with_length(status, &body)).unwrap();
        After::Keep
    })
}

/// One block of one pass, unless `more` says otherwise, on `servers` under the names a, b, ...
fn measure(servers: &[&Loopback], more: &str) -> Result<Finished, RunError> {
    let folder = tempfile::tempdir().unwrap();
    measure_in(folder.path(), servers, more)
}

fn measure_in(folder: &Path, servers: &[&Loopback], more: &str) -> Result<Finished, RunError> {
    let engines: Vec<String> = servers
        .iter()
        .zip('a'..)
        .map(|(server, name)| format!("\"{}[label={name}]\"", server.url()))
        .collect();
    let mut plan = format!(
        "title = \"strangers\"\nworkload = \"http\"\nreplicates = 1\nengines = [{}]\n",
        engines.join(", ")
    );
    if !more.contains("[trial]") {
        plan.push_str("trial = { mode = \"passes\", passes = 1 }\n");
    }
    let plan = plan::read(&(plan + more), "strangers.toml")?;
    let never = AtomicBool::new(false);
    start(plan, &Laboratory::in_folder(folder).options(&never))
}

const FOUR_REQUESTS: &str =
    "request = [{ path = \"/w\" }, { path = \"/x\" }, { path = \"/y\" }, { path = \"/z\" }]";

fn refusal(servers: &[&Loopback], more: &str) -> String {
    measure(servers, more).err().unwrap().to_string()
}

#[test]
fn an_application_that_never_answers_is_named_with_the_request() {
    let server = Loopback::serve(|request, stream| {
        // To all but `/` it says nothing and keeps the connection.
        if request.path() == "/" {
            stream.write_all(&with_length(200, "ready")).unwrap();
        }
        After::Keep
    });
    let said = refusal(&[&server], "load = { timeout = \"1s\" }\n[[request]]\npath = \"/silent\"");
    assert!(said.starts_with("a: /silent: "), "{said}");
    assert!(said.contains("no whole answer within 1s"), "{said}");
}

#[test]
fn an_application_that_refuses_is_quoted() {
    let server = answering(|_, _| (500, "no such table: orders".to_owned()));
    let said = refusal(&[&server], "[[request]]\npath = \"/orders\"");
    assert_eq!(said, "a answers /orders with status 500: no such table: orders");
}

#[test]
fn impossible_copies_are_refused_with_place_and_remedy() {
    let server = answering(|_, _| (200, "ok".to_owned()));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), "a file where a folder is to be").unwrap();
    let request = "[[request]]\npath = \"/x\"";
    let said = measure_in(folder.path(), &[&server], request).err().unwrap().to_string();
    let place = folder.path().join("data/scratch");
    assert!(said.contains(&place.display().to_string()), "{said}");
    assert!(said.ends_with("CROSSOVER_DATA_DIR"), "{said}");
}

#[test]
fn an_application_failing_half_of_the_time_is_not_measured() {
    // Well to the two looks of the untimed pass at each request, then by turns.
    let server = answering(|_, asked| match asked {
        0..8 => (200, "ok".to_owned()),
        asked if asked % 2 == 0 => (500, "oops".to_owned()),
        _ => (200, "ok".to_owned()),
    });
    let said = refusal(&[&server], FOUR_REQUESTS);
    assert!(said.starts_with("a failed 6 of 12 requests before anything was measured"), "{said}");
    assert!(said.contains("x: status 500"), "{said}");
}

/// Once in the untimed pass and once in the warm-up.
#[test]
fn occasional_failures_of_an_application_are_counted() {
    let server = answering(|_, asked| match asked {
        0 | 20 => (503, "busy".to_owned()),
        _ => (200, "ok".to_owned()),
    });
    let finished = measure(&[&server], FOUR_REQUESTS).unwrap();
    let [trial] = &finished.trials[..] else { panic!("one trial") };
    assert_eq!((trial.failures, trial.warm_up_failures), (0, 1));
}

#[test]
fn changing_answers_are_reported_with_the_remedy() {
    let changing =
        || answering(|_, asked| (200, format!("{{\"served\": {asked}, \"n\": [1, 2]}}")));
    let (one, two) = (changing(), changing());
    let request = "[[request]]\npath = \"/x\"\n";
    let said = refusal(&[&one], request);
    let remedy = "answer = { json_ignore = [\"/served\"] }";
    assert!(said.contains("a gave two different answers to the same /x"), "{said}");
    assert!(said.contains(remedy), "{said}");
    let finished = measure(&[&one, &two], &format!("{request}{remedy}")).unwrap();
    assert!(finished.trials.iter().all(|trial| trial.failures == 0 && trial.requests > 0));
    assert_eq!(finished.trials.len(), 2);
}

#[test]
fn applications_that_answer_otherwise_are_not_compared() {
    let one = answering(|_, _| (200, "[[1], [2]]".to_owned()));
    let two = answering(|_, _| (200, "[[2], [1]]".to_owned()));
    let request = "[[request]]\npath = \"/x\"\n";
    let said = refusal(&[&one, &two], request);
    let wanted = "answers differ: /x: at /0/0 a has 1, b has 2;";
    assert!(said.starts_with(wanted), "{said}");
    assert!(said.contains("answer = { json_ignore = [\"/*/0\"] }"), "{said}");
    for enough in ["\"json_any_order\"", "\"status\"", "{ regex = \"[12]\" }"] {
        measure(&[&one, &two], &format!("{request}answer = {enough}")).unwrap();
    }
    let said = refusal(&[&one], &format!("{request}answer = {{ regex = \"x\" }}"));
    assert!(said.contains("holds nothing that matches `x`"), "{said}");
}

/// Its first answer is that of the other engine by chance.
#[test]
fn an_engine_whose_answers_are_random_is_named_at_once() {
    let steady = answering(|_, _| (200, "[1]".to_owned()));
    let random = answering(|_, asked| (200, format!("[{}]", 1 + asked % 2)));
    let request = "[[request]]\npath = \"/x\"\n";
    let said = refusal(&[&steady, &random], request);
    let wanted = "b gave two different answers to the same /x; tell the plan what to ignore: \
                  answer = { json_ignore = [\"/0\"] }";
    assert!(said.starts_with(wanted), "{said}");
    // One that differs already the first time.
    let other = answering(|_, asked| (200, format!("[{}]", 7 + asked)));
    let said = refusal(&[&steady, &other], request);
    assert!(said.starts_with("b gave two different answers"), "{said}");
}

#[test]
fn a_wrong_answer_beside_writes_has_its_cause_named() {
    // Other lines come first after more writes than the untimed pass sends.
    let written = AtomicUsize::new(0);
    let server = Loopback::serve(move |request, stream| {
        let written = match request.head.starts_with("POST") {
            true => written.fetch_add(1, Ordering::SeqCst),
            false => written.load(Ordering::SeqCst),
        };
        let body = if request.path() == "/newest" && written > 3 { "b" } else { "a" };
        stream.write_all(&with_length(200, body)).unwrap();
        After::Keep
    });
    let more = "request = [{ path = \"/newest\" }, { path = \"/add\", method = \"POST\" }]";
    let said = refusal(&[&server], more);
    assert!(said.contains("/newest: wrong answer"), "{said}");
    assert!(said.contains("POST /add of the same mix may change its answer"), "{said}");
    assert!(said.contains("--answer status"), "{said}");
}

#[test]
fn headers_of_one_name_are_all_sent() {
    let server = Loopback::serve(|request, stream| {
        let named = request.head.lines().filter(|line| line.starts_with("X-Part: "));
        let right = request.path() == "/" || named.eq(["X-Part: one", "X-Part: two"]);
        stream.write_all(&with_length(if right { 200 } else { 400 }, "")).unwrap();
        After::Keep
    });
    let more = "[[request]]\npath = \"/x\"\nheaders = { X-Part = [\"one\", \"two\"] }";
    let finished = measure(&[&server], more).unwrap();
    assert_eq!(finished.trials[0].failures, 0);
}

#[test]
fn methods_bodies_and_headers_are_sent_with_their_placeholders() {
    let server = Loopback::serve(|request, stream| {
        let right = request.path() == "/"
            || (request.head.starts_with("POST /orders/1 ")
                || request.head.starts_with("POST /orders/2 "))
                && request.head.contains("X-Level: ")
                && request.body.starts_with(b"{\"level\": ");
        stream.write_all(&with_length(if right { 201 } else { 400 }, "")).unwrap();
        After::Keep
    });
    let more = r#"
        [factors]
        level = [1, 2]
        [[request]]
        method = "POST"
        path = "/orders/{level}"
        headers = { X-Level = "{level}" }
        body = '{"level": {level}}'
    "#;
    let finished = measure(&[&server], more).unwrap();
    assert_eq!(finished.trials.len(), 2);
    assert!(finished.trials.iter().all(|trial| trial.failures == 0));
    assert_eq!(finished.plan.requests[0].name, "POST /orders/{level}");
}

#[test]
fn a_request_failing_throughout_voids_its_trial() {
    // Two looks for each name, then each has two looks and a trial.
    let asked = AtomicUsize::new(0);
    let server = answering(move |path, _| {
        let is_trial = path == "/x/2" && matches!(asked.fetch_add(1, Ordering::SeqCst), 6 | 9);
        if is_trial { (500, "oops".to_owned()) } else { (200, "ok".to_owned()) }
    });
    let more = "factors = { part = { levels = [1, 2], swept = \"log\" } }\n\
                [[request]]\npath = \"/x/{part}\"";
    let finished = measure(&[&server, &server], more).unwrap();
    assert_eq!(finished.trials.len(), 4);
    for trial in &finished.trials {
        let fails = trial.levels["part"].number() == Some(2.0);
        assert_eq!((trial.status != Status::Ok, trial.failures), (fails, u64::from(fails)));
    }
    let analysis = analyse(&plan::Design::of(&finished.plan), &finished.cells(), &finished.trials);
    assert_eq!(analysis.sweeps[0].left_out, [2.0]);
    let said = &report::answer::answer(&finished, &analysis).of_sweeps[0];
    let wanted = "; nothing to compare at part 2 (b: 1 of 1 request /x/{part} failed)";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn a_remote_application_is_switched_around_each_turn() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("switched");
    let command =
        |word: &str| format!("[[\"sh\", \"-c\", \"echo {word} {{engine}} >> {}\"]]", log.display());
    let more = format!(
        "application = {{ before = {}, after = {} }}\n[[request]]\npath = \"/x\"",
        command("to"),
        command("from")
    );
    let server = answering(|_, _| (200, "ok".to_owned()));
    measure_in(folder.path(), &[&server, &server], &more).unwrap();
    let switched = std::fs::read_to_string(&log).unwrap();
    let turn = |name: &str| format!("to {name}\nfrom {name}\n");
    // Once to compare the answers, then in the block.
    let compared = turn("a") + &turn("b");
    let in_block = switched.strip_prefix(&compared).unwrap();
    assert!(
        [compared.clone(), turn("b") + &turn("a")].contains(&in_block.to_owned()),
        "{switched}"
    );
}

#[test]
fn a_trial_of_open_load_records_what_was_offered() {
    let server = answering(|_, _| (200, "ok".to_owned()));
    let more = r#"
        [load]
        model = "open"
        rate = 20
        arrivals = "uniform"
        [trial]
        mode = "steady"
        time = "3s"
        [[request]]
        path = "/x"
    "#;
    let finished = measure(&[&server], more).unwrap();
    let trial = &finished.trials[0];
    assert_eq!((trial.offered_per_second, trial.requests, trial.failures), (Some(20.0), 60, 0));
}

#[test]
fn loads_and_sources_that_make_no_sense_are_refused() {
    let server = answering(|_, _| (200, "ok".to_owned()));
    let request = "[[request]]\npath = \"/x\"\n";
    let with = |more: &str| refusal(&[&server], &format!("{more}\n{request}"));
    assert!(
        with("load = { model = \"open\" }\ntrial = { mode = \"steady\", time = \"1s\" } # [trial]")
            .contains("rate = 50")
    );
    assert!(with("load = { rate = 5 }").contains("model = \"open\""));
    assert!(
        with("load = { model = \"open\", rate = 5, think_time = \"1s\" }").contains("closed load")
    );
    assert!(with("load = { model = \"open\", rate = 5 }").contains("mode = \"steady\""));
    assert!(with("requests = { from_log = \"/no/such/log\" }").contains("/no/such/log"));
    assert!(with("requests = { }").contains("either file or from_log"));
    let regex = refusal(&[&server], &format!("{request}answer = {{ regex = \"(\" }}"));
    assert!(regex.contains("answer.regex"), "{regex}");
}
