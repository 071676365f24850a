//! Texts of the warnings, each with what to do about it.

use super::Warning;
use super::machine::{CLIENT_WAIT_MAX, STEAL_FRACTION_MAX};
use notation::{counted, thousands};
use record::counter::FROM_STORAGE_SHARE_MAX;

impl Warning {
    #[expect(clippy::too_many_lines, reason = "a sentence for each warning")]
    pub fn message(&self) -> String {
        match self {
            Self::TooFewBlocks { blocks, .. } => format!(
                "{}: the figures are values with their range, without intervals.",
                counted(*blocks, "block")
            ),
            Self::Incomplete { recorded, planned } => {
                format!("The run is not complete: {recorded} of {planned} trials are there.")
            }
            Self::CutByBudget { recorded, planned } => format!(
                "The budget ended in the last block: {recorded} of {planned} trials are there."
            ),
            Self::VoidTrials { trials, first, unmeasured } => {
                let are = if *trials == 1 { "is" } else { "are" };
                let void = format!("{} {are} void: {first}.", counted(*trials, "trial"));
                match unmeasured.is_empty() {
                    true => void,
                    false => format!("Not measured: {}. {void}", unmeasured.join(", ")),
                }
            }
            Self::Failures { engine, failures, requests, first } => format!(
                "{engine}: {} of {} requests failed, the first by: {first}. A treatment with a wrong \
                 answer, or with more failures than max_failures, gets no verdict.",
                thousands(*failures),
                thousands(*requests)
            ),
            Self::WarmUpFailures { engine, failures, trials } => format!(
                "{engine}: {} of the warm-up failed, before {}.",
                counted(usize::try_from(*failures).unwrap_or(usize::MAX), "request"),
                counted(*trials, "trial")
            ),
            Self::Saturated { engine, trials, offered_per_second, answered_per_second } => format!(
                "{engine} did not keep up in {}: {offered_per_second:.1} requests per second were \
                 due, {answered_per_second:.1} answered. Response times there grow with the length \
                 of the trial and mean nothing else.",
                counted(*trials, "trial")
            ),
            Self::ClientBusy { cores, of } => {
                format!("The measuring client used up to {cores:.2} of {of} cores.")
            }
            Self::RelaySaturated { cores, of } => format!(
                "The relay that makes the distance shared saturated processors: {cores:.2} of {of} \
                 cores were used in a trial, so it may have delayed by more than it was asked for."
            ),
            Self::UnequalCores { more, more_cores, less, less_cores, among_clients, equal_at } => {
                let settled = equal_at.as_ref().map(|treatments| {
                    format!(" The treatments at {treatments} compare both at one core.")
                });
                let (of, there) =
                    if *among_clients { ("With 1 client ", " there") } else { ("", "") };
                format!(
                    "{of}{more} used up to {more_cores:.2} cores, {less} up to {less_cores:.2}: part \
                     of the difference{there} is more hardware, not less work.{}",
                    settled.unwrap_or_default()
                )
            }
            Self::SharedCores => {
                "The measuring client ran on the same cores as the server.".to_owned()
            }
            Self::Steal { fraction, trials } => format!(
                "The hypervisor took up to {:.1}% of the machine's time away, in {} more than \
                 {:.0}%.",
                fraction * 100.0,
                counted(*trials, "trial"),
                STEAL_FRACTION_MAX * 100.0
            ),
            Self::BusyMachine { cores, of } => format!(
                "Other programs used {cores:.2} of {of} cores on average: the figures are those of \
                 a busy machine, and engines with more processes get a larger share of it."
            ),
            Self::Drift { engine, ratio } => {
                format!("{engine}: the last block took {ratio:.2} times as long as the first.")
            }
            Self::AnswersDiffer { engine, trials, first } => format!(
                "{engine} gave wrong answers in {}, the first: {first}. Times of different work \
                 cannot be compared.",
                counted(*trials, "trial")
            ),
            Self::DurabilityUnknown { engines } => format!(
                "What a committed transaction survives is not known of {}, since applications choose \
                 it for their own connections: a weaker promise may be part of the difference.",
                engines.join(", ")
            ),
            Self::DurabilityDiffers { more, less, only_reads } => {
                let end = match only_reads {
                    true => "; nothing was written here, so it hardly matters",
                    false => ": part of the difference is a weaker promise, not less work",
                };
                format!(
                    "A committed transaction in {}: {}; in {}: {}{end}.",
                    more.0, more.1, less.0, less.1
                )
            }
            Self::ClientStarved { fraction, trials } => format!(
                "The measuring client was ready to run and had no processor for up to {:.0}% of a \
                 trial, in {} more than {:.0}%: response times include that wait.",
                fraction * 100.0,
                counted(*trials, "trial"),
                CLIENT_WAIT_MAX * 100.0
            ),
            Self::WritesWithoutEffect { request, by_engine } => {
                let share = |(engine, fraction): &(String, f64)| {
                    format!("up to {:.0}% on {engine}", fraction * 100.0)
                };
                let shares: Vec<String> = by_engine.iter().map(share).collect();
                format!(
                    "{request}: of the executions in a trial, {} changed no row. They are timed like \
                     the others, so its times are partly those of finding nothing.",
                    shares.join(", ")
                )
            }
            Self::ClientsAreThreads { engines } => format!(
                "{}: clients were threads of one process, which take the file's locks together. \
                 Beyond one client the figures hold for programs of one process (Go, Node, many in \
                 Rust). Workers that are processes (gunicorn, puma, PHP-FPM) were not measured, and \
                 may get half.",
                engines.join(", ")
            ),
            Self::CheaperOperations { engine, ratio, clients: [fewest, most] } => format!(
                "{engine}: an operation takes {ratio:.2} times the processor time at {most} clients \
                 that it takes at {fewest}, with all processors busy: the clients share work, such as \
                 locks, wake-ups or commits. Clients that arrive less closely share less."
            ),
            Self::IdleCores { engine, response_time_ms } => format!(
                "{engine}: one client, {response_time_ms:.2} ms per answer and an idle machine: \
                 much of that time is cores waking up, not the engine's work."
            ),
            Self::NotSteady { engine, ratio, unsettled, .. } => {
                let moved = ratio.map(|ratio| {
                    format!(
                        "the second half of its trials took {ratio:.2} times as long as the first"
                    )
                });
                let unsettled = (*unsettled > 0).then(|| {
                    let trials = counted(*unsettled, "trial");
                    format!("the warm-up of {trials} ended before it was steady")
                });
                let parts: Vec<String> = moved.into_iter().chain(unsettled).collect();
                format!("{engine} was not steady: {}.", parts.join("; "))
            }
            Self::PlanChanged { engine, operations } => format!(
                "{engine} chose another plan in a later block for: {}. Means over these blocks mix \
                 two plans.",
                operations.join(", ")
            ),
            Self::Outlier { treatment, block, ratio, treatments } => format!(
                "In {} a block lies far from the others (Grubbs' test), the farthest in \
                 {treatment}: block {block} took {ratio:.2} times the median. Nothing was left out.",
                counted(*treatments, "treatment")
            ),
            Self::NotQuiet { trials } => format!(
                "{} began on a busy machine: the wait for quiet reached its limit.",
                counted(*trials, "trial")
            ),
            Self::NotWarm { engine, fraction, trials } => format!(
                "{} of warm reads had to fetch more than {}% of their bytes from storage however \
                 often they were offered, {engine} up to {:.1}%: something drops pages from the \
                 page cache (a container's limit, proactive reclaim).",
                counted(*trials, "trial"),
                FROM_STORAGE_SHARE_MAX * 100.0,
                fraction * 100.0
            ),
            Self::MemoryPressure { fraction, trials } => format!(
                "Processes waited for memory for up to {:.1}% of a trial, in {}.",
                fraction * 100.0,
                counted(*trials, "trial")
            ),
            Self::Swapped { bytes, trials } => format!(
                "The machine moved {} from or to swap space during {}.",
                notation::bytes(*bytes),
                counted(*trials, "trial")
            ),
            Self::DataExceedsMemory { data_bytes, memory_bytes } => format!(
                "The files of all engines have {}, the machine {} of memory: some were \
                 read from storage, and one engine's files push another's out.",
                notation::bytes(*data_bytes),
                notation::bytes(*memory_bytes)
            ),
            Self::StatisticsMissing { engine } => {
                format!("{engine} had no statistics of its tables to choose plans by.")
            }
            Self::SettingsDiffer { settings } => format!(
                "The releases could not be set alike, or the plan leaves to each what it does by \
                 itself: {}.",
                settings.join("; ")
            ),
            Self::WritesStay { engines } => format!(
                "The requests may write, and {} yours: what they wrote stays there, and each \
                 trial began with what the ones before it had left.",
                match engines.as_slice() {
                    [one] => format!("{one} is"),
                    several => format!("{} are", several.join(", ")),
                }
            ),
            Self::AnsweredWithoutEngine { engine, fraction } => format!(
                "{engine}: after the trials {:.0}% of the requests used the database; the others were \
                 answered from the application's cache or from another database, its own file perhaps, so \
                 their times are not the engine's.",
                (fraction * 100.0).floor()
            ),
            Self::ReachOutOfSight { engines } => format!(
                "Whether the requests used the database of {} was not seen: they may have been \
                 answered from another one or from a cache.",
                engines.join(", ")
            ),
            Self::UnevenCheckpoints { treatments, first } => format!(
                "In {} that write, trials hold different parts of the engine's life. Checkpoints \
                 that ended in the trials of {first}.",
                counted(*treatments, "treatment")
            ),
            Self::DebugBuild => "Crossover itself was built without optimisation.".to_owned(),
            Self::HistogramDamaged { first } => {
                format!("Percentiles over all blocks are not drawn: {first}.")
            }
            Self::Resumed { times } => format!(
                "The run was interrupted and taken up again {}; the engines were started again in \
                 the block that was cut.",
                if *times == 1 { "once".to_owned() } else { format!("{times} times") }
            ),
        }
    }

    /// The remedy.
    #[expect(clippy::too_many_lines, reason = "a sentence for each warning")]
    pub fn advice(&self, has_application: bool) -> &'static str {
        match self {
            Self::TooFewBlocks { by_budget: true, .. } | Self::CutByBudget { .. } => {
                "Repeat with a longer --budget or with fewer statements."
            }
            Self::TooFewBlocks { .. } => "Repeat with --replicates 5 or more.",
            Self::Incomplete { .. } => "Continue it: `crossover bench --resume RUN`.",
            Self::VoidTrials { .. } | Self::Failures { .. } | Self::WarmUpFailures { .. }
                if has_application =>
            {
                "Read the log of the application in the run's folder; repair it and repeat."
            }
            Self::VoidTrials { .. } => {
                "Read the engine's log in the run's folder, where it keeps one, and repeat."
            }
            Self::Failures { .. } | Self::WarmUpFailures { .. } => {
                "Read the engine's log; repair what it names and repeat."
            }
            Self::Saturated { .. } => {
                "Offer less (rate), or compare the rates that the engines sustain."
            }
            Self::ClientBusy { .. } => {
                "Give client and server cores of their own: --client-cpus and --server-cpus."
            }
            Self::RelaySaturated { .. } => {
                "Measure the distance with fewer clients, or on a machine with more cores."
            }
            Self::UnequalCores { .. } => {
                "Look at the CPU time; --server-cpus 0 compares at one core each."
            }
            Self::SharedCores => {
                "On a larger machine keep them apart with --client-cpus and --server-cpus."
            }
            Self::Steal { .. } => "Repeat on a quiet machine; compare intervals, not values.",
            Self::BusyMachine { .. } => "Stop the other programs and repeat.",
            Self::Drift { .. } => {
                "Blocks and random order keep most of this out of the ratios; the means include it. \
                 Repeat on a quiet machine for absolute figures."
            }
            Self::AnswersDiffer { .. } if has_application => {
                "Repair the application, or say what may differ: answer = { json_ignore = [...] }."
            }
            Self::AnswersDiffer { .. } => {
                "Look at that trial; the key `answer` says what may differ."
            }
            Self::DurabilityUnknown { .. } => {
                "Read them from the application's own connections, and set them alike: synchronous in \
                 SQLite, synchronous_commit in PostgreSQL."
            }
            Self::DurabilityDiffers { only_reads: true, .. } => {
                "Set them alike before you measure writes."
            }
            Self::DurabilityDiffers { .. } => {
                "Set them alike: synchronous in SQLite, fsync and synchronous_commit in PostgreSQL, \
                 innodb_flush_log_at_trx_commit in MariaDB."
            }
            Self::ClientStarved { .. } => {
                "Give the client a processor of its own (--client-cpus, --server-cpus), or fewer \
                 clients; stop other programs."
            }
            Self::WritesWithoutEffect { .. } => {
                "Give it a row for each execution (a wider range, or a query that returns more keys), or \
                 put back in one transaction what it takes (transaction = true). Longer trials make \
                 it worse."
            }
            Self::ClientsAreThreads { .. } => {
                "Measure both forms: --clients-as processes,threads, or in a plan the factor \
                 clients_as = [\"processes\", \"threads\"]."
            }
            Self::CheaperOperations { .. } => {
                "Measure an application with as many workers as yours has (bench http)."
            }
            Self::IdleCores { .. } => {
                "Compare with 2 clients or more, put client and server on one core (--server-cpus 0 \
                 --client-cpus 0), or keep the processors awake (idle=poll)."
            }
            Self::NotSteady { read_ahead, .. } => to_be_steady(*read_ahead),
            Self::PlanChanged { .. } => {
                "Look at both plans in the report; autovacuum or new statistics change them."
            }
            Self::Outlier { .. } => {
                "Look at that trial's counters; more blocks make the intervals less dependent on it."
            }
            Self::NotQuiet { .. } => "Stop the other programs and repeat.",
            Self::NotWarm { .. } | Self::MemoryPressure { .. } | Self::Swapped { .. } => {
                "Stop other programs, or make caches and data smaller."
            }
            Self::DataExceedsMemory { .. } => {
                "If production has more memory, measure on such a machine; if not, this is right."
            }
            Self::StatisticsMissing { .. } => "Run ANALYZE there, and repeat.",
            Self::SettingsDiffer { .. } => {
                "Name them under [oltp.settings.postgres], or take the difference for a part of the \
                 release."
            }
            Self::WritesStay { .. } => {
                "Name engines that get copies of the data (sqlite, postgres:18), or set the data back \
                 by application.before."
            }
            Self::AnsweredWithoutEngine { .. } => {
                "Turn the application's cache off, and see that it opens the given URL for every request."
            }
            Self::ReachOutOfSight { .. } => {
                "Look into the log of the application or of the server."
            }
            Self::UnevenCheckpoints { .. } => {
                "Say what is wanted: oltp.checkpoints = \"between\", or \"sustained\" with trials of \
                 90s and more."
            }
            Self::DebugBuild => "Measure with a release build: cargo build --release.",
            Self::HistogramDamaged { .. } => "Restore the file from a copy, or repeat the run.",
            Self::Resumed { .. } => "Repeat the run in one sitting if a verdict depends on it.",
        }
    }
}

/// The remedy where times moved within trials; longer ones of cold reads would only end warmer.
fn to_be_steady(read_ahead: bool) -> &'static str {
    match read_ahead {
        true => {
            "Reading ahead, the kernel brings what later reads ask for: read a smaller part of the \
             blobs (reads = \"2%\"), or set the disk's read-ahead lower."
        }
        false => "Use longer trials; look at the plot over blocks.",
    }
}
