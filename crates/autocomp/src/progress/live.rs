//! The live view: a few lines that say where the run is.

use crate::output::harmless_text;
use crate::sparkline::sparkline;
use autocomp_core::{Cost, Event, Plan, PlanRecord, Planned, Proposal, TaskKey};
use autocomp_eval::text::{clock, dollars, grouped};
use autocomp_llm::MemberHealth;
use autocomp_runner::{Limits, Notice};
use autocomp_store::Blobs;
use std::collections::BTreeMap;
use std::time::Duration;

/// Columns of a bar.
const BAR: usize = 20;
/// Models listed at most.
const MOST_MODELS: usize = 4;

/// What the view remembers of the events.
pub struct LiveView {
    texts: Blobs,
    limits: Limits,
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
    pub fn new(texts: Blobs, limits: Limits) -> Self {
        Self {
            texts,
            limits,
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

    /// Returns the view, no line of which is longer than `width`.
    pub fn lines(&self, notice: &Notice<'_>, health: &[MemberHealth], width: usize) -> Vec<String> {
        let progress = notice.progress;
        let mut lines = vec![format!(
            "iteration {}/{}  running: {} proposals, {} evaluations",
            progress.iteration,
            progress.iterations,
            notice.running.proposals,
            notice.running.evaluations,
        )];
        match &progress.best {
            Some(best) => lines.push(format!(
                "best        {} {}  {:.2}x  {:.1} % of peak  {}",
                grouped(best.cost.value),
                best.cost.unit,
                progress.speedup().unwrap_or(1.0),
                best.percent_of_peak,
                sparkline(&self.best, BAR),
            )),
            None => lines.push("best        measuring the kernel to start from".to_owned()),
        }
        if !self.beam.is_empty() {
            let costs: Vec<String> = self.beam.iter().map(|cost| grouped(cost.value)).collect();
            lines.push(format!("beam        {}", costs.join("  ")));
        }
        let outcomes: Vec<String> = progress
            .outcomes
            .iter()
            .filter(|(_, count)| 0 < **count)
            .map(|(outcome, count)| format!("{count} {outcome}"))
            .collect();
        let outcomes = outcomes.join(", ");
        lines.push(match progress.max_evaluations {
            Some(most) => format!(
                "evaluated   {} {}/{most}  {outcomes}",
                bar(f64::from(progress.evaluations) / f64::from(most.max(1))),
                progress.evaluations,
            ),
            None => format!("evaluated   {}  {outcomes}", progress.evaluations),
        });
        if let Some(most) = self.limits.max_wall {
            lines.push(format!(
                "time        {} {}/{}",
                bar(notice.elapsed.as_secs_f64() / most.as_secs_f64().max(1e-9)),
                clock(notice.elapsed),
                clock(most),
            ));
        }
        self.add_models(notice, health, &mut lines);
        if let Some(it) = &self.improvement {
            let ago = notice.elapsed.saturating_sub(it.at);
            let task = it.key.to_string();
            lines.push(format!(
                "last gain   {:.3}x {} ago, {}, {}",
                it.gain,
                clock(ago),
                task.strip_suffix(".eval").unwrap_or(&task),
                it.menu_item,
            ));
            lines.push(format!("            {}", it.plan));
        }
        lines
            .iter()
            .map(|line| cut(&harmless_text(line), width))
            .collect()
    }

    fn add_models(&self, notice: &Notice<'_>, health: &[MemberHealth], lines: &mut Vec<String>) {
        let usage = &notice.progress.usage;
        if usage.requests == 0 && health.is_empty() {
            return;
        }
        let spent = dollars(usage.cost.0);
        lines.push(match self.limits.max_cost {
            Some(most) => format!(
                "spent       {} {spent} of {}, {} tokens",
                bar(usage.cost.0 as f64 / most.0.max(1) as f64),
                dollars(most.0),
                grouped(usage.tokens()),
            ),
            None => format!("spent       {spent}, {} tokens", grouped(usage.tokens())),
        });
        for model in health.iter().take(MOST_MODELS) {
            let asked = model.answered + model.failed;
            let percent = 100.0 * model.answered as f64 / asked.max(1) as f64;
            lines.push(format!(
                "  {}: {} calls, {percent:.0} % answered, {}",
                model.model,
                grouped(asked),
                dollars(model.cost.0),
            ));
        }
    }
}

/// Returns a bar that is full to a share.
fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    "█".repeat(full) + &"░".repeat(BAR - full)
}

fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let kept = line.chars().take(width.saturating_sub(1));
    kept.chain(std::iter::once('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::LiveView;
    use autocomp_runner::{Limits, Notice, RunView, Running};
    use std::path::Path;
    use std::time::Duration;

    /// What the view says at the end of a recorded run; every line fits.
    #[test]
    fn a_recorded_run_as_it_was_seen() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recorded-run");
        let view = RunView::open(Path::new(folder)).unwrap();
        let limits = Limits {
            max_wall: Some(Duration::from_secs(60)),
            ..Limits::default()
        };
        let mut live = LiveView::new(view.blobs().clone(), limits);
        let mut events = Vec::new();
        let mut lines = Vec::new();
        for stored in &view.events {
            events.push(stored.event.clone());
            let search = autocomp_search::Search::fold(&events).unwrap();
            let progress = search.progress();
            let notice = Notice {
                event: Some(stored),
                progress: &progress,
                running: Running {
                    proposals: 1,
                    evaluations: 2,
                },
                elapsed: Duration::from_millis(stored.elapsed_ms),
            };
            live.note(&notice);
            lines = live.lines(&notice, &[], 76);
            assert!(lines.iter().all(|line| line.chars().count() <= 76));
        }
        insta::assert_snapshot!(lines.join("\n"));
    }
}
