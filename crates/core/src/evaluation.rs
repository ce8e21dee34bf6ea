//! What happened to a draft: outcome, diagnostics, measurement, feedback.

use crate::cost::Cost;
use crate::hash::ContentHash;
use crate::quantity::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How an evaluation ended. A failed candidate is data, never an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Right on every input set, and timed.
    Ok,
    /// Refused before building: too large, no entry function, banned construct.
    Rejected,
    /// The compiler or linker refused it, or exceeded its limits.
    BuildFailed,
    /// The program trapped: illegal instruction, wild jump, access to unmapped memory.
    Crashed,
    /// It did not return within the instruction or cycle limit.
    TimedOut,
    /// It broke a rule of the accelerator or left its buffers.
    Illegal,
    /// It returned, and an output is wrong or an input was changed.
    Wrong,
    /// Right, and given up while it was timed: it costs more than the bound of its iteration,
    /// so that it cannot survive.
    Cut,
    /// It could not be judged: the evaluator panicked, died or contradicted itself. Says
    /// nothing about the kernel but that it brought that about, and is to be reported.
    Fault,
}

impl Outcome {
    /// Every outcome, in the order of the cascade.
    pub const ALL: [Self; 9] = [
        Self::Ok,
        Self::Rejected,
        Self::BuildFailed,
        Self::Crashed,
        Self::TimedOut,
        Self::Illegal,
        Self::Wrong,
        Self::Cut,
        Self::Fault,
    ];

    /// Returns whether the kernel is right, whatever it costs.
    #[must_use]
    pub fn is_right(self) -> bool {
        matches!(self, Self::Ok | Self::Cut)
    }

    /// Returns the serialised name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Rejected => "rejected",
            Self::BuildFailed => "build_failed",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed_out",
            Self::Illegal => "illegal",
            Self::Wrong => "wrong",
            Self::Cut => "cut",
            Self::Fault => "fault",
        }
    }

    /// Returns what it says of a kernel, in a few words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "right, and timed",
            Self::Rejected => "refused before it was built",
            Self::BuildFailed => "does not build",
            Self::Crashed => "trapped",
            Self::TimedOut => "did not return in time",
            Self::Illegal => "broke a rule of the target or left its buffers",
            Self::Wrong => "a result is wrong, or an input was changed",
            Self::Cut => "right, and not timed to the end: it costs too much to survive",
            Self::Fault => "could not be judged, which is to be reported",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A step of the evaluation cascade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Static checks of the source.
    Check,
    /// Compile and link.
    Build,
    /// Run on the input sets and compare.
    Test,
    /// Measure the cost.
    Time,
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Decides the outcome.
    Error,
    /// Worth knowing, does not decide.
    Warning,
}

/// A place in the kernel source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceLocation {
    /// File name as the user knows it (`kernel.c`).
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            Some(column) => write!(f, ":{column}"),
            None => Ok(()),
        }
    }
}

/// One finding that a person or a model can act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Where in the cascade it was found.
    pub stage: Stage,
    /// How bad it is.
    pub severity: Severity,
    /// Stable machine-readable kind, kebab-case (`output-mismatch`, `out-of-bounds-write`).
    pub code: String,
    /// What is wrong, with the numbers: one sentence or a few.
    pub message: String,
    /// The kernel line at fault, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<SourceLocation>,
    /// Supporting facts, one line each (the source line, further elements, other lines involved).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What to do about it, if that can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Diagnostic {
    /// Returns an error of which neither a line of the kernel nor facts or a remedy are known.
    #[must_use]
    pub fn error(stage: Stage, code: &str, message: impl Into<String>) -> Self {
        Self {
            stage,
            severity: Severity::Error,
            code: code.to_owned(),
            message: message.into(),
            location: None,
            notes: Vec::new(),
            remedy: None,
        }
    }
}

/// How many times the cost of one kernel that of another one is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Median of paired measurements.
    pub value: f64,
    /// Lower end of its confidence interval.
    pub low: f64,
    /// Upper end of its confidence interval.
    pub high: f64,
}

/// The cost of a correct kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The ranking figure.
    #[serde(alias = "cycles")]
    pub cost: Cost,
    /// What peak compute or bandwidth would need; a result below it is a fault.
    #[serde(alias = "ideal_cycles")]
    pub floor: Cost,
    /// `100 * floor / cost`.
    pub percent_of_peak: f64,
    /// Single measurements in the unit of `cost`, in the order taken; none if
    /// the cost is exact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u64>,
    /// The cost divided by that of the baseline, measured in pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_to_baseline: Option<Ratio>,
    /// What measured it (`sim NAME machine=fpga model=3`).
    pub engine: String,
    /// Compiler name and version.
    pub compiler: String,
    /// Further figures that a family knows of (`instructions`).
    #[serde(flatten)]
    pub figures: BTreeMap<String, u64>,
}

impl Measurement {
    /// The engine of what another program has measured.
    pub const ELSEWHERE: &str = "imported";
}

impl Measurement {
    /// Figures of a kernel that are known however far it was timed: instructions that a call
    /// executes, those of them that load or store vector registers kept on the stack, and bytes
    /// of code.
    pub const INSTRUCTIONS: &str = "instructions";
    /// See [`INSTRUCTIONS`](Self::INSTRUCTIONS).
    pub const SPILLS: &str = "spills";
    /// See [`INSTRUCTIONS`](Self::INSTRUCTIONS).
    pub const CODE_BYTES: &str = "code_bytes";
}

/// Returns what figures say of the work of a kernel that was not timed to the end, as the end of
/// a sentence.
fn work_in_words(figures: &BTreeMap<String, u64>) -> String {
    let words = [
        (Measurement::INSTRUCTIONS, "instructions"),
        (
            Measurement::SPILLS,
            "of them load or store vector registers kept on the stack",
        ),
        (Measurement::CODE_BYTES, "bytes of code"),
    ];
    let words = words.into_iter();
    let told = words.filter_map(|(name, text)| Some(format!("{} {text}", figures.get(name)?)));
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => String::new(),
        false => format!("; it has {}", told.join(", ")),
    }
}

/// Cost attributed to one source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineCost {
    /// Where.
    pub location: SourceLocation,
    /// How much; exact.
    #[serde(flatten, with = "crate::cost::by_unit")]
    pub cost: Cost,
    /// Main cause (`wait-load`, `issue`, …).
    pub cause: String,
}

/// Hardware feedback for people and prompts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// What limits the kernel, in a sentence or a paragraph generated from the counters.
    pub bottleneck: String,
    /// Named figures (`bytes_read`, …).
    #[serde(default)]
    pub counters: BTreeMap<String, f64>,
    /// The most expensive lines, dearest first.
    #[serde(default)]
    pub lines: Vec<LineCost>,
}

/// Wall time one tier of the cascade took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierCost {
    /// `check`, `build`, `test`, `time`.
    pub tier: String,
    /// Wall time of its parts, added up; tiers and their parts may run side by side.
    pub wall_ns: Nanos,
}

/// What happened to a draft.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Hash of (kernel, problem, target, evaluator version, compiler).
    pub key: ContentHash,
    /// How it ended.
    pub outcome: Outcome,
    /// Findings, deciding ones first.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
    /// The cost, present exactly when the outcome is `ok`.
    #[serde(default)]
    pub measurement: Option<Measurement>,
    /// Hardware feedback, if the kernel ran far enough.
    #[serde(default)]
    pub feedback: Option<Feedback>,
    /// What each tier cost on the host. Not part of the result: two evaluations
    /// with equal keys may differ here.
    #[serde(default)]
    pub tiers: Vec<TierCost>,
    /// Who made it, if that was a worker on another machine. Not part of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The device of that worker's machine that the cost was measured on (`MACHINE/NUMBER`), if
    /// it was measured. Not part of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl Feedback {
    /// The counter in which families tell how much of the problem's work a kernel has the
    /// target do, in percent. Without it, all of it.
    pub const TRANSLATED: &str = "translated_percent";
}

impl Evaluation {
    /// Returns how much of the problem's work the kernel has the target do, in percent.
    #[must_use]
    pub fn translated_percent(&self) -> f64 {
        let feedback = self.feedback.as_ref();
        let percent = feedback.and_then(|it| it.counters.get(Feedback::TRANSLATED));
        percent.map_or(100.0, |percent| percent.clamp(0.0, 100.0))
    }

    /// Returns the evaluation of a right kernel that costs more than `bound`: the same
    /// however far it was timed. Of `figures`, which are those of a
    /// [measurement](Measurement::figures), those are told that do not depend on it.
    #[must_use]
    pub fn cut(key: ContentHash, bound: Cost, figures: &BTreeMap<String, u64>) -> Self {
        Self {
            key,
            outcome: Outcome::Cut,
            diagnostics: vec![Diagnostic::error(
                Stage::Time,
                "cut",
                format!(
                    "it is right and costs more than {bound}, with which it cannot survive; it was not timed any further{}",
                    work_in_words(figures)
                ),
            )],
            measurement: None,
            feedback: None,
            tiers: Vec::new(),
            worker: None,
            device: None,
        }
    }

    /// Returns what the evaluation is within `bound`, if there is one: a right kernel that
    /// costs more, beyond the spread of both, is [cut](Self::cut).
    #[must_use]
    pub fn within(self, bound: Option<Cost>) -> Self {
        match (bound, self.cost()) {
            // A verdict that contradicts itself is not made sound by it.
            (Some(bound), Some(cost)) if self.outcome == Outcome::Ok && bound.beats(cost) => {
                let figures = self.measurement.map(|it| it.figures).unwrap_or_default();
                Self {
                    tiers: self.tiers,
                    worker: self.worker,
                    device: self.device,
                    ..Self::cut(self.key, bound, &figures)
                }
            }
            _ => self,
        }
    }

    /// Returns the ranking figure of a correct kernel.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        self.measurement
            .as_ref()
            .map(|measurement| measurement.cost)
    }
}
