//! `--log-format` and `--log-level`: what the server writes to standard error while it runs.

use tracing_subscriber::EnvFilter;

/// How the server writes its log.
#[derive(clap::Args)]
pub struct LogArguments {
    /// The form of the log on standard error: lines for people, or an object for each line
    #[arg(long, value_enum, default_value_t, env = "CROSSOVER_LOG_FORMAT")]
    log_format: LogFormat,
    /// From which level on lines are written; info writes one for each request. RUST_LOG, if it
    /// is set, says it in more detail
    #[arg(long, value_enum, default_value_t, env = "CROSSOVER_LOG_LEVEL")]
    log_level: LogLevel,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum LogLevel {
    Error,
    #[default]
    Warn,
    Info,
    Debug,
}

impl LogArguments {
    /// Writes the log from now on.
    pub fn begin(&self, color: bool) {
        let level = match self.log_level {
            LogLevel::Error => tracing::Level::ERROR,
            LogLevel::Warn => tracing::Level::WARN,
            LogLevel::Info => tracing::Level::INFO,
            LogLevel::Debug => tracing::Level::DEBUG,
        };
        let filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        match self.log_format {
            LogFormat::Text => log.with_ansi(color).init(),
            LogFormat::Json => log.json().flatten_event(true).init(),
        }
    }
}
