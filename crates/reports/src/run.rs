//! A run as one model of what happened, which every table, figure and page reads.

use crate::change::{Line, difference};
use crate::kernels::{Kernel, KernelFold, plan_text};
use crate::references::{Reference, references};
use crate::yields::{WorkerShare, Yield, worker_shares, yields};
use autocomp_core::{CandidateId, Cost, Event, Outcome, RunStarted};
use autocomp_runner::{RunError, RunReport, RunState, RunView};
use autocomp_search::Search;
use autocomp_store::{Blobs, Stored};
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
    /// What workers on other machines have done, most kernels first.
    pub workers: Vec<WorkerShare>,
    /// How often a process took the run up again.
    pub resumed: u32,
    /// The settings of the program as TOML, if the run has them.
    pub settings: Option<String>,
    /// The run's texts.
    #[serde(skip)]
    pub texts: Texts,
    /// How far the journal was taken in.
    #[serde(skip)]
    fold: Fold,
}

/// What is remembered of the events for the next ones.
#[derive(Clone, Debug, Default)]
struct Fold {
    n_events: usize,
    kernels: KernelFold,
    best: Option<Cost>,
    usd_micros: u64,
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

    /// Reads the run in `folder`, with the hash of its history.
    ///
    /// # Errors
    /// As [`RunData::open`].
    pub fn open_with_history(folder: &Path) -> Result<Self, RunError> {
        let view = RunView::open(folder)?;
        let mut run = Self::of(&view);
        run.report.history = Some(view.history());
        Ok(run)
    }

    /// Returns the difference of two of its kernels by lines, as
    /// [`change::difference`](crate::change::difference) does for their language.
    #[must_use]
    pub fn difference(&self, old: &str, new: &str, context: Option<usize>) -> Vec<Line> {
        difference(old, new, self.started.meaningful_indentation, context)
    }

    /// Takes down what a view shows.
    #[must_use]
    pub fn of(view: &RunView) -> Self {
        let started = view.search.started().clone();
        let texts = Texts(view.blobs().clone());
        let report = view.report();
        let mut run = Self {
            name: folder_name(&report.run),
            settings: started.spec.and_then(|spec| texts.text(spec).ok()),
            kernels: Vec::new(),
            chain: Vec::new(),
            iterations: Vec::new(),
            improvements: Vec::new(),
            references: Vec::new(),
            floor: None,
            menu_items: Vec::new(),
            proposers: Vec::new(),
            workers: Vec::new(),
            resumed: 0,
            fold: Fold::default(),
            started,
            texts,
            report,
        };
        run.take_in(view);
        run
    }

    /// Takes in what the same view has read since. What this takes depends on what is new,
    /// and little on how long the run is.
    pub fn update(&mut self, view: &RunView) {
        self.report = view.report();
        self.take_in(view);
    }

    fn take_in(&mut self, view: &RunView) {
        for stored in &view.events[self.fold.n_events..] {
            self.note(stored, &view.search);
        }
        self.fold.n_events = view.events.len();
        self.fold.kernels.settle(&view.search, &mut self.kernels);
        for place in self.chain.drain(..) {
            self.kernels[place].in_chain = false;
        }
        let best = self.report.progress.best.as_ref();
        let mut next = best.and_then(|best| self.fold.kernels.place_of_source(best.source));
        while let Some(place) = next.filter(|_| self.chain.len() <= self.kernels.len()) {
            self.chain.push(place);
            self.kernels[place].in_chain = true;
            next = self.kernels[place].parent;
        }
        self.chain.reverse();
        self.references = references(&self.report.run);
        self.menu_items = yields(&self.kernels, |kernel| kernel.menu_item.as_deref());
        self.proposers = yields(&self.kernels, |kernel| kernel.planner.as_deref());
        self.workers = worker_shares(&self.kernels);
    }

    fn note(&mut self, stored: &Stored, search: &Search) {
        let fold = &mut self.fold;
        for exchange in stored.event.exchanges() {
            fold.usd_micros = fold.usd_micros.saturating_add(exchange.usage.cost.0);
        }
        let is_new = fold.kernels.note(stored, search, &mut self.kernels);
        let places = |ids: &[CandidateId]| -> Vec<usize> {
            let place = |id: &CandidateId| fold.kernels.place_of(*id, search);
            ids.iter().filter_map(place).collect()
        };
        match &stored.event {
            Event::Resumed(_) => self.resumed += 1,
            Event::IterationOpened(it) => self.iterations.push(Iteration {
                number: it.iteration,
                parents: places(&it.parents),
                beam: Vec::new(),
            }),
            Event::IterationClosed(it) => {
                if let Some(last) = self.iterations.last_mut() {
                    last.beam = places(&it.beam);
                }
            }
            _ => {}
        }
        let Some(kernel) = self.kernels.last().filter(|_| is_new) else {
            return;
        };
        if self.floor.is_none() {
            let measurement = kernel.evaluation.measurement.as_ref();
            let floor = measurement.map(|measurement| measurement.floor);
            // Of what was measured elsewhere, what the hardware could do is not known.
            self.floor = floor.filter(|it| 0 < it.value);
        }
        let Some(cost) = kernel.cost else { return };
        if fold.best.is_none_or(|best| cost < best) {
            fold.best = Some(cost);
            self.improvements.push(Improvement {
                kernel: self.kernels.len() - 1,
                evaluations: kernel.evaluation_number,
                elapsed_ms: stored.elapsed_ms,
                usd_micros: fold.usd_micros,
                cost: Some(cost),
            });
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
