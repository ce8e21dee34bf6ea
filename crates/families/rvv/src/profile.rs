//! Where the cycles of a call go, by line and cause.

use crate::platform::RvvPlatform;
use autocomp_bare_metal::{Kernel, RankedCall};
use autocomp_core::{Cost, Feedback, LineCost, SourceLocation};
use autocomp_eval::profile::Section;
use autocomp_riscv::Cause;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Lines named in feedback at most, dearest first.
const MOST_LINES: usize = 8;

/// Where the cycles of a call go.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VectorProfile {
    /// Cycles of the ranked call.
    pub cycles: u64,
    /// Cycles that no kernel can be below.
    pub ideal_cycles: u64,
    /// Instructions retired.
    pub instructions: u64,
    /// Cycles by cause, most first.
    pub causes: Vec<CauseCycles>,
    /// Cycles by line, most first.
    pub lines: Vec<LineCycles>,
    /// What the call would take without some costs, if that was tried.
    pub without: Vec<Without>,
}

/// Cycles of one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseCycles {
    /// Its name.
    pub cause: &'static str,
    /// Cycles.
    pub cycles: u64,
}

/// Cycles of one line of the kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineCycles {
    /// The line; none for code of the runtime.
    pub line: Option<u32>,
    /// Its text.
    pub text: String,
    /// Instructions executed.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// Cycles by cause, most first.
    pub causes: Vec<CauseCycles>,
}

/// What a call takes on a machine that lacks a cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Without {
    /// What is not there.
    pub cost: &'static str,
    /// Cycles of the call.
    pub cycles: u64,
}

impl VectorProfile {
    /// Returns the profile of a call that has just been made.
    pub(crate) fn of(call: &mut RankedCall<'_, '_, RvvPlatform>) -> Self {
        let (evaluator, kernel) = (call.trial.evaluator, call.trial.kernel);
        let report = *call.report;
        let program = call.session.program();
        let mut sums = BTreeMap::<Option<u32>, (u64, [f64; 10])>::new();
        let mut all = [0.0; 10];
        for (pc, spent) in call.session.hart().causes() {
            let line = kernel.location(program, pc).map(|it| it.line);
            let (count, cycles) = sums.entry(line).or_default();
            *count += spent.count;
            for (idx, more) in spent.cycles.into_iter().enumerate() {
                cycles[idx] += more;
                all[idx] += more;
            }
        }
        let mut lines: Vec<LineCycles> = sums
            .into_iter()
            .map(|(line, (instructions, cycles))| LineCycles {
                line,
                text: line
                    .and_then(|line| kernel.text(line))
                    .unwrap_or_default()
                    .to_owned(),
                instructions,
                cycles: cycles.iter().sum::<f64>().round() as u64,
                causes: by_cause(cycles),
            })
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.cycles));
        Self {
            cycles: report.cycles,
            ideal_cycles: evaluator.ideal_cycles(),
            instructions: report.instructions,
            causes: by_cause(all),
            lines,
            without: Vec::new(),
        }
    }

    /// Returns the profile as text.
    pub(crate) fn sections(&self) -> Vec<Section> {
        let mut causes = String::new();
        // Writing to a text cannot fail.
        for CauseCycles { cause, cycles } in &self.causes {
            let percent = 100.0 * *cycles as f64 / self.cycles.max(1) as f64;
            let _ = writeln!(causes, "{cycles:>12} cycles {percent:5.1} %  {cause}");
        }
        let mut lines = String::new();
        for line in self.lines.iter().filter(|line| line.cycles > 0) {
            let place = line.line.map_or("-".to_owned(), |line| line.to_string());
            let cut: String = line.text.chars().take(60).collect();
            let _ = writeln!(
                lines,
                "{place:>6} {:>12} cycles {:>12} instructions  {cut}\n       {}",
                line.cycles,
                line.instructions,
                in_words(&line.causes),
            );
        }
        let mut sections = vec![
            section(None, self.sentence() + "\n"),
            section(Some("causes"), causes),
            section(Some("lines"), lines),
        ];
        if !self.without.is_empty() {
            let mut text = String::new();
            for Without { cost, cycles } in &self.without {
                let gain = self.cycles as f64 / (*cycles).max(1) as f64;
                let _ = writeln!(text, "{cycles:>12} cycles ({gain:.2}x)  {cost}");
            }
            sections.push(section(Some("what would be gained"), text));
        }
        sections
    }

    /// Returns what is told of a call.
    pub(crate) fn feedback(&self, kernel: Kernel<'_>) -> Feedback {
        let mut counters = BTreeMap::from([("instructions".to_owned(), self.instructions as f64)]);
        for CauseCycles { cause, cycles } in &self.causes {
            counters.insert(format!("{} cycles", cause), *cycles as f64);
        }
        let charged = |line: &LineCycles| {
            Some(LineCost {
                location: SourceLocation {
                    file: kernel.file.to_owned(),
                    line: line.line?,
                    column: None,
                },
                cost: Cost::cycles(line.cycles),
                cause: in_words(&line.causes),
            })
        };
        Feedback {
            bottleneck: self.sentence(),
            counters,
            lines: self
                .lines
                .iter()
                .filter_map(charged)
                .take(MOST_LINES)
                .collect(),
        }
    }

    fn sentence(&self) -> String {
        let mut text = format!(
            "{} cycles for {} instructions, at least {} are needed. Most of them: {}.",
            self.cycles,
            self.instructions,
            self.ideal_cycles,
            in_words(&self.causes),
        );
        if let Some(best) = self.without.iter().min_by_key(|it| it.cycles) {
            let _ = write!(text, " It would take {} {}.", best.cycles, best.cost);
        }
        text
    }
}

fn section(title: Option<&str>, text: String) -> Section {
    Section {
        title: title.map(Into::into),
        text,
    }
}

/// Returns the causes that cost something, most first.
fn by_cause(cycles: [f64; 10]) -> Vec<CauseCycles> {
    let named = Cause::ALL.into_iter().zip(cycles);
    let mut all: Vec<CauseCycles> = named
        .map(|(cause, cycles)| CauseCycles {
            cause: cause.name(),
            cycles: cycles.round() as u64,
        })
        .filter(|it| it.cycles > 0)
        .collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.cycles));
    all
}

/// Returns the three largest causes in words.
fn in_words(causes: &[CauseCycles]) -> String {
    let words = causes.iter().take(3);
    let words: Vec<String> = words
        .map(|it| format!("{} {}", it.cause, it.cycles))
        .collect();
    words.join(", ")
}
