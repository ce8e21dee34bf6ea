//! What a report says, worked out once for all forms that it is written in.

use crate::change::{CONTEXT, Line, difference, figure_changes};
use crate::kernels::Kernel;
use crate::references::Reference;
use crate::run::RunData;
use crate::svg::{Curve, CurveFigure, curve_figure, tree_figure};
use crate::yields::Yield;
use autocomp_core::{Cost, Outcome, Severity};
use autocomp_eval::text::{clock, dollars, grouped};
use autocomp_runner::RunState;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Kernels listed in a page at most; the table formats have all of them.
const MOST_KERNELS: usize = 200;
/// Lines of a profile listed for a step.
const MOST_LINES: usize = 8;

/// A whole report.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    pub title: String,
    pub version: String,
    pub comparison: Option<Comparison>,
    pub runs: Vec<RunSection>,
}

/// Several runs side by side.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    pub figure: String,
    pub rows: Vec<Vec<String>>,
    pub groups: Vec<Vec<String>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RunSection {
    pub anchor: String,
    pub name: String,
    pub problem: String,
    pub target: String,
    pub status: String,
    pub summary: String,
    pub facts: Vec<(String, String, String)>,
    pub figures: Vec<(String, String)>,
    pub tree: String,
    pub references: Vec<Vec<String>>,
    pub steps: Vec<Step>,
    pub outcomes: Vec<OutcomeShare>,
    pub outcome_rows: Vec<(&'static str, u32)>,
    pub fence: String,
    pub findings: Vec<(String, String, u32)>,
    pub menu_items: Vec<Vec<String>>,
    pub proposers: Vec<Vec<String>>,
    pub has_money: bool,
    pub kernels: Vec<Vec<String>>,
    pub n_kernels: usize,
    pub settings: Option<String>,
    pub versions: Vec<(String, String)>,
    pub command: String,
    pub caveats: Vec<String>,
}

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

#[derive(Debug, Serialize)]
pub(crate) struct OutcomeShare {
    pub name: &'static str,
    pub count: u32,
    pub percent: f64,
    pub from: f64,
}

/// Returns a cost with its unit.
pub(crate) fn cost_text(cost: Cost) -> String {
    format!("{} {}", grouped(cost.value), cost.unit)
}

impl Page {
    pub(crate) fn of(runs: &[RunData]) -> Self {
        let title = match runs {
            [run] => format!("{} on {}", run.report.problem, run.report.target),
            runs => format!("{} runs compared", runs.len()),
        };
        Self {
            title,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            comparison: (1 < runs.len()).then(|| comparison(runs)),
            runs: runs
                .iter()
                .enumerate()
                .map(|(idx, run)| section(idx, run))
                .collect(),
        }
    }
}

/// Returns what a run is doing, in a sentence.
pub(crate) fn status_text(status: &RunState) -> String {
    match status {
        RunState::Finished { message, .. } => format!("finished: {message}"),
        RunState::Stopped { message, .. } => format!("stopped: {message}"),
        RunState::Running { .. } => "running".to_owned(),
        _ => "broken off".to_owned(),
    }
}

/// Returns the curve of a run over `place` of its improvements, up to `end`.
fn curve(
    run: &RunData,
    place: impl Fn(&crate::run::Improvement) -> f64,
    end: f64,
    value: impl Fn(Cost) -> f64,
) -> Curve {
    let points = run.improvements.iter().filter_map(|it| {
        let kernel = &run.kernels[it.kernel];
        let cost = it.cost?;
        let text = format!(
            "{}: {}, evaluation {}",
            kernel.name,
            cost_text(cost),
            it.evaluations
        );
        Some((place(it), value(cost), text))
    });
    Curve {
        name: run.name.clone(),
        points: points.collect(),
        end,
    }
}

fn plain(value: f64) -> String {
    grouped(value.round().max(0.0) as u64)
}

fn time_text(seconds: f64) -> String {
    clock(Duration::from_secs_f64(seconds.max(0.0)))
}

fn money_text(usd: f64) -> String {
    format!("${usd:.2}")
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

fn figures(run: &RunData) -> Vec<(String, String)> {
    let progress = &run.report.progress;
    let mut lines: Vec<(String, f64)> = run
        .references
        .iter()
        .map(|it| (it.kernel.clone(), it.cost.value as f64))
        .collect();
    lines.extend(
        run.floor
            .map(|floor| ("floor".to_owned(), floor.value as f64)),
    );
    let unit = run.floor.map_or("", |floor| floor.unit.name());
    let value = |cost: Cost| cost.value as f64;
    let usd = progress.usage.cost.0 as f64 / 1e6;
    let mut figures = Vec::new();
    let mut draw = |name: &str, x_label, curve: Curve, x_text| {
        let svg = curve_figure(&CurveFigure {
            title: &format!("best cost over {name}"),
            x_label,
            y_label: unit,
            curves: &[curve],
            lines: &lines,
            x_text,
        });
        if !svg.is_empty() {
            figures.push((name.to_owned(), svg));
        }
    };
    let end = f64::from(progress.evaluations);
    let by = curve(run, |it| f64::from(it.evaluations), end, value);
    draw("evaluations", "kernels evaluated", by, plain);
    let end = seconds(run.report.elapsed_ms);
    let by = curve(run, |it| seconds(it.elapsed_ms), end, value);
    draw("time", "time worked on the run", by, time_text);
    if 0.0 < usd {
        let by = curve(run, |it| it.usd_micros as f64 / 1e6, usd, value);
        draw("money", "spent on models", by, money_text);
    }
    figures
}

fn comparison(runs: &[RunData]) -> Comparison {
    let first = &runs[0];
    let is_same = |run: &RunData| {
        run.report.problem == first.report.problem
            && run.report.target == first.report.target
            && run.floor.map(|it| it.unit) == first.floor.map(|it| it.unit)
    };
    let all_same = runs.iter().all(is_same);
    let curves: Vec<Curve> = runs
        .iter()
        .map(|run| {
            let baseline = run.report.progress.baseline_cost;
            let value = |cost: Cost| match baseline {
                Some(baseline) if !all_same => 100.0 / cost.times(baseline),
                _ => cost.value as f64,
            };
            let end = f64::from(run.report.progress.evaluations);
            curve(run, |it| f64::from(it.evaluations), end, value)
        })
        .collect();
    let mut lines = Vec::new();
    if all_same {
        let longest = runs.iter().max_by_key(|run| run.references.len());
        let references = longest.map_or(&[][..], |run| &run.references);
        lines.extend(
            references
                .iter()
                .map(|it| (it.kernel.clone(), it.cost.value as f64)),
        );
        lines.extend(first.floor.map(|it| ("floor".to_owned(), it.value as f64)));
    }
    let figure = curve_figure(&CurveFigure {
        title: "best cost of each run over evaluations",
        x_label: "kernels evaluated",
        y_label: if all_same {
            first.floor.map_or("", |floor| floor.unit.name())
        } else {
            "percent of the baseline"
        },
        curves: &curves,
        lines: &lines,
        x_text: plain,
    });
    Comparison {
        figure,
        rows: runs.iter().map(comparison_row).collect(),
        groups: groups(runs),
    }
}

fn comparison_row(run: &RunData) -> Vec<String> {
    let progress = &run.report.progress;
    let none = || "–".to_owned();
    vec![
        run.name.clone(),
        run.report.problem.clone(),
        run.report.proposers.join(", "),
        run.report.seed.to_string(),
        progress.baseline_cost.map_or_else(none, cost_text),
        progress
            .best
            .as_ref()
            .map_or_else(none, |it| cost_text(it.cost)),
        run.report
            .speedup
            .map_or_else(none, |it| format!("{it:.2}×")),
        progress
            .best
            .as_ref()
            .map_or_else(none, |it| format!("{:.1} %", it.percent_of_peak)),
        grouped(u64::from(progress.evaluations)),
        clock(Duration::from_millis(run.report.elapsed_ms)),
        dollars(progress.usage.cost.0),
    ]
}

/// Runs that differ in nothing but their seed, as one row each.
fn groups(runs: &[RunData]) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<String, Vec<&RunData>> = BTreeMap::new();
    for run in runs {
        let settings = serde_json::to_string(&run.started.settings).unwrap_or_default();
        let key = format!(
            "{}\n{}\n{:?}\n{settings}",
            run.report.problem, run.report.target, run.report.proposers
        );
        groups.entry(key).or_default().push(run);
    }
    let groups = groups.into_values().filter(|group| 1 < group.len());
    groups
        .filter_map(|group| {
            let best = |run: &&RunData| run.report.progress.best.as_ref().map(|it| it.cost);
            let mut costs: Vec<Cost> = group.iter().filter_map(best).collect();
            costs.sort();
            let (first, last) = (costs.first()?, costs.last()?);
            Some(vec![
                group[0].report.problem.clone(),
                group[0].report.proposers.join(", "),
                group.len().to_string(),
                cost_text(*first),
                cost_text(costs[(costs.len() - 1) / 2]),
                cost_text(*last),
            ])
        })
        .collect()
}

fn section(idx: usize, run: &RunData) -> RunSection {
    let progress = &run.report.progress;
    RunSection {
        anchor: format!("run-{}", idx + 1),
        name: run.name.clone(),
        problem: run.report.problem.clone(),
        target: run.report.target.clone(),
        status: status_text(&run.report.status),
        summary: summary(run),
        facts: facts(run),
        figures: figures(run),
        tree: tree_figure(run),
        references: reference_rows(run),
        steps: run.chain.iter().map(|place| step(run, *place)).collect(),
        outcomes: outcome_shares(run),
        outcome_rows: run
            .outcomes()
            .iter()
            .map(|(it, count)| (it.name(), *count))
            .collect(),
        fence: fence(&run.command()),
        findings: findings(run),
        menu_items: yield_rows(&run.menu_items),
        proposers: yield_rows(&run.proposers),
        has_money: 0 < progress.usage.requests,
        kernels: kernel_rows(run),
        n_kernels: run.kernels.len(),
        settings: run.settings.clone(),
        versions: versions(run),
        command: run.command(),
        caveats: caveats(run),
    }
}

/// Returns the reference that costs least.
fn best_reference(run: &RunData) -> Option<&Reference> {
    run.references.iter().min_by_key(|it| it.cost)
}

/// Returns the outcome in a few sentences.
pub(crate) fn summary(run: &RunData) -> String {
    let progress = &run.report.progress;
    let (Some(baseline), Some(best)) = (progress.baseline_cost, &progress.best) else {
        return "No kernel was found to be right yet.".to_owned();
    };
    let mut out = format!(
        "From {} to {}: {:.2} times faster, {:.1} % of peak, after {} evaluations in {}.",
        cost_text(baseline),
        cost_text(best.cost),
        best.cost.times(baseline),
        best.percent_of_peak,
        grouped(u64::from(progress.evaluations)),
        clock(Duration::from_millis(run.report.elapsed_ms)),
    );
    if let Some(reference) = best_reference(run) {
        let factor = best.cost.times(reference.cost);
        let verdict = if best.cost.beats(reference.cost) {
            format!("the best kernel found is {factor:.2} times faster")
        } else if reference.cost.beats(best.cost) {
            format!(
                "the best kernel found is {:.1} % slower",
                100.0 * (1.0 / factor - 1.0)
            )
        } else {
            "the best kernel found is as fast".to_owned()
        };
        out += &format!(
            " The fastest other kernel of the problem, {}, takes {}: {verdict}.",
            reference.kernel,
            cost_text(reference.cost)
        );
    }
    out
}

fn facts(run: &RunData) -> Vec<(String, String, String)> {
    let progress = &run.report.progress;
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String, note: String| {
        facts.push((name.to_owned(), value, note));
    };
    if let (Some(baseline), Some(best)) = (progress.baseline_cost, &progress.best) {
        let unit = best.cost.unit.to_string();
        add("best", grouped(best.cost.value), unit);
        let from = format!("from {}", grouped(baseline.value));
        add(
            "speed-up",
            format!("{:.2}×", best.cost.times(baseline)),
            from,
        );
        let floor = run.floor.map_or_else(String::new, |floor| {
            format!("floor {}", grouped(floor.value))
        });
        add("of peak", format!("{:.1} %", best.percent_of_peak), floor);
    }
    let right = progress.outcomes.get(&Outcome::Ok).copied().unwrap_or(0);
    add(
        "evaluations",
        grouped(u64::from(progress.evaluations)),
        format!("{} right", grouped(u64::from(right))),
    );
    add(
        "time",
        clock(Duration::from_millis(run.report.elapsed_ms)),
        format!("{} iterations", progress.iteration),
    );
    if 0 < progress.usage.requests {
        add(
            "models",
            dollars(progress.usage.cost.0),
            format!("{} tokens", grouped(progress.usage.tokens())),
        );
    }
    facts
}

fn reference_rows(run: &RunData) -> Vec<Vec<String>> {
    let progress = &run.report.progress;
    let Some(best) = &progress.best else {
        return Vec::new();
    };
    let mut rows: Vec<(Cost, String)> = run
        .references
        .iter()
        .map(|it| (it.cost, it.kernel.clone()))
        .collect();
    rows.extend(
        progress
            .baseline_cost
            .map(|cost| (cost, "baseline".to_owned())),
    );
    rows.push((best.cost, "best found".to_owned()));
    rows.extend(run.floor.map(|cost| (cost, "floor".to_owned())));
    rows.sort_by_key(|row| std::cmp::Reverse(row.0));
    rows.into_iter()
        .map(|(cost, name)| {
            let times = format!("{:.2}×", best.cost.times(cost));
            vec![name, cost_text(cost), times]
        })
        .collect()
}

fn step(run: &RunData, place: usize) -> Step {
    let kernel = &run.kernels[place];
    let parent = run.parent(kernel);
    let source = run.texts.source(kernel).unwrap_or_default();
    let before = parent.and_then(|parent| run.texts.source(parent).ok());
    let diff = before.map_or_else(Vec::new, |before| {
        difference(&before, &source, Some(CONTEXT))
    });
    let changes = parent.map_or_else(Vec::new, |parent| {
        figure_changes(&parent.evaluation, &kernel.evaluation, 6)
    });
    let diff_text = unified(&diff);
    let feedback = kernel.evaluation.feedback.as_ref();
    Step {
        name: kernel.name.clone(),
        cost: kernel.cost.map_or_else(String::new, cost_text),
        gain: kernel.gain.map(|gain| format!("{gain:.2}×")),
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
fn fence(text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest + 1)
}

fn outcome_shares(run: &RunData) -> Vec<OutcomeShare> {
    let counts = run.outcomes();
    let total: u32 = counts.iter().map(|it| it.1).sum();
    let mut from = 0.0;
    let mut shares = Vec::new();
    for (outcome, count) in counts {
        let percent = 100.0 * f64::from(count) / f64::from(total.max(1));
        shares.push(OutcomeShare {
            name: outcome.name(),
            count,
            percent,
            from,
        });
        from += percent;
    }
    shares
}

/// Returns the kinds of errors that kernels had, with an example, most frequent first.
fn findings(run: &RunData) -> Vec<(String, String, u32)> {
    let mut findings: BTreeMap<&str, (String, u32)> = BTreeMap::new();
    for kernel in &run.kernels {
        let error = kernel
            .evaluation
            .diagnostics
            .iter()
            .find(|it| it.severity == Severity::Error);
        if let Some(error) = error.filter(|_| kernel.outcome != Outcome::Ok) {
            let example = || format!("{}: {}", kernel.name, error.message);
            let entry = findings
                .entry(&error.code)
                .or_insert_with(|| (example(), 0));
            entry.1 += 1;
        }
    }
    let mut findings: Vec<_> = findings
        .into_iter()
        .map(|(code, (example, count))| (code.to_owned(), example, count))
        .collect();
    findings.sort_by_key(|it| std::cmp::Reverse(it.2));
    findings
}

fn yield_rows(yields: &[Yield]) -> Vec<Vec<String>> {
    let rows = yields.iter().map(|it| {
        let percent = |count: u32| {
            let share = 100.0 * f64::from(count) / f64::from(it.kernels.max(1));
            format!("{count} ({share:.0} %)")
        };
        vec![
            it.name.clone(),
            it.kernels.to_string(),
            percent(it.right),
            percent(it.faster),
            it.best_gain
                .map_or_else(|| "–".to_owned(), |gain| format!("{gain:.2}×")),
            match it.in_chain {
                0 => "–".to_owned(),
                steps => format!("{:.2}× in {steps}", it.factor),
            },
            if it.usage.requests == 0 {
                "–".to_owned()
            } else {
                dollars(it.usage.cost.0)
            },
        ]
    });
    rows.collect()
}

fn kernel_rows(run: &RunData) -> Vec<Vec<String>> {
    let mut kernels: Vec<&Kernel> = run.kernels.iter().collect();
    kernels.sort_by_key(|kernel| (kernel.cost.is_none(), kernel.cost, kernel.evaluation_number));
    let rows = kernels.into_iter().take(MOST_KERNELS).map(|kernel| {
        vec![
            kernel.name.clone(),
            run.parent(kernel)
                .map_or_else(String::new, |it| it.name.clone()),
            kernel
                .cost
                .map_or_else(|| "–".to_owned(), |it| grouped(it.value)),
            kernel
                .gain
                .map_or_else(|| "–".to_owned(), |it| format!("{it:.2}×")),
            kernel.outcome.name().to_owned(),
            kernel
                .menu_item
                .clone()
                .unwrap_or_else(|| "baseline".to_owned()),
            kernel.made_by(),
        ]
    });
    rows.collect()
}

fn versions(run: &RunData) -> Vec<(String, String)> {
    let engine = run
        .best()
        .and_then(|kernel| kernel.evaluation.measurement.as_ref())
        .map_or_else(String::new, |it| it.engine.clone());
    vec![
        (
            "run made by autocomp".to_owned(),
            run.started.program.clone(),
        ),
        (
            "report by autocomp".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        ("compiler".to_owned(), run.started.compiler.clone()),
        ("measured by".to_owned(), engine),
        ("seed".to_owned(), run.started.seed.to_string()),
        ("proposers".to_owned(), run.started.proposers.join(", ")),
        ("history".to_owned(), run.report.history.to_string()),
    ]
}

/// Returns what a reader must know before believing the figures.
fn caveats(run: &RunData) -> Vec<String> {
    let progress = &run.report.progress;
    let mut caveats = Vec::new();
    let best = run.best().and_then(|it| it.evaluation.measurement.as_ref());
    if let Some(best) = best {
        if best.cost.spread_ppm == 0 {
            caveats.push(format!(
                "Costs come from “{}”: they are repeatable to the last digit, and as right as its \
                 model of the machine. Confirm the best kernel on hardware before you rely on it.",
                best.engine
            ));
        } else {
            caveats.push(format!(
                "Costs are measured by “{}”; that of the best kernel is uncertain by ±{:.2} %, and \
                 differences below that mean nothing.",
                best.engine,
                f64::from(best.cost.spread_ppm) / 1e4
            ));
        }
    }
    caveats.push(format!(
        "This is one run with one seed ({}); another seed may end better or worse.",
        run.started.seed
    ));
    if run.references.is_empty() {
        caveats.push(
            "The problem's other kernels were not measured with this run, so the speed-up is over \
             its baseline alone, which may be naive."
                .to_owned(),
        );
    }
    if progress.finish.is_none() {
        caveats.push("The run has not come to its end; more may be found.".to_owned());
    }
    if 0 < progress.lost.requests {
        caveats.push(format!(
            "{} calls of models were cut off; they are counted with the most that they may have \
             cost, up to {}.",
            progress.lost.requests,
            dollars(progress.lost.cost.0)
        ));
    }
    if run.kernels.iter().any(|it| it.outcome == Outcome::Fault) {
        caveats.push("Some kernels could not be judged, which is a fault of autocomp.".to_owned());
    }
    caveats
}
