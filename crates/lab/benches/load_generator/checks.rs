//! Our answer checks on against off, on the nine requests of the dashboard over a small dataset.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::process::{ApplicationOptions, ChildApplication};
use lab::article::GROUPINGS;
use load::http::{Connection, PreparedRequest, Target};
use load::{self, Expected};
use record::Answer;
use testing::benchmark::{program, ratio};

use super::generators::options;

const SCALE: &str = "0.02";
const KEY: &str = "for-this-benchmark-alone";
const CLIENTS: u16 = 2;
const TIMEOUT: Duration = Duration::from_secs(60);
static GOING_ON: AtomicBool = AtomicBool::new(false);

/// Prints mean response times with checks by those without, in interleaved pairs.
pub fn compare(pairs: u64, seconds: u64) {
    let program = program();
    if !program.is_file() {
        println!("checks on and off: not measured, {} is missing", program.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let application = serve(&program, folder.path());
    let requests = requests(&application.target);
    let mut connection = Connection::open(&application.target, TIMEOUT, &GOING_ON).unwrap();
    let answers: Vec<Answer> =
        requests.iter().map(|request| connection.send(request).unwrap()).collect();
    let on: Vec<Expected> = answers.iter().map(|answer| Expected::Exact(*answer)).collect();
    let off: Vec<Expected> = answers.iter().map(|answer| Expected::Status(answer.status)).collect();
    let measure = |expected: &[Expected]| {
        let options = options(CLIENTS, Duration::from_secs(seconds));
        let weights = [1; GROUPINGS.len()];
        let target = &application.target;
        let sample = load::run(target, &requests, &weights, expected, &options, &GOING_ON).unwrap();
        assert_eq!(sample.failures(), 0, "wrong answers");
        sample.mean_response_time_ns().unwrap()
    };
    measure(&on);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        if pair % 2 == 0 {
            with.push(measure(&on));
            without.push(measure(&off));
        } else {
            without.push(measure(&off));
            with.push(measure(&on));
        }
    }
    println!("nine requests, {CLIENTS} clients, response time with checks by without:");
    println!("  {}", ratio(&with, &without, None));
}

struct Served {
    target: Target,
    _application: ChildApplication,
}

fn serve(program: &Path, folder: &Path) -> Served {
    let database = format!("sqlite://{}", folder.join("dashboard.db").display());
    let arguments = ["dashboard", "generate", "--database", &database, "--scale", SCALE];
    let generated = Command::new(program).args(arguments).output().unwrap();
    assert!(generated.status.success(), "{}", String::from_utf8_lossy(&generated.stderr));
    let listen = format!("127.0.0.1:{}", server::free_port(None).unwrap());
    let arguments = ["dashboard", "serve", "--listen", &listen, "--answer-cache", "off"];
    let application = ChildApplication::start(&ApplicationOptions {
        name: "dashboard".to_owned(),
        command: std::iter::once(program.to_str().unwrap())
            .chain(arguments)
            .map(str::to_owned)
            .collect(),
        environment: vec![
            ("CROSSOVER_DATABASE".to_owned(), database),
            ("CROSSOVER_KEY".to_owned(), KEY.to_owned()),
        ],
        directory: None::<PathBuf>,
        log_directory: folder.to_owned(),
        cpus: None,
        account: None,
    })
    .unwrap();
    let target = Target::listening(&listen).unwrap();
    application
        .wait_until_answering(&target, ("/healthz", 400), TIMEOUT, &|_| {}, &GOING_ON)
        .unwrap();
    Served { target, _application: application }
}

fn requests(target: &Target) -> Vec<PreparedRequest> {
    let header = [("Authorization".to_owned(), format!("Bearer {KEY}"))];
    let request = |grouping: &str| {
        let path = format!("/api/query/{grouping}?start=2021-01-01&end=2021-01-31&blog=twilio");
        PreparedRequest::get(target, grouping, &path, &header).unwrap()
    };
    GROUPINGS.iter().map(|grouping| request(grouping)).collect()
}
