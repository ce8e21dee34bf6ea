//! What is told of calls on a core that stands alone.

use autocomp_bare_metal::{CoreLine, Kernel, Platform, RankedCall, Recorded};
use autocomp_core::{Cost, Feedback, LineCost, SourceLocation};
use autocomp_eval::profile::Section;
use serde::Serialize;
use std::fmt::Write as _;

/// Lines named in feedback at most, dearest first.
const MAX_LINES: usize = 8;

/// Where the cycles of a call on a core that stands alone go.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CoreProfile {
    /// Cycles of the ranked call.
    pub cycles: u64,
    /// Cycles that no kernel can be below.
    pub ideal_cycles: u64,
    /// Instructions retired.
    pub instructions: u64,
    /// Cycles waited for data.
    pub data_miss_cycles: u64,
    /// Cycles waited for instructions.
    pub fetch_miss_cycles: u64,
    /// Branches and jumps that were mispredicted.
    pub mispredictions: u64,
    /// What the core spends its cycles on, most first; empty unless that was observed.
    pub lines: Vec<CoreLine>,
}

impl CoreProfile {
    /// Returns the profile of a recorded call.
    pub fn of<P: Platform>(
        call: &mut RankedCall<'_, '_, P>,
        recorded: &Recorded<P::Recording>,
    ) -> Self {
        let (evaluator, kernel) = (call.trial.evaluator, call.trial.kernel);
        let report = call.report;
        let (program, memory) = (call.session.program(), call.session.memory());
        let lines = recorded.tally.as_ref().map(|tally| {
            let line_of = |pc| Some(kernel.location(program, pc)?.line);
            tally.lines(memory, line_of, |line| {
                kernel.text(line).unwrap_or_default().to_owned()
            })
        });
        Self {
            cycles: report.cycles,
            ideal_cycles: evaluator.ideal_cycles(),
            instructions: report.instructions,
            data_miss_cycles: report.core.data_miss_cycles,
            fetch_miss_cycles: report.core.fetch_miss_cycles,
            mispredictions: report.core.mispredictions,
            lines: lines.unwrap_or_default(),
        }
    }

    /// Returns the profile as text.
    #[must_use]
    pub fn sections(&self) -> Vec<Section> {
        let mut text = self.sentence() + "\n";
        let mut lines = String::new();
        for line in &self.lines {
            let place = line.line.map_or("-".to_owned(), |line| line.to_string());
            let cut: String = line.text.chars().take(60).collect();
            // Writing to a text cannot fail.
            let _ = writeln!(
                lines,
                "{place:>6} {:>12} cycles {:>12} instructions  {cut}",
                line.issue_cycles + line.wait_cycles,
                line.instructions,
            );
        }
        let mut sections = vec![Section {
            title: None,
            text: std::mem::take(&mut text),
        }];
        if !lines.is_empty() {
            sections.push(Section {
                title: Some("lines".into()),
                text: lines,
            });
        }
        sections
    }

    /// Returns what is told of a call: counters and, where that was observed, its dearest
    /// lines.
    pub fn feedback<P: Platform>(call: &RankedCall<'_, '_, P>) -> Feedback {
        let (report, evaluator) = (call.report, call.trial.evaluator);
        let profile = Self {
            cycles: report.cycles,
            ideal_cycles: evaluator.ideal_cycles(),
            instructions: report.instructions,
            data_miss_cycles: report.core.data_miss_cycles,
            fetch_miss_cycles: report.core.fetch_miss_cycles,
            mispredictions: report.core.mispredictions,
            lines: Vec::new(),
        };
        let counters = [
            ("instructions", profile.instructions),
            ("data_miss_cycles", profile.data_miss_cycles),
            ("fetch_miss_cycles", profile.fetch_miss_cycles),
            ("mispredictions", profile.mispredictions),
        ];
        Feedback {
            bottleneck: profile.sentence(),
            counters: counters
                .map(|(name, count)| (name.to_owned(), count as f64))
                .into(),
            lines: Vec::new(),
        }
    }

    /// Adds the dearest lines to what is told.
    pub fn refine(&self, feedback: &mut Feedback, kernel: Kernel<'_>) {
        let charged = |line: &CoreLine| {
            Some(LineCost {
                location: SourceLocation {
                    file: kernel.file.to_owned(),
                    line: line.line?,
                    column: None,
                },
                cost: Cost::cycles(line.issue_cycles + line.wait_cycles),
                cause: "core".to_owned(),
            })
        };
        let lines = self.lines.iter().filter_map(charged);
        feedback.lines = lines.take(MAX_LINES).collect();
    }

    fn sentence(&self) -> String {
        format!(
            "{} cycles for {} instructions, at least {} are needed; {} waited for data, {} for instructions; {} branches mispredicted.",
            self.cycles,
            self.instructions,
            self.ideal_cycles,
            self.data_miss_cycles,
            self.fetch_miss_cycles,
            self.mispredictions,
        )
    }
}
