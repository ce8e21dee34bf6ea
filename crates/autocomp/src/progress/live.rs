//! The live view: a few lines that say where the run is.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::line::{Line, bar};
use super::task_of;
use crate::output::{BAD, BOLD, GOOD, NAME, QUIET};
use crate::sparkline::sparkline;
use autocomp_core::{Cost, Event, Outcome, Plan, PlanRecord, Planned, Proposal, TaskKey};
use autocomp_eval::text::{clock, dollars, grouped};
use autocomp_llm::{Caps, MemberHealth};
use autocomp_reports::change::times;
use autocomp_runner::{Limits, Notice};
use autocomp_store::Blobs;
use std::collections::BTreeMap;
use std::time::Duration;

/// Columns of the curve of the best.
const CURVE: usize = 20;
/// Share of a model's calls that fail from which on it stands out.
const MANY_FAILED: f64 = 0.5;
/// Models listed at most.
const MOST_MODELS: usize = 4;

/// What the view remembers of the events.
pub struct LiveView {
    texts: Blobs,
    limits: Limits,
    /// What models may use.
    caps: Caps,
    /// Costs of the best kernel, each lower than the one before.
    best: Vec<u64>,
    /// The cost at each place of the beam.
    beam: Vec<Cost>,
    costs: BTreeMap<u32, Cost>,
    plans: BTreeMap<TaskKey, PlanRecord>,
    improvement: Option<Improvement>,
}

struct Improvement {
    at: Duration,
    key: TaskKey,
    gain: f64,
    menu_item: String,
    plan: String,
}

impl LiveView {
    pub fn new(texts: Blobs, limits: Limits, caps: Caps) -> Self {
        Self {
            texts,
            limits,
            caps,
            best: Vec::new(),
            beam: Vec::new(),
            costs: BTreeMap::new(),
            plans: BTreeMap::new(),
            improvement: None,
        }
    }

    /// Takes a change in.
    pub fn note(&mut self, notice: &Notice<'_>) {
        match notice.event.map(|stored| &stored.event) {
            Some(Event::IterationOpened(_)) => self.plans.clear(),
            Some(Event::Planned(Planned {
                key,
                result: Proposal::Made(plan),
                ..
            })) => {
                self.plans.insert(*key, plan.clone());
            }
            Some(Event::IterationClosed(closed)) => {
                let new = closed.candidates.iter().map(|it| (it.id.0, it.cost));
                self.costs.extend(new);
                let cost = |id: &autocomp_core::CandidateId| self.costs.get(&id.0).copied();
                self.beam = closed.beam.iter().filter_map(cost).collect();
            }
            _ => {}
        }
        let Some(best) = &notice.progress.best else {
            return;
        };
        let before = self.best.last().copied();
        if before == Some(best.cost.value) {
            return;
        }
        self.best.push(best.cost.value);
        if let (Some(before), Some(plan)) = (before, self.plans.get(&best.key.to_plan())) {
            let json = self.texts.get_text(plan.plan).unwrap_or_default();
            let text = serde_json::from_str::<Plan>(&json).map(|it| it.text);
            self.improvement = Some(Improvement {
                at: notice.elapsed,
                key: best.key,
                gain: before as f64 / best.cost.value.max(1) as f64,
                menu_item: plan.menu_item.clone(),
                plan: text
                    .unwrap_or_default()
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            });
        }
    }

    /// Returns the view, no line of which is longer than `width`, with colours if it may
    /// have any.
    pub fn lines(
        &self,
        notice: &Notice<'_>,
        health: &[MemberHealth],
        width: usize,
        coloured: bool,
    ) -> Vec<String> {
        let progress = notice.progress;
        let mut lines = vec![
            Line::new()
                .styled(
                    BOLD,
                    format!("iteration {}/{}", progress.iteration, progress.iterations),
                )
                .styled(
                    QUIET,
                    format!(
                        "  running: {} proposals, {} evaluations",
                        notice.running.proposals, notice.running.evaluations,
                    ),
                ),
        ];
        lines.push(match &progress.best {
            Some(best) => Line::titled("best")
                .styled(
                    GOOD,
                    format!("{} {}", grouped(best.cost.value), best.cost.unit),
                )
                .plain(format!(
                    "  {}x  {:.1} % of peak  ",
                    times(progress.speedup().unwrap_or(1.0)),
                    best.percent_of_peak,
                ))
                .styled(GOOD, sparkline(&self.best, CURVE)),
            None => Line::titled("best").plain("measuring the kernel to start from"),
        });
        if !self.beam.is_empty() {
            let costs: Vec<String> = self.beam.iter().map(|cost| grouped(cost.value)).collect();
            lines.push(Line::titled("beam").plain(costs.join("  ")));
        }
        lines.push(outcomes(notice));
        if let Some(most) = self.limits.max_wall {
            let share = notice.elapsed.as_secs_f64() / most.as_secs_f64().max(1e-9);
            let figures = format!("{}/{}", clock(notice.elapsed), clock(most));
            lines.push(bar("time", share, figures));
        }
        self.add_models(notice, health, &mut lines);
        if let Some(it) = &self.improvement {
            let ago = notice.elapsed.saturating_sub(it.at);
            let task = task_of(&it.key);
            lines.push(
                Line::titled("last gain")
                    .styled(GOOD, format!("{}x", times(it.gain)))
                    .plain(format!(" {} ago, {task}, ", clock(ago)))
                    .styled(NAME, it.menu_item.clone()),
            );
            lines.push(Line::titled("").plain(it.plan.clone()));
        }
        lines
            .iter()
            .map(|line| line.text(width, coloured))
            .collect()
    }

    fn add_models(&self, notice: &Notice<'_>, health: &[MemberHealth], lines: &mut Vec<Line>) {
        let usage = &notice.progress.usage;
        if usage.requests == 0 && health.is_empty() {
            return;
        }
        let caps = self.caps;
        let spent = dollars(usage.cost.0);
        let bars = [
            caps.cost.map(|most| {
                let share = usage.cost.0 as f64 / most.0.max(1) as f64;
                bar("spent", share, format!("{spent}/{}", dollars(most.0)))
            }),
            caps.tokens
                .map(|most| counted("tokens", usage.tokens(), most)),
            caps.requests
                .map(|most| counted("requests", usage.requests, most)),
        ];
        // What has a bound has a bar; the rest is told in a line.
        let mut rest = Vec::new();
        if caps.cost.is_none() {
            rest.push(spent);
        }
        if caps.tokens.is_none() {
            rest.push(format!("{} tokens", grouped(usage.tokens())));
        }
        if caps.requests.is_none() {
            rest.push(format!("{} requests", grouped(usage.requests)));
        }
        lines.extend(bars.into_iter().flatten());
        if !rest.is_empty() {
            lines.push(Line::titled("used").plain(rest.join(", ")));
        }
        for model in health.iter().take(MOST_MODELS) {
            let asked = model.answered + model.failed;
            let share = model.answered as f64 / asked.max(1) as f64;
            let answered = format!("{:.0} % answered", 100.0 * share);
            let line = Line::new()
                .plain("  ")
                .styled(NAME, model.model.to_string())
                .plain(format!(": {} calls, ", grouped(asked)));
            let line = match 0 < asked && share <= 1.0 - MANY_FAILED {
                true => line.styled(BAD, answered),
                false => line.plain(answered),
            };
            lines.push(line.plain(format!(", {}", dollars(model.cost.0))));
        }
    }
}

/// Returns what came of the kernels so far.
fn outcomes(notice: &Notice<'_>) -> Line {
    let progress = notice.progress;
    let count = progress.evaluations;
    let mut line = match progress.max_evaluations {
        Some(most) => bar(
            "evaluated",
            f64::from(count) / f64::from(most.max(1)),
            format!("{count}/{most}"),
        ),
        None => Line::titled("evaluated").plain(count.to_string()),
    };
    line = line.plain("  ");
    let found = progress.outcomes.iter().filter(|it| 0 < *it.1);
    for (place, (outcome, count)) in found.enumerate() {
        if 0 < place {
            line = line.plain(", ");
        }
        let text = format!("{count} {outcome}");
        // Kernels that are refused are what a search is made of; faults are ours.
        line = match outcome {
            Outcome::Ok => line.styled(GOOD, text),
            Outcome::Fault => line.styled(BAD, text),
            _ => line.plain(text),
        };
    }
    line
}

/// Returns a line of how much of a bound is used.
fn counted(title: &str, used: u64, most: u64) -> Line {
    let share = used as f64 / most.max(1) as f64;
    bar(title, share, format!("{}/{}", grouped(used), grouped(most)))
}
