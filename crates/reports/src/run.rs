//! A run as one model of what happened, which every table, figure and page reads.

use crate::kernels::{Kernel, kernels, plan_text};
use crate::references::{Reference, references};
use crate::yields::{Yield, yields};
use autocomp_core::{Cost, Event, Outcome, RunStarted};
use autocomp_runner::{RunError, RunReport, RunState, RunView};
use autocomp_store::Blobs;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What happened in a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunData {
    /// The run in numbers, as `show` has it.
    pub report: RunReport,
    /// Name of the run folder, without its path.
    pub name: String,
    /// What the run is: settings, menu, versions.
    #[serde(skip)]
    pub started: RunStarted,
    /// Every kernel that was evaluated, in the order of their evaluations.
    pub kernels: Vec<Kernel>,
    /// The way from the baseline to the best kernel, as indexes of `kernels`.
    pub chain: Vec<usize>,
    /// Iterations, in order.
    pub iterations: Vec<Iteration>,
    /// The best cost after each evaluation that found a better one.
    pub improvements: Vec<Improvement>,
    /// Other kernels of the problem, slowest first; empty if they were not measured.
    pub references: Vec<Reference>,
    /// The cost that no right kernel can be below.
    #[serde(serialize_with = "crate::kernels::cost_object")]
    pub floor: Option<Cost>,
    /// What was tried and what came of it, by menu item.
    pub menu_items: Vec<Yield>,
    /// The same by who made the plan.
    pub proposers: Vec<Yield>,
    /// How often a process took the run up again.
    pub resumed: u32,
    /// The settings of the program as TOML, if the run has them.
    pub settings: Option<String>,
    /// The run's texts.
    #[serde(skip)]
    pub texts: Texts,
}

/// The texts of a run.
#[derive(Clone, Debug)]
pub struct Texts(Blobs);

/// One round of plans, drafts and evaluations.
#[derive(Clone, Debug, Serialize)]
pub struct Iteration {
    /// Its number, from 1.
    pub number: u32,
    /// Kernels that it began with, as indexes.
    pub parents: Vec<usize>,
    /// Kernels that it ended with, best first; empty as long as it is open.
    pub beam: Vec<usize>,
}

/// A kernel that was better than all before it.
#[derive(Clone, Debug, Serialize)]
pub struct Improvement {
    /// Index of the kernel.
    pub kernel: usize,
    /// Evaluations so far.
    pub evaluations: u32,
    /// Time worked on the run, in milliseconds.
    pub elapsed_ms: u64,
    /// Spent on models so far, in millionths of a dollar.
    pub usd_micros: u64,
    /// Its cost.
    #[serde(serialize_with = "crate::kernels::cost_object")]
    pub cost: Option<Cost>,
}

impl Texts {
    /// Returns the source of a kernel, or in words why it cannot be had.
    ///
    /// # Errors
    /// The text is missing or damaged.
    pub fn source(&self, kernel: &Kernel) -> Result<String, String> {
        self.text(kernel.source)
    }

    /// Returns the plan of a kernel in words, if it has one.
    #[must_use]
    pub fn plan(&self, kernel: &Kernel) -> Option<String> {
        plan_text(&self.0, kernel.plan?)
    }

    /// Returns a text, or in words why it cannot be had.
    ///
    /// # Errors
    /// The text is missing or damaged.
    pub fn text(&self, hash: autocomp_core::ContentHash) -> Result<String, String> {
        self.0.get_text(hash).map_err(|error| error.to_string())
    }
}

impl RunData {
    /// Reads the run in `folder`.
    ///
    /// # Errors
    /// The folder holds no run, or a damaged one.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        Ok(Self::of(&RunView::open(folder)?))
    }

    /// Takes down what a view shows.
    #[must_use]
    pub fn of(view: &RunView) -> Self {
        let report = view.report();
        let kernels = kernels(view);
        let started = view.search.started().clone();
        let texts = Texts(view.blobs().clone());
        let mut chain = Vec::new();
        let mut next = report.progress.best.as_ref().and_then(|best| {
            let is_best = |kernel: &Kernel| kernel.source == best.source;
            kernels.iter().position(is_best)
        });
        while let Some(place) = next.filter(|_| chain.len() <= kernels.len()) {
            chain.push(place);
            next = kernels[place].parent;
        }
        chain.reverse();
        let floor = kernels
            .iter()
            .find_map(|kernel| kernel.evaluation.measurement.as_ref())
            .map(|measurement| measurement.floor);
        let resumed = view
            .events
            .iter()
            .filter(|it| matches!(it.event, Event::Resumed(_)));
        Self {
            name: folder_name(&report.run),
            iterations: iterations(view, &kernels),
            improvements: improvements(view, &kernels),
            references: references(&report.run),
            menu_items: yields(&kernels, |kernel| kernel.menu_item.clone()),
            proposers: yields(&kernels, |kernel| kernel.planner.clone()),
            resumed: resumed.count() as u32,
            settings: started.spec.and_then(|spec| texts.text(spec).ok()),
            floor,
            chain,
            kernels,
            started,
            report,
            texts,
        }
    }

    /// Returns the kernel of a short name: `c27`, a task, `best` or `baseline`.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        let name = name.strip_suffix(".eval").unwrap_or(name);
        match name {
            "best" => self.best(),
            "baseline" => self.kernels.first(),
            _ => self
                .kernels
                .iter()
                .find(|kernel| kernel.name == name || kernel.task == name),
        }
    }

    /// Returns the best kernel so far.
    #[must_use]
    pub fn best(&self) -> Option<&Kernel> {
        self.chain.last().map(|place| &self.kernels[*place])
    }

    /// Returns the kernel that another one was made from.
    #[must_use]
    pub fn parent(&self, kernel: &Kernel) -> Option<&Kernel> {
        kernel.parent.map(|place| &self.kernels[place])
    }

    /// Returns the outcomes that occurred, with their numbers, in the order of the cascade.
    #[must_use]
    pub fn outcomes(&self) -> Vec<(Outcome, u32)> {
        let counts = &self.report.progress.outcomes;
        let count = |outcome: &Outcome| counts.get(outcome).copied().unwrap_or(0);
        Outcome::ALL
            .iter()
            .map(|outcome| (*outcome, count(outcome)))
            .filter(|(_, count)| 0 < *count)
            .collect()
    }

    /// Returns whether a process is at work on the run.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self.report.status, RunState::Running { .. })
    }

    /// Returns the command that makes the same run again.
    #[must_use]
    pub fn command(&self) -> String {
        format!("autocomp optimize --replay {}", quoted(&self.report.run))
    }
}

/// Returns a path as a shell word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:@".contains(c);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn folder_name(folder: &Path) -> String {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder));
    whole
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn iterations(view: &RunView, kernels: &[Kernel]) -> Vec<Iteration> {
    let places: std::collections::HashMap<_, _> = kernels
        .iter()
        .enumerate()
        .filter_map(|(place, kernel)| Some((kernel.id?, place)))
        .collect();
    let mut iterations: Vec<Iteration> = Vec::new();
    for stored in &view.events {
        match &stored.event {
            Event::IterationOpened(it) => iterations.push(Iteration {
                number: it.iteration,
                parents: it
                    .parents
                    .iter()
                    .filter_map(|id| places.get(id).copied())
                    .collect(),
                beam: Vec::new(),
            }),
            Event::IterationClosed(it) => {
                if let Some(last) = iterations.last_mut() {
                    last.beam = it
                        .beam
                        .iter()
                        .filter_map(|id| places.get(id).copied())
                        .collect();
                }
            }
            _ => {}
        }
    }
    iterations
}

fn improvements(view: &RunView, kernels: &[Kernel]) -> Vec<Improvement> {
    let mut improvements: Vec<Improvement> = Vec::new();
    let mut usd_micros = 0u64;
    let mut best: Option<Cost> = None;
    let mut next = kernels.iter().enumerate().peekable();
    for stored in &view.events {
        for exchange in stored.event.exchanges() {
            usd_micros = usd_micros.saturating_add(exchange.usage.cost.0);
        }
        let Event::Evaluated(it) = &stored.event else {
            continue;
        };
        let Some((place, kernel)) = next.next_if(|(_, kernel)| kernel.source == it.source) else {
            continue;
        };
        let Some(cost) = kernel.cost else { continue };
        if best.is_none_or(|best| cost < best) {
            best = Some(cost);
            improvements.push(Improvement {
                kernel: place,
                evaluations: kernel.evaluation_number,
                elapsed_ms: stored.elapsed_ms,
                usd_micros,
                cost: Some(cost),
            });
        }
    }
    improvements
}
