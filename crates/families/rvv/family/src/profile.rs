//! Where the cycles of a call go, by line and cause.

use crate::platform::RvvPlatform;
use crate::texts::{CauseText, TEXTS};
use crate::vector_work::VectorWork;
use autocomp_bare_metal::{Kernel, RankedCall};
use autocomp_core::{Cost, Feedback, LineCost, SourceLocation};
use autocomp_eval::profile::{Section, gains};
use autocomp_eval::text::grouped;
use autocomp_riscv::Cause;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

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
    /// What of it is done on vectors.
    pub vectors: VectorWork,
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
        let mut vectors = VectorWork::of_source(kernel.source);
        for (pc, spent) in call.session.hart().causes() {
            let line = kernel.location(program, pc).map(|it| it.line);
            let code = call.session.memory().host(pc, 4);
            if let Some(bits) = code.and_then(|it| it.first_chunk()) {
                vectors.add(u32::from_le_bytes(*bits), line, &spent);
            }
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
            vectors,
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
            let _ = writeln!(
                causes,
                "{:>12} cycles {percent:5.1} %  {cause}",
                grouped(*cycles)
            );
        }
        let mut lines = String::new();
        for line in self.lines.iter().filter(|line| line.cycles > 0) {
            let place = line.line.map_or("-".to_owned(), |line| line.to_string());
            let cut: String = line.text.chars().take(60).collect();
            let _ = writeln!(
                lines,
                "{place:>6} {:>12} cycles {:>12} instructions  {cut}\n       {}",
                grouped(line.cycles),
                grouped(line.instructions),
                in_words(&line.causes),
            );
        }
        let mut sections = vec![
            section(None, self.paragraph() + "\n"),
            section(Some("causes"), causes),
            section(Some("lines"), lines),
        ];
        let without = self.without.iter().map(|it| (it.cost, it.cycles));
        sections.extend(gains(self.cycles, "cycles", without));
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
                cause: TEXTS.sentences.filled(
                    "cost-of-line",
                    &[
                        ("instructions", &grouped(line.instructions)),
                        ("causes", &in_words(&line.causes)),
                    ],
                ),
            })
        };
        Feedback {
            bottleneck: self.paragraph(),
            counters,
            lines: self
                .lines
                .iter()
                .filter_map(charged)
                .take(MOST_LINES)
                .collect(),
        }
    }

    /// Returns where most cycles of a cause are, as the end of a clause.
    fn place(&self, cause: &str) -> String {
        let of = |line: &LineCycles| {
            let found = line.causes.iter().find(|it| it.cause == cause);
            found.map_or(0, |it| it.cycles)
        };
        let most = self.lines.iter().filter(|it| it.line.is_some());
        match most.max_by_key(|it| (of(it), std::cmp::Reverse(it.line))) {
            Some(line) if 0 < of(line) => {
                let number = line.line.unwrap_or_default();
                let values: [(&str, &dyn Display); 2] =
                    [("count", &grouped(of(line))), ("line", &number)];
                TEXTS.sentences.filled("most-in-line", &values)
            }
            _ => String::new(),
        }
    }

    /// Returns the paragraph about the call.
    fn paragraph(&self) -> String {
        let mut said = TEXTS.sentences.paragraph();
        let values: [(&str, &dyn Display); 4] = [
            ("cycles", &grouped(self.cycles)),
            ("instructions", &grouped(self.instructions)),
            ("vectors", &self.vectors.share()),
            ("ideal", &grouped(self.ideal_cycles)),
        ];
        said.say("cycles", &values);
        said.add(&self.vectors.spills());
        if let Some(first) = self.causes.first() {
            let percent = 100.0 * first.cycles as f64 / self.cycles.max(1) as f64;
            let is_near_best = 2 * self.cycles < 3 * self.ideal_cycles;
            let CauseText {
                meaning,
                remedy,
                remedy_near_best,
            } = TEXTS.causes.of(first.cause);
            let remedy = match remedy_near_best {
                Some(near) if is_near_best => near,
                _ => remedy,
            };
            let values: [(&str, &dyn Display); 5] = [
                ("count", &grouped(first.cycles)),
                ("percent", &format!("{percent:.0}")),
                ("meaning", meaning),
                ("place", &self.place(first.cause)),
                ("remedy", remedy),
            ];
            said.say("first-cause", &values);
        }
        if 1 < self.causes.len() {
            let others = in_words(&self.causes[1..]);
            said.say("other-causes", &[("causes", &others)]);
        }
        said.add(&self.vectors.waiting_stores(self.cycles));
        if let Some(best) = self.without.iter().min_by_key(|it| it.cycles) {
            let values: [(&str, &dyn Display); 2] =
                [("cycles", &grouped(best.cycles)), ("cost", &best.cost)];
            said.say("without", &values);
        }
        said.text()
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
        .map(|it| format!("{} {}", it.cause, grouped(it.cycles)))
        .collect();
    words.join(", ")
}
