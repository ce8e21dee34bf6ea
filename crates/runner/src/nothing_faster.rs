//! Why a run that is over found nothing faster, or nothing that counts as a gain, and what can be
//! done next.

use autocomp_core::{
    CandidateId, Drafted, Evaluation, Event, FinishReason, Outcome, Planned, Proposal, StopReason,
    TaskKey,
};
use autocomp_search::{Progress, Search};
use autocomp_store::Stored;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A run that ended with the kernel that it began with, or with one that is hardly faster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NothingFaster {
    /// Why, one sentence each, the most important first.
    pub reasons: Vec<String>,
    /// What to try next, one sentence each.
    pub next: Vec<String>,
}

/// Longest part of a message of others.
const LONGEST_MESSAGE: usize = 300;

/// How much faster than the kernel that it began with the best kernel of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gain {
    /// It is that kernel.
    Nothing,
    /// By less than what costs may be off, or than what counts as a gain
    /// ([`least_gain`](autocomp_core::SearchSettings)).
    Little,
}

impl Gain {
    /// Returns what a run gained that is over; nothing if that counts as a gain, or no faster
    /// kernel is possible.
    fn of(search: &Search, progress: &Progress, is_tie: bool) -> Option<Self> {
        let is_over = search.finish().is_some() || search.stopped().is_some();
        let best = progress.best.as_ref()?;
        if !is_over || search.finish() == Some(FinishReason::Floor) {
            return None;
        }
        if best.key == TaskKey::BASELINE {
            return Some(Self::Nothing);
        }
        let least = 1.0 - search.started().settings.least_gain;
        let is_little = progress.baseline_cost?.value as f64 * least < best.cost.value as f64;
        (is_tie || is_little).then_some(Self::Little)
    }
}

/// Returns whether the best kernel is another one than the run began with, and which of the two is
/// faster is not known: it lies within what their costs may be off, and they were not measured in
/// pairs that tell.
pub(crate) fn is_tie(search: &Search, progress: &Progress) -> bool {
    let (Some(best), Some(baseline)) = (&progress.best, progress.baseline_cost) else {
        return false;
    };
    let evaluation = search.evaluation(best.source);
    let measurement = evaluation.and_then(|it| it.measurement.as_ref());
    let ratio = measurement.and_then(|it| it.ratio_to_baseline);
    let is_surely_less = best.cost.beats(baseline) || ratio.is_some_and(|it| it.high < 1.0);
    best.key != TaskKey::BASELINE && !is_surely_less
}

/// Returns what a run gained that gained nothing or little, and why no more; nothing if it gained
/// something, is not over, or could not begin.
pub(crate) fn why(
    search: &Search,
    progress: &Progress,
    is_tie: bool,
    events: &[Stored],
) -> Option<(Gain, NothingFaster)> {
    let gain = Gain::of(search, progress, is_tie)?;
    let mut reasons = Vec::new();
    let mut next = Vec::new();
    // What keeps a run from going on comes before what became of its drafts.
    let hindrance = search
        .stopped()
        .and_then(|it| Some((it, remedy(it.reason)?)));
    if let Some((stopped, remedy)) = hindrance {
        reasons.push(format!(
            "the run stopped before: {}",
            short(&stopped.message)
        ));
        next.push(remedy.to_owned());
    }
    if is_tie && let Some(best) = &progress.best {
        reasons.push(format!(
            "costs may be off by ±{:.1} %, and the gain lies within that: which of the two kernels is faster is not known",
            f64::from(best.cost.spread_ppm) / 1e4
        ));
        next.push("measure both on a device".to_owned());
    }
    let mut known = BTreeSet::new();
    let verdicts: Vec<&Arc<Evaluation>> = events
        .iter()
        .filter_map(|stored| match &stored.event {
            Event::Evaluated(it) if 0 < it.key.iteration && it.same_as.is_none() => {
                known.insert(it.source).then_some(&it.evaluation)
            }
            _ => None,
        })
        .collect();
    let total = verdicts.len();
    let mut failed: BTreeMap<Outcome, Vec<&Arc<Evaluation>>> = BTreeMap::new();
    for it in verdicts.iter().filter(|it| !it.outcome.is_right()) {
        failed.entry(it.outcome).or_default().push(it);
    }
    let mut failed: Vec<_> = failed.into_iter().collect();
    failed.sort_by_key(|(_, of_it)| std::cmp::Reverse(of_it.len()));
    for (outcome, of_it) in failed {
        let message = of_it.iter().find_map(|it| it.diagnostics.first());
        let message = message.map_or_else(String::new, |it| format!(": {}", short(&it.message)));
        reasons.push(format!(
            "{} of {total} drafts {}{message}",
            of_it.len(),
            fate(outcome)
        ));
    }
    let right: Vec<_> = verdicts.iter().filter(|it| it.outcome.is_right()).collect();
    if !right.is_empty() {
        let nearest = right.iter().filter_map(|it| it.cost()).min();
        let nearest = nearest.zip(progress.baseline_cost).map(|(cost, baseline)| {
            let ratio = cost.value as f64 / baseline.value.max(1) as f64;
            match gain {
                Gain::Nothing => format!(
                    "; the nearest takes {ratio:.2} times as long as the kernel to start from"
                ),
                Gain::Little => format!(
                    "; the fastest takes {ratio:.3} times as long as the kernel to start from"
                ),
            }
        });
        let least = search.started().settings.least_gain_text();
        let faster = match gain {
            Gain::Nothing => "faster".to_owned(),
            Gain::Little => format!("faster by {least}"),
        };
        reasons.push(format!(
            "{} of {total} drafts were right and not {faster}{}",
            right.len(),
            nearest.unwrap_or_default()
        ));
    }
    if 0 < progress.repeated {
        reasons.push(format!(
            "{} drafts were programs that had been evaluated before",
            progress.repeated
        ));
    }
    let (mut nothing, mut not_had) = (Vec::new(), Vec::new());
    // What is said of a draft names lines that nobody has at hand: that of the kernel is told.
    let mut of_kernel = Vec::new();
    let mut parents: &[CandidateId] = &[];
    for stored in events {
        match &stored.event {
            Event::IterationOpened(it) => parents = &it.parents,
            Event::Planned(Planned {
                key,
                result: Proposal::Nothing { message },
                ..
            })
            | Event::Drafted(Drafted {
                key,
                result: Proposal::Nothing { message },
                ..
            }) => {
                nothing.push(message);
                if parents.get(key.parent as usize) == Some(&CandidateId(0)) {
                    of_kernel.push(message);
                }
            }
            Event::Planned(Planned {
                result: Proposal::Failed { message },
                ..
            })
            | Event::Drafted(Drafted {
                result: Proposal::Failed { message },
                ..
            }) => not_had.push(message),
            _ => {}
        }
    }
    for (messages, told, what) in [
        (&not_had, &not_had, "plans and drafts could not be had"),
        (&nothing, &of_kernel, "times there was nothing to propose"),
    ] {
        if !messages.is_empty() {
            let last = told
                .last()
                .map_or_else(String::new, |it| format!(": {}", short(it)));
            reasons.push(format!("{} {what}{last}", messages.len()));
        }
    }
    if reasons.is_empty() {
        reasons.push("nothing was proposed before the run ended".to_owned());
    }
    if 0 < total {
        next.push("look at what became of each draft: `autocomp show RUN --all`".to_owned());
    }
    let proposers = &search.started().proposers;
    if proposers.iter().all(|it| !it.contains("::")) {
        next.push("ask a language model: `--model MODEL`".to_owned());
    }
    if hindrance.is_none() && (!right.is_empty() || search.finish().is_none()) {
        next.push(
            "search for longer: `--resume RUN --iterations T --patience T`, or another `--seed`"
                .to_owned(),
        );
    }
    next.push("start from another kernel: `--baseline FILE`".to_owned());
    Some((gain, NothingFaster { reasons, next }))
}

/// Returns what is to be done about what keeps a run from going on; none for a run that ended
/// because it was to.
fn remedy(reason: StopReason) -> Option<&'static str> {
    match reason {
        StopReason::Input => Some(
            "correct the problem, then start a new run: this one keeps the problem that it began with",
        ),
        StopReason::Environment => {
            Some("mend what is missing, then go on: `autocomp optimize --resume RUN`")
        }
        StopReason::Fault => Some("report the fault of autocomp with the run folder"),
        _ => None,
    }
}

/// Returns what happened to a draft, in words.
fn fate(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Rejected => "were refused before they were built",
        Outcome::BuildFailed => "did not build",
        Outcome::Crashed => "crashed",
        Outcome::TimedOut => "did not end in time",
        Outcome::Illegal => "broke a rule of the machine",
        Outcome::Wrong => "gave wrong results",
        Outcome::Fault => "could not be judged",
        Outcome::Ok | Outcome::Cut => "were right",
    }
}

/// Returns the first line of a text, cut to a length.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
