//! A run as text: how far it is, what came of it, the way to its best kernel.

use super::ShowReport;
use crate::commands::runs::state_text;
use crate::model_usage::model_lines;
use crate::output::BOLD;
use autocomp_eval::text;
use autocomp_reports::RunData;
use autocomp_reports::change::{FigureChange, figure_changes, times};
use autocomp_reports::confirmed_text;
use autocomp_runner::{Contribution, RunReport, RunState};
use std::time::Duration;

/// Where what a step changed begins, behind the name of its kernel.
const STEP_INDENT: &str = "       ";

/// Returns a run as people read it, with paragraphs of `width` columns.
pub(super) fn report_text(report: &ShowReport, width: usize) -> String {
    let ShowReport {
        run: report,
        models,
        contributions,
    } = report;
    let progress = &report.progress;
    let mut out = format!(
        "{} on {}: {}\n",
        report.problem,
        report.target,
        state_text(&report.status)
    );
    out += &format!(
        "seed {}, {}, compiled by {}\n",
        report.seed,
        report.proposers.join(", "),
        report.compiler
    );
    out += &format!(
        "iteration {}/{}, {} evaluations in {}\n",
        progress.iteration,
        progress.iterations,
        progress.evaluations,
        text::clock(Duration::from_millis(report.elapsed_ms)),
    );
    let outcomes: Vec<String> = progress
        .outcomes
        .iter()
        .filter(|(_, count)| 0 < **count)
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    out += &format!("outcomes: {}\n", outcomes.join(", "));
    if 0 < progress.repeated {
        let n_repeated = text::grouped(progress.repeated.into());
        out += &format!(
            "repeated: {n_repeated} drafts were programs that had been evaluated before\n"
        );
    }
    if 0 < progress.equal {
        let n_equal = text::grouped(progress.equal.into());
        out += &format!("no change: {n_equal} drafts equal to a known kernel but for their text\n");
    }
    if 0 < progress.usage.requests {
        out += &format!(
            "models: {} requests, {} failed, {} tokens in, {} cached, {} out, {}\n",
            text::grouped(progress.usage.requests),
            text::grouped(progress.failed_calls),
            text::grouped(progress.usage.input_tokens),
            text::grouped(progress.usage.cached_tokens),
            text::grouped(progress.usage.output_tokens),
            text::dollars(progress.usage.cost.0),
        );
        out += &model_lines(models);
    }
    if 0 < progress.unsettled.requests {
        let fate = match report.status {
            RunState::Running { .. } => "are under way",
            _ => "were cut off (resuming counts them in full)",
        };
        out += &format!(
            "{} calls {fate}, up to {}\n",
            text::grouped(progress.unsettled.requests),
            text::dollars(progress.unsettled.cost.0),
        );
    }
    for (why, what) in [
        (&report.nothing_faster, "nothing faster was found:\n"),
        (&report.little_faster, "little was gained:\n"),
    ] {
        let Some(why) = why else { continue };
        out += what;
        for reason in &why.reasons {
            out += &format!("  - {reason}\n");
        }
        out += &format!(
            "what next: {}\n",
            why.next
                .join("; ")
                .replace("RUN", &report.run.display().to_string())
        );
    }
    out.push('\n');
    out += &lineage_text(report, width);
    for it in &report.confirmations {
        let verdict = confirmed_text(it);
        out += &format!(
            "{:>5}  confirmed on {}: {verdict}\n",
            it.id.to_string(),
            it.by
        );
    }
    let contributions = contributions_text(contributions);
    if !contributions.is_empty() {
        out += &format!("\n{contributions}");
    }
    out
}

/// Returns who contributed what, if it was more than one; else nothing.
pub fn contributions_text(contributions: &[Contribution]) -> String {
    if contributions.len() < 2 {
        return String::new();
    }
    let head = ["", "drafts", "right", "faster", "in the best"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for it in contributions {
        let credit = match it.steps_to_best {
            0 => "-".to_owned(),
            steps => format!("{}x in {steps}", times(it.factor)),
        };
        rows.push(vec![
            format!("{} ({})", it.proposer, it.kind),
            it.drafts.to_string(),
            it.right.to_string(),
            it.faster.to_string(),
            credit,
        ]);
    }
    format!("who contributed:\n{}", text::table(&rows, &[1, 2, 3]))
}

/// Returns the chain of plans from the baseline to the best kernel, with paragraphs of `width`
/// columns.
pub fn lineage_text(report: &RunReport, width: usize) -> String {
    let mut out = String::new();
    let mut before: Option<autocomp_core::Cost> = None;
    for entry in &report.lineage {
        let id = entry.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let cost = text::grouped(entry.cost.value);
        let step = before.map_or_else(String::new, |before| {
            format!(
                "  {}x  {}",
                times(entry.cost.times(before)),
                entry.menu_item.as_deref().unwrap_or("")
            )
        });
        out += &format!(
            "{id:>5}  {cost:>12} {}{step}{}\n",
            entry.cost.unit,
            if before.is_none() { "  baseline" } else { "" }
        );
        if let Some(plan) = &entry.plan {
            out += &text::wrapped(plan, width, "         ");
        }
        before = Some(entry.cost);
    }
    out
}

/// Returns what each step to the best kernel changed in the profile, how other kernels of
/// the problem compare, and where to look closer.
pub(super) fn story_text(run: &RunData, width: usize, coloured: bool) -> String {
    let mut out = String::new();
    let mut steps = String::new();
    for pair in run.chain.windows(2) {
        let (before, after) = (&run.kernels[pair[0]], &run.kernels[pair[1]]);
        let changes = figure_changes(&before.evaluation, &after.evaluation, 4);
        if !changes.is_empty() {
            let texts: Vec<String> = changes.iter().map(FigureChange::text).collect();
            let texts = text::wrapped(&texts.join(", "), width, STEP_INDENT);
            let name = format!("  {:<5}", after.name);
            steps += &format!("{name}{}", &texts[name.len().min(STEP_INDENT.len())..]);
        }
    }
    if !steps.is_empty() {
        let title = BOLD.paint("what each step changed in the profile:", coloured);
        out += &format!("\n{title}\n{steps}");
    }
    if let (false, Some(best)) = (run.references.is_empty(), run.best().and_then(|it| it.cost)) {
        let rows: Vec<Vec<String>> = run
            .references
            .iter()
            .map(|it| {
                let ratio = best.times(it.cost);
                vec![
                    format!("  {}", it.kernel),
                    text::grouped(it.cost.value),
                    format!("{}, {}x the best", it.cost.unit, times(ratio)),
                ]
            })
            .collect();
        let title = BOLD.paint("other kernels of the problem:", coloured);
        out += &format!("\n{title}\n{}", text::table(&rows, &[1]));
    }
    if let Some(best) = run.best() {
        let (folder, name) = (run.report.run.display(), &best.name);
        out += &format!(
            "\nlook closer  autocomp show {folder} {name}\n             autocomp show {folder} --all\n             autocomp diff {folder} baseline {name}\n             autocomp report {folder}\n",
        );
    }
    out
}
