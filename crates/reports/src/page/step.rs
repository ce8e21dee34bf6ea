//! A step on the way to the best kernel.

use super::cost_text;
use crate::change::{CONTEXT, Line, figure_changes, times};
use crate::kernels::Kernel;
use crate::run::RunData;
use autocomp_eval::text::grouped;
use serde::Serialize;

/// Lines of a profile listed for a step.
const MOST_LINES: usize = 8;

#[derive(Debug, Serialize)]
pub(crate) struct Step {
    pub name: String,
    pub cost: String,
    pub gain: Option<String>,
    pub peak: String,
    pub menu_item: String,
    pub made_by: String,
    pub plan: String,
    pub changes: Vec<String>,
    pub diff: Vec<DiffLine>,
    pub diff_text: String,
    pub fence: String,
    pub bottleneck: String,
    pub lines: Vec<Vec<String>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DiffLine {
    pub kind: &'static str,
    pub old: String,
    pub new: String,
    pub text: String,
}

pub(super) fn step(run: &RunData, place: usize) -> Step {
    let kernel = &run.kernels[place];
    let parent = run.parent(kernel);
    let source = run.texts.source(kernel).unwrap_or_default();
    let before = parent.and_then(|parent| run.texts.source(parent).ok());
    let diff = before.map_or_else(Vec::new, |before| {
        run.difference(&before, &source, Some(CONTEXT))
    });
    let changes = parent.map_or_else(Vec::new, |parent| {
        figure_changes(&parent.evaluation, &kernel.evaluation, 6)
    });
    let diff_text = unified(&diff);
    let feedback = kernel.evaluation.feedback.as_ref();
    Step {
        name: kernel.name.clone(),
        cost: kernel.cost.map_or_else(String::new, cost_text),
        gain: kernel.gain.map(|gain| format!("{}×", times(gain))),
        peak: kernel
            .percent_of_peak
            .map_or_else(String::new, |it| format!("{it:.1} % of peak")),
        menu_item: kernel
            .menu_item
            .clone()
            .unwrap_or_else(|| "baseline".to_owned()),
        made_by: kernel.made_by(),
        plan: run.texts.plan(kernel).unwrap_or_default(),
        changes: changes
            .iter()
            .map(crate::change::FigureChange::text)
            .collect(),
        diff: diff.iter().map(diff_line).collect(),
        fence: fence(&diff_text),
        diff_text,
        bottleneck: feedback.map_or_else(String::new, |it| it.bottleneck.clone()),
        lines: profile_rows(kernel, &source),
    }
}

/// Returns the dearest lines of a kernel with their text.
fn profile_rows(kernel: &Kernel, source: &str) -> Vec<Vec<String>> {
    let (Some(feedback), Some(cost)) = (&kernel.evaluation.feedback, kernel.cost) else {
        return Vec::new();
    };
    let texts: Vec<&str> = source.lines().collect();
    let rows = feedback.lines.iter().take(MOST_LINES).map(|line| {
        let text = texts
            .get((line.location.line as usize).saturating_sub(1))
            .copied();
        vec![
            line.location.line.to_string(),
            grouped(line.cost.value),
            format!("{:.1} %", line.cost.percent_of(cost)),
            line.cause.replace('-', " "),
            text.unwrap_or_default().trim().to_owned(),
        ]
    });
    rows.collect()
}

fn diff_line(line: &Line) -> DiffLine {
    let number = |it: Option<usize>| it.map_or_else(String::new, |it| it.to_string());
    DiffLine {
        kind: match line.sign() {
            '+' => "added",
            '-' => "removed",
            '@' => "gap",
            _ => "same",
        },
        old: number(line.old),
        new: number(line.new),
        text: line.text.clone(),
    }
}

/// Returns a difference as text.
#[must_use]
pub fn unified(lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        out.push(line.sign());
        if line.sign() == '@' {
            out.push_str("@ ");
        }
        out.push_str(&line.text);
        out.push('\n');
    }
    out
}

/// Returns a fence for Markdown that the text cannot end.
pub(super) fn fence(text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest + 1)
}
