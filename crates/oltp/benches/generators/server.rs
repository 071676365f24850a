//! The server that all generators load: PostgreSQL 18 with a gigabyte of shared buffers, and the
//! table, which is ours and which sysbench takes for its own.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use oltp::OltpTarget;
use plan::oltp::TableOptions;
use server::{Locations, PostgresServer, StartOptions};

static NEVER: AtomicBool = AtomicBool::new(false);

/// The server; it ends when this is dropped.
pub struct Server {
    /// For libpq and for us.
    pub url: String,
    pub socket_folder: String,
    pub port: String,
    pub user: String,
    pub rows: u32,
    pub pid: u32,
    _server: PostgresServer,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    pub fn start(rows: u32) -> Self {
        let settings = [
            ("shared_buffers", "1GB"),
            ("max_connections", "1100"),
            ("work_mem", "16MB"),
            ("maintenance_work_mem", "64MB"),
            ("update_process_title", "off"),
        ];
        let mut options = StartOptions::new("18").unwrap().temporary();
        let owned = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        options.settings = owned.collect();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let locations = Locations::detect().unwrap();
        let progress = ProgressBar::hidden();
        let start = PostgresServer::start(&locations, options, &progress, &NEVER);
        let server = runtime.block_on(start).unwrap();
        let url = server.url("crossover");
        let target =
            OltpTarget::Postgres { url: url.clone(), session: Vec::new(), behind_pool: None };
        let tables = TableOptions { table_size: rows, ..TableOptions::default() };
        oltp::fill(&target, &tables, &|_, _| {}, &NEVER).unwrap();
        let url = url.expose();
        let parameter = |name: &str| {
            let found =
                url.split(['?', '&']).find_map(|part| part.strip_prefix(&format!("{name}=")));
            found.unwrap_or_default().to_owned()
        };
        let authority = url.split("://").nth(1).unwrap();
        let user = authority.split(['@', ':', '/']).next().unwrap().to_owned();
        let (socket_folder, port) = (parameter("host"), parameter("port"));
        let port = if port.is_empty() { "5432".to_owned() } else { port };
        let pid = server.pid();
        Self { url, socket_folder, port, user, rows, pid, _server: server, _runtime: runtime }
    }
}
