//! Common ground of two runs: whether they measured the same work, and on the same machine.

use crate::warning::WarningPart;
use plan::Operation;
use plan::{AnswerCheck, Bytes, Plan, TrialSettings, WorkloadKind};
use record::Finished;
use record::Run;

/// Something in which two runs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The work of the engines: another workload, other operations, weights or texts, the plans'
    /// constants filled in.
    Work,
    /// How load was offered, or what a trial was.
    Load,
    /// How long a steady trial was.
    TrialTime,
    /// The data, by its digest or by what was answered to the same question.
    Data,
    /// The machine: processors, memory or kernel.
    Machine,
    /// The processors or the memory that the server side was given.
    Limits,
    /// The release or build of Crossover.
    Program,
}

impl Difference {
    pub fn kind(self) -> &'static str {
        match self {
            Self::Work => "different_work",
            Self::Load => "different_load",
            Self::TrialTime => "different_trial_times",
            Self::Data => "different_data",
            Self::Machine => "different_machines",
            Self::Limits => "different_limits",
            Self::Program => "different_programs",
        }
    }

    pub fn message(self) -> &'static str {
        match self {
            Self::Work => "The runs did different work: their operations, weights or texts differ.",
            Self::Load => "The runs offered load differently: model, connections or trials differ.",
            Self::TrialTime => "The runs had trials of different lengths.",
            Self::Data => {
                "The runs used different data: their digests, or answers to one question, differ."
            }
            Self::Machine => "The runs were made on different machines.",
            Self::Limits => "The runs gave the server side different processors or memory.",
            Self::Program => "The runs were made by different builds of Crossover.",
        }
    }

    /// The remedy.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Work | Self::Load => "Compare runs of the same plan.",
            Self::TrialTime => {
                "Means stay comparable; what is rare is met more often in long trials."
            }
            Self::Data => "Compare runs on the same data; --rerun measures both again.",
            Self::Machine => {
                "A difference may be the machine's. Compare runs of one machine, or read the \
                 ratios of engines within each run."
            }
            Self::Limits => "A difference may be that of the limits; --rerun keeps each run's own.",
            Self::Program => "A difference may be the measuring program's; --rerun uses one build.",
        }
    }

    /// The doubt as reports tell it.
    pub fn warning(self) -> WarningPart {
        let message = self.message().to_owned();
        WarningPart::new(self.kind(), message, self.advice())
    }

    /// Whether a ratio of such runs would say nothing.
    pub fn is_prohibitive(self) -> bool {
        matches!(self, Self::Work | Self::Load | Self::Data)
    }
}

/// Everything in which `one` and `other` differ that matters to a comparison.
pub fn differences(one: &Finished, other: &Finished) -> Vec<Difference> {
    let (a, b) = (&one.plan, &other.plan);
    let machine = |run: &Finished| {
        let found = &run.run.environment;
        (found.cpu_model.clone(), found.cpus, found.memory_bytes, found.kernel.clone())
    };
    let build = |run: &Finished| run.run.program_digest.clone();
    let checks = [
        (Difference::Work, ComparedWork::of(a) != ComparedWork::of(b)),
        (
            Difference::Load,
            a.load != b.load || !same_mode(&a.trial, &b.trial) || is_fixed(one) != is_fixed(other),
        ),
        (Difference::TrialTime, a.trial != b.trial && same_mode(&a.trial, &b.trial)),
        (
            Difference::Data,
            one.run.data_name(a) != other.run.data_name(b) || answers_differ(&one.run, &other.run),
        ),
        (Difference::Machine, machine(one) != machine(other)),
        (Difference::Limits, limits(a) != limits(b)),
        (Difference::Program, build(one) != build(other)),
    ];
    checks.into_iter().filter(|(_, differs)| *differs).map(|(difference, _)| difference).collect()
}

/// Whether trials are fixed work: earlier programs had trials that write last a time.
fn is_fixed(run: &Finished) -> bool {
    !run.run.fixed_work.is_empty()
}

/// Everything that is asked of the engines.
#[derive(PartialEq)]
struct ComparedWork {
    operations: Vec<Operation>,
    /// The constants filled in, since they are what tells two runs of one plan apart; placeholders
    /// of factors stay, for treatments are matched by their levels.
    texts: Vec<String>,
    /// How requests are sent and their answers judged.
    requests: Vec<(String, AnswerCheck)>,
    workload: WorkloadKind,
}

impl ComparedWork {
    fn of(plan: &Plan) -> Self {
        let filled = |text: String| {
            let constants = plan.constants.iter();
            constants.fold(text, |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
        };
        let sent = plan.requests.iter().map(|one| (one.method.clone(), one.answer.clone()));
        Self {
            operations: plan.operations(),
            texts: plan.rules().texts().into_iter().map(|(_, text)| filled(text)).collect(),
            requests: sent.collect(),
            workload: plan.workload,
        }
    }
}

/// Whether a question that both runs asked had another answer in one of them.
fn answers_differ(one: &Run, other: &Run) -> bool {
    let mut common =
        one.answers.iter().filter_map(|(key, answer)| Some((answer, other.answers.get(key)?)));
    common.any(|(a, b)| a != b)
}

/// Processors of server side and client, and the limit on memory.
fn limits(plan: &Plan) -> (Option<&[usize]>, Option<&[usize]>, Option<Bytes>) {
    (plan.server_cpus.as_deref(), plan.client_cpus.as_deref(), plan.server_memory)
}

/// Steady trials of any length are alike; passes are not unless there are as many.
fn same_mode(one: &TrialSettings, other: &TrialSettings) -> bool {
    match (one, other) {
        (TrialSettings::Steady { .. }, TrialSettings::Steady { .. }) => true,
        _ => one == other,
    }
}
