//! What two runs have in common: whether they measured the same work, and on the same machine.

use crate::plan::Trial;
use crate::report::WarningPart;
use crate::run::Finished;

/// Something in which two runs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// What was done to the engines: another workload, other operations or weights.
    Work,
    /// How load was offered, or what a trial was.
    Load,
    /// How long a steady trial was.
    TrialTime,
    /// The data, by its digest.
    Data,
    /// The machine: processors, memory or kernel.
    Machine,
    /// The processors or the memory that the server side was given.
    Limits,
    /// The release or build of Crossover.
    Program,
}

impl Difference {
    /// A short constant name.
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

    /// What differs.
    pub fn message(self) -> &'static str {
        match self {
            Self::Work => "The runs did different work: their operations or weights differ.",
            Self::Load => "The runs offered load differently: model, connections or trials differ.",
            Self::TrialTime => "The runs had trials of different lengths.",
            Self::Data => "The runs used different data: their digests differ.",
            Self::Machine => "The runs were made on different machines.",
            Self::Limits => "The runs gave the server side different processors or memory.",
            Self::Program => "The runs were made by different builds of Crossover.",
        }
    }

    /// What to do about it.
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
        WarningPart { kind: self.kind(), message, advice: self.advice() }
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
        (Difference::Work, a.workload != b.workload || a.operations() != b.operations()),
        (Difference::Load, a.load != b.load || !same_mode(&a.trial, &b.trial)),
        (Difference::TrialTime, a.trial != b.trial && same_mode(&a.trial, &b.trial)),
        (Difference::Data, one.run.data_digest != other.run.data_digest),
        (Difference::Machine, machine(one) != machine(other)),
        (Difference::Limits, a.server_cpus != b.server_cpus || a.client_cpus != b.client_cpus),
        (Difference::Program, build(one) != build(other)),
    ];
    checks.into_iter().filter(|(_, differs)| *differs).map(|(difference, _)| difference).collect()
}

/// Steady trials of any length are alike; passes are not unless there are as many.
fn same_mode(one: &Trial, other: &Trial) -> bool {
    match (one, other) {
        (Trial::Steady { .. }, Trial::Steady { .. }) => true,
        _ => one == other,
    }
}
