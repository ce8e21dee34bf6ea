//! The live view: a few lines that say where the run is.

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

#[cfg(test)]
mod tests {
    use super::LiveView;
    use autocomp_core::{Usage, UsdMicros};
    use autocomp_llm::Caps;
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
        let mut live = LiveView::new(view.blobs().clone(), limits, Caps::default());
        let mut events = Vec::new();
        let (mut lines, mut coloured) = (Vec::new(), Vec::new());
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
            lines = live.lines(&notice, &[], 76, false);
            assert!(lines.iter().all(|line| line.chars().count() <= 76));
            coloured = live.lines(&notice, &[], 76, true);
        }
        let bare = |text: &str| {
            let parts = text.split('\x1b').enumerate();
            let seen = parts.map(|(place, it)| match place {
                0 => it,
                _ => it.split_once('m').unwrap().1,
            });
            seen.collect::<String>()
        };
        let seen: Vec<String> = coloured.iter().map(|it| bare(it)).collect();
        assert_eq!(seen, lines, "colours change no text");
        insta::assert_snapshot!(lines.join("\n"));
        insta::assert_snapshot!("in_colour", coloured.join("\n").replace('\x1b', "␛"));
    }

    /// Money, tokens and requests that are bounded have a bar each, the others are told.
    #[test]
    fn what_models_may_use_has_bars() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recorded-run");
        let view = RunView::open(Path::new(folder)).unwrap();
        let mut progress = view.search.progress();
        progress.usage = Usage {
            requests: 30,
            input_tokens: 40_000,
            output_tokens: 10_000,
            cost: UsdMicros(1_500_000),
            ..Usage::default()
        };
        let notice = Notice {
            event: None,
            progress: &progress,
            running: Running {
                proposals: 1,
                evaluations: 0,
            },
            elapsed: Duration::from_secs(9),
        };
        let lines = |caps| {
            let live = LiveView::new(view.blobs().clone(), Limits::default(), caps);
            live.lines(&notice, &[], 76, false)
        };
        let is_bar = |line: &String, title: &str, full: usize, end: &str| {
            let bar = "█".repeat(full) + &"░".repeat(20 - full);
            *line == format!("{title:<12}{bar} {end}")
        };
        let all = lines(Caps {
            cost: Some(UsdMicros(2_000_000)),
            tokens: Some(200_000),
            requests: Some(40),
        });
        let some = lines(Caps {
            requests: Some(30),
            ..Caps::default()
        });
        let lines = &all[all.len() - 3..];
        assert!(is_bar(&lines[0], "spent", 15, "$1.50/$2.00"), "{lines:?}");
        assert!(
            is_bar(&lines[1], "tokens", 5, "50,000/200,000"),
            "{lines:?}"
        );
        assert!(is_bar(&lines[2], "requests", 15, "30/40"), "{lines:?}");
        let lines = &some[some.len() - 2..];
        assert!(is_bar(&lines[0], "requests", 20, "30/30"), "{lines:?}");
        assert_eq!(lines[1], "used        $1.50, 50,000 tokens");
    }
}
