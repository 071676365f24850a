//! `crossover bench http`: requests of the user's own to applications that run already, or to one
//! that is started on several engines, without writing a plan.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use engine::{EngineSource, EngineSpec};
use plan::{
    AnswerCheck, Application, Arrivals, ConnectionUse, Data, Factor, Headers, Level, LoadModel,
    Pause, Plan, Request, RequestSource,
};

use super::body;
use super::distance::DistanceArguments;
use super::throughput::ThroughputArguments;
use super::{RunArguments, carry_out, command_words};
use crate::flag::sqlite_file;
use crate::shared::{CommandOutcome, Shared, Usage};

/// The other keys of the plan, without flags.
const PLAN: &str = r#"
title = "Own requests"
workload = "http"
engines = []
trial = { mode = "steady", time = "5s" }
"#;

/// Headers whose values give access.
const SECRET_HEADERS: [&str; 5] =
    ["authorization", "cookie", "proxy-authorization", "x-api-key", "x-auth-token"];

/// Requests of your own, to applications that run or to one started on several engines
#[derive(clap::Args)]
pub struct Arguments {
    /// A base URL (http://host:port), or an engine (sqlite, postgres:18) with --start; repeatable
    #[arg(long = "on", value_name = "URL|ENGINE", required = true)]
    engines: Vec<EngineSpec>,
    /// The command that serves on {listen} ({host}, {port}) with the database {database_url}
    #[arg(long, value_name = "COMMAND", env = "CROSSOVER_START_COMMAND")]
    start: Option<String>,
    /// A command that fills {database_url}, once per engine and data; repeatable. Absent: --data is
    /// moved there by crossover migrate
    #[arg(long, value_name = "COMMAND", requires = "start")]
    prepare: Vec<String>,
    /// A command before each engine's turn, such as one that switches {engine}; repeatable
    #[arg(long, value_name = "COMMAND")]
    before: Vec<String>,
    /// A command after each engine's turn; repeatable
    #[arg(long, value_name = "COMMAND")]
    after: Vec<String>,
    /// Of all these commands: 'DATABASE_URL={database_url}'; repeatable
    #[arg(long = "environment", value_name = "NAME=VALUE", value_parser = pair)]
    environment: Vec<(String, String)>,
    /// The folder in which they run
    #[arg(long, value_name = "FOLDER", env = "CROSSOVER_DIRECTORY")]
    directory: Option<PathBuf>,
    /// A path that is answered below 400 once the application is ready [default: /, below 500]
    #[arg(long, value_name = "PATH", env = "CROSSOVER_READY")]
    ready: Option<String>,
    /// The application chooses its database by itself: whether requests reach that of the engine is
    /// not looked at, and all of them are sent
    #[arg(long, requires = "start", env = "CROSSOVER_OWN_DATABASE")]
    own_database: bool,
    /// Certificates (PEM) that https:// URLs are trusted by, beside the system's
    #[arg(long, value_name = "FILE", env = "CROSSOVER_CA_FILE")]
    ca_file: Option<PathBuf>,
    /// A SQLite file that is copied into every engine
    #[arg(long, value_name = "FILE.db", requires = "start", env = "CROSSOVER_DATA", value_parser = sqlite_file())]
    data: Option<PathBuf>,
    /// A request: [METHOD] PATH [WEIGHT]; repeatable
    #[arg(long = "request", value_name = "REQUEST")]
    requests: Vec<Request>,
    /// A file with one request per line
    #[arg(long = "requests", value_name = "FILE", env = "CROSSOVER_REQUESTS")]
    list: Option<PathBuf>,
    /// An access log of nginx or Apache: its GET and HEAD requests, weighted by their number
    #[arg(long, value_name = "FILE", conflicts_with = "list", env = "CROSSOVER_FROM_LOG")]
    from_log: Option<PathBuf>,
    /// At most N different requests of the log, the most frequent ones [default: 100]
    #[arg(long, value_name = "N", requires = "from_log", env = "CROSSOVER_MOST")]
    most: Option<NonZeroUsize>,
    /// What POST, PUT and PATCH send: a text, or a file that holds it. Repeatable: one for each such
    /// request, in their order, or one for all. Without a header Content-Type JSON is sent as
    /// application/json, other text as a form
    #[arg(long = "body", value_name = "TEXT|FILE", value_parser = body::read)]
    bodies: Vec<String>,
    /// A header of every request: 'Name: value'; {key} stands for CROSSOVER_KEY; repeatable, also with
    /// one name
    #[arg(long = "header", value_name = "HEADER", value_parser = header)]
    headers: Vec<(String, String)>,
    /// What is compared between engines and times
    #[arg(long, value_enum, default_value = "exact", env = "CROSSOVER_ANSWER")]
    answer: HttpComparison,
    /// A JSON pointer to what may differ between answers, such as /time; repeatable
    #[arg(long = "json-ignore", value_name = "POINTER", conflicts_with = "answer")]
    json_ignore: Vec<String>,
    /// Numbers of clients; with --rate the most connections
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_CLIENTS")]
    clients: Vec<u16>,
    #[command(flatten)]
    throughput: ThroughputArguments,
    #[command(flatten)]
    distance: DistanceArguments,
    /// Open load: requests due per second, however fast the answers are
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "throughput",
        env = "CROSSOVER_RATE"
    )]
    rate: Vec<f64>,
    /// Open load: how the arrivals are spread
    #[arg(long, value_enum, requires = "rate", env = "CROSSOVER_ARRIVALS")]
    arrivals: Option<ArrivalsArgument>,
    /// Closed load: how long a client pauses before its next request: 100ms, 2s
    #[arg(long, value_name = "TIME", conflicts_with = "rate", env = "CROSSOVER_THINK_TIME")]
    think_time: Option<Pause>,
    /// A connection for every request, as curl does
    #[arg(long, env = "CROSSOVER_CONNECTION_PER_REQUEST")]
    connection_per_request: bool,
    /// Print the plan that all this fills in, and measure nothing
    #[arg(long)]
    print_plan: bool,
    #[command(flatten)]
    run: RunArguments,
}

/// How answers are compared.
#[derive(Clone, Copy, clap::ValueEnum)]
enum HttpComparison {
    /// Every byte
    Exact,
    /// The status alone
    Status,
    /// JSON, whose lists may have another order
    JsonAnyOrder,
}

/// How arrivals are spread.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ArrivalsArgument {
    /// Exponential gaps (independent users)
    Poisson,
    /// Equal gaps
    Uniform,
}

/// Runs `crossover bench http`.
pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let plan = plan(arguments)?;
    if arguments.print_plan {
        shared.print(&plan.to_toml()?)?;
        return Ok(CommandOutcome::Done);
    }
    carry_out(plan, &arguments.run, shared)
}

fn plan(arguments: &Arguments) -> anyhow::Result<Plan> {
    let mut plan = plan::parse(PLAN, "bench http")?;
    plan.engines.clone_from(&arguments.engines);
    let remote = |engine: &EngineSpec| matches!(engine.source, EngineSource::HttpUrl(_));
    if let Some(local) = plan.engines.iter().find(|engine| !remote(engine))
        && arguments.start.is_none()
    {
        let text = format!(
            "--on {local} needs --start COMMAND, the command that serves; \
             or name the application that runs by its URL: --on http://..."
        );
        return Err(Usage(text).into());
    }
    if let Some(data) = &arguments.data {
        plan.data = Data::File(std::path::absolute(data)?);
    }
    plan.application = application(arguments)?;
    fill_load(&mut plan, arguments);
    fill_requests(&mut plan, arguments)?;
    let names: Vec<String> = plan.engines.iter().map(EngineSpec::label).collect();
    let question = match plan.own_response {
        Some(_) => "Which does more requests per second",
        None => "Where are the answers faster",
    };
    plan.title = format!("{question}: {}?", names.join(" or "));
    arguments.distance.apply(&mut plan);
    arguments.run.apply(&mut plan)?;
    Ok(plan.resolved()?)
}

fn application(arguments: &Arguments) -> anyhow::Result<Application> {
    let start = command_words(arguments.start.as_slice())?.into_iter().next();
    Ok(Application {
        prepare: command_words(&arguments.prepare)?,
        before: command_words(&arguments.before)?,
        after: command_words(&arguments.after)?,
        directory: arguments.directory.as_ref().map(std::path::absolute).transpose()?,
        start: start.unwrap_or_default(),
        environment: arguments.environment.iter().cloned().collect(),
        ready: arguments.ready.clone().unwrap_or_default(),
        own_database: arguments.own_database,
        ca_file: arguments.ca_file.as_ref().map(std::path::absolute).transpose()?,
        ..Application::default()
    })
}

fn fill_load(plan: &mut Plan, arguments: &Arguments) {
    if arguments.connection_per_request {
        plan.load.connection = ConnectionUse::PerRequest;
    }
    plan.load.think_time = arguments.think_time;
    if arguments.rate.is_empty() {
        arguments.throughput.apply(plan, &arguments.clients);
        return;
    }
    plan.load.model = LoadModel::Open;
    plan.load.arrivals = arguments.arrivals.map(|arrivals| match arrivals {
        ArrivalsArgument::Poisson => Arrivals::Poisson,
        ArrivalsArgument::Uniform => Arrivals::Uniform,
    });
    plan.load.connections_max = arguments.clients.iter().max().copied();
    let mut rates: Vec<Level> = arguments.rate.iter().copied().map(Level::Number).collect();
    rates.dedup();
    plan.factors.insert("rate".to_owned(), Factor::new(rates));
}

fn fill_requests(plan: &mut Plan, arguments: &Arguments) -> anyhow::Result<()> {
    let answer = match (arguments.json_ignore.as_slice(), arguments.answer) {
        ([], HttpComparison::Exact) => AnswerCheck::Exact,
        ([], HttpComparison::Status) => AnswerCheck::Status,
        ([], HttpComparison::JsonAnyOrder) => AnswerCheck::JsonAnyOrder,
        (pointers, _) => AnswerCheck::JsonIgnore(pointers.to_vec()),
    };
    let headers: Headers = arguments.headers.iter().cloned().collect();
    plan.requests = arguments.requests.clone();
    for request in &mut plan.requests {
        request.answer = answer.clone();
        request.headers.clone_from(&headers);
    }
    let source = match (&arguments.list, &arguments.from_log) {
        (Some(list), _) => Some(RequestSource::of_file(list.clone())),
        (None, Some(log)) => {
            let source = RequestSource::of_log(log.clone());
            let most = arguments.most.map_or(source.most, NonZeroUsize::get);
            Some(RequestSource { most, ..source })
        }
        (None, None) => None,
    };
    plan.request_source = source.map(|source| RequestSource { answer, headers, ..source });
    if plan.requests.is_empty() && plan.request_source.is_none() {
        let text = "no request; give --request PATH, --requests FILE or --from-log FILE";
        return Err(Usage(text.to_owned()).into());
    }
    body::fill(&mut plan.requests, &arguments.bodies).map_err(|text| Usage(text).into())
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// A secret would be in the list of processes and in the run's record.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write 'Name: value'")?;
    let (name, value) = (name.trim(), value.trim());
    let secret = SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str());
    if secret && !value.contains('{') {
        return Err(format!(
            "keep the secret out of the command line: put it into the environment as \
             CROSSOVER_KEY and write {{key}} where it belongs in {name}"
        ));
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn plan_of(words: &[&str]) -> anyhow::Result<Plan> {
        plan(&Line::try_parse_from([&["http"], words].concat())?.arguments)
    }

    #[test]
    fn an_application_on_two_engines_becomes_a_plan() {
        let words = [
            "--on",
            "sqlite",
            "--on",
            "postgres:18[work_mem=16MB]",
            "--start",
            "python3 'my app.py' --port {port}",
            "--prepare",
            "load {database_url}",
            "--environment",
            "DATABASE_URL={sqlalchemy_url}",
            "--ready",
            "/ready",
            "--request",
            "/a?b=c 3",
            "--request",
            "HEAD /b",
            "--header",
            "Authorization: Bearer {key}",
            "--header",
            "Accept: text/html",
            "--header",
            "Accept: text/plain",
            "--json-ignore",
            "/time",
            "--clients",
            "1,4",
            "--time",
            "2s",
        ];
        let plan = plan_of(&words).unwrap();
        assert_eq!(plan.application.start, ["python3", "my app.py", "--port", "{port}"]);
        assert_eq!(plan.requests[0].weight, 3);
        assert_eq!(
            (plan.requests[1].method.as_str(), plan.requests[1].path.as_str()),
            ("HEAD", "/b")
        );
        assert_eq!(plan.requests[0].answer, AnswerCheck::JsonIgnore(vec!["/time".to_owned()]));
        let accepted = plan.requests[0].headers.iter().filter(|(name, _)| *name == "Accept");
        assert!(accepted.map(|(_, value)| value).eq(["text/html", "text/plain"]));
        let again = plan::read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
        assert_eq!(again, plan);
    }

    #[test]
    fn a_log_and_a_rate_make_open_load_on_two_servers() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("access.log");
        let line = "h - - [t] \"GET /a HTTP/1.1\" 200 1\n";
        std::fs::write(&log, line.repeat(3) + "nonsense\n").unwrap();
        let words = [
            "--on",
            "http://127.0.0.1:1[label=old]",
            "--on",
            "http://127.0.0.1:2[label=new]",
            "--from-log",
            log.to_str().unwrap(),
            "--rate",
            "50,100",
            "--clients",
            "8",
        ];
        let plan = plan_of(&words).unwrap();
        assert_eq!((plan.requests.len(), plan.requests[0].weight), (1, 3));
        assert!(plan.conditions.contains("; 1 line left out: "), "{}", plan.conditions);
        assert_eq!(plan.load.connections_max, Some(8));
        let again = plan::read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
        assert_eq!(again, plan);
    }

    #[test]
    fn mistakes_name_the_way_out() {
        let mistake = |words: &[&str]| plan_of(words).unwrap_err().to_string();
        let url = ["--on", "http://127.0.0.1:1"];
        assert!(mistake(&["--on", "sqlite", "--request", "/"]).contains("needs --start"));
        assert!(mistake(&url).contains("--request PATH"));
        let with = |more: &[&str]| mistake(&[&url[..], &["--request", "/"], more].concat());
        let secret = with(&["--header", "Authorization: Bearer s3cr3t"]);
        assert!(secret.contains("CROSSOVER_KEY"), "{secret}");
        assert!(with(&["--request", "a b c"]).contains("[METHOD] PATH [WEIGHT]"));
        assert!(with(&["--rate", "0"]).contains("above 0"));
        assert!(with(&["--before", "'open"]).contains("close its quotes"));
        let started = ["--on", "sqlite", "--request", "/", "--start"];
        let nowhere = mistake(&[&started[..], &["app {database_url}"]].concat());
        assert!(nowhere.contains("--environment 'LISTEN={listen}'"), "{nowhere}");
        let alone = mistake(&[&started[..], &["app {port}"]].concat());
        assert!(alone.contains("--environment 'DATABASE_URL={database_url}'"), "{alone}");
        assert!(plan_of(&[&started[..], &["app {port}", "--own-database"]].concat()).is_ok());
    }
}
