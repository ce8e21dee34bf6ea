//! Looking at a run, finished or live.

use crate::error::RunError;
use crate::nothing_faster::{Gain, NothingFaster, is_tie, why};
use crate::recording::read_plan;
use crate::session::NewRun;
use autocomp_core::{
    CandidateId, ContentHash, Cost, CostObject, Event, FinishReason, Outcome, Plan, PlanRecord,
    Ratio, Seed, StopReason, TaskKey, cost_fields,
};
use autocomp_search::{Progress, Search, SearchError};
use autocomp_store::{Blobs, RunReader, Stored, history_hash};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a run is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunState {
    /// A process is working on it.
    Running {
        /// Which.
        holder: String,
    },
    /// It has come to its end.
    Finished {
        /// Why.
        reason: FinishReason,
        /// The same for people.
        message: String,
    },
    /// It was stopped and can be resumed.
    Stopped {
        /// Why.
        reason: StopReason,
        /// The same for people.
        message: String,
    },
    /// Its process died. It can be resumed.
    Broken,
}

/// A run, folded from its journal.
#[derive(Debug)]
pub struct RunView {
    reader: RunReader,
    /// The events so far, in the order in which they happened.
    pub events: Vec<Stored>,
    /// The state that they lead to.
    pub search: Search,
}

/// A run in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The run folder.
    pub run: PathBuf,
    /// What the run is doing.
    pub status: RunState,
    /// Name of the problem.
    pub problem: String,
    /// Name of the target.
    pub target: String,
    /// Names of the proposers.
    pub proposers: Vec<String>,
    /// Compiler name and version.
    pub compiler: String,
    /// Seed of all random streams.
    pub seed: Seed,
    /// When it was started, milliseconds since 1970 UTC.
    pub started_at_ms: u64,
    /// How long it has been worked on, in milliseconds.
    pub elapsed_ms: u64,
    /// How far it has come.
    pub progress: Progress,
    /// The cost of the baseline divided by that of the best kernel.
    pub speedup: Option<f64>,
    /// Whether the best kernel is another one than the baseline, and which of them is faster lies
    /// within what their costs may be off.
    pub is_tie: bool,
    /// The way from the baseline to the best kernel, both included.
    pub lineage: Vec<LineageEntry>,
    /// What became of the best kernels when they were evaluated once more.
    pub confirmations: Vec<Confirmation>,
    /// Why the run found nothing faster than the kernel that it began with, and what to do next;
    /// null if it found something, or is not over.
    pub nothing_faster: Option<NothingFaster>,
    /// The same of a run whose best kernel is faster by less than `least_gain`.
    pub little_faster: Option<NothingFaster>,
    /// Hash of the canonical history: equal for runs that took the same course. Absent where
    /// nobody asked for it, since it takes a look at the whole history
    /// ([`RunView::history`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<ContentHash>,
}

/// One of the best kernels, evaluated once more.
#[derive(Clone, Debug, Serialize)]
pub struct Confirmation {
    /// Its number.
    pub id: CandidateId,
    /// What was other than in the search (`new inputs`).
    pub by: String,
    /// What happened to it; it was struck unless that is `ok`.
    pub outcome: Outcome,
    /// What it costs there, if it is right.
    pub cost: Option<CostObject>,
    /// How many times that of the problem's baseline it is there, if both were measured.
    pub ratio_to_baseline: Option<Ratio>,
    /// The device that it was measured on, if a worker on another machine measured it.
    pub device: Option<String>,
    /// The first finding, if it is not right.
    pub finding: Option<String>,
}

/// A kernel on the way from the baseline to the best.
#[derive(Clone, Debug, Serialize)]
pub struct LineageEntry {
    /// Its number; absent as long as its iteration is open.
    pub id: Option<CandidateId>,
    /// The evaluate task that it came from.
    pub key: TaskKey,
    /// Its source.
    pub source: ContentHash,
    /// The ranking figure.
    #[serde(flatten, serialize_with = "cost_fields")]
    pub cost: Cost,
    /// The menu item chosen; absent for the baseline.
    pub menu_item: Option<String>,
    /// The plan in words; absent for the baseline.
    pub plan: Option<String>,
    /// Who made the plan; absent for the baseline.
    pub proposer: Option<String>,
}

impl RunView {
    /// Reads the run in `folder`.
    ///
    /// # Errors
    /// The folder holds no run, or one that is damaged or of a newer format.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let mut reader = RunReader::open(folder)?;
        let events = reader.read_on()?;
        if events.is_empty() {
            let path = folder.to_owned();
            return Err(autocomp_store::StoreError::NotStarted { path }.into());
        }
        let search = Search::fold(events.iter().map(|stored| &stored.event))?;
        Ok(Self {
            reader,
            events,
            search,
        })
    }

    /// Takes in what a live run has appended since; returns how many events.
    ///
    /// # Errors
    /// As [`RunView::open`].
    pub fn read_on(&mut self) -> Result<usize, RunError> {
        let events = self.reader.read_on()?;
        for stored in &events {
            self.search.apply(&stored.event)?;
        }
        let n_events = events.len();
        self.events.extend(events);
        Ok(n_events)
    }

    /// Returns the texts of the run.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        self.reader.blobs()
    }

    /// Returns what the run is doing.
    #[must_use]
    pub fn state(&self) -> RunState {
        if let Some(reason) = self.search.finish() {
            RunState::Finished {
                reason,
                message: reason.text(&self.search.started().settings),
            }
        } else if let Some(holder) = self.reader.live_holder() {
            RunState::Running { holder }
        } else if let Some(stopped) = self.search.stopped() {
            RunState::Stopped {
                reason: stopped.reason,
                message: stopped.message.clone(),
            }
        } else {
            RunState::Broken
        }
    }

    /// Returns the run in numbers, without the hash of its history.
    #[must_use]
    pub fn report(&self) -> RunReport {
        report(
            self.reader.folder(),
            &self.search,
            &self.events,
            self.blobs(),
            self.state(),
        )
    }

    /// Returns the run in numbers, with the hash of its history.
    #[must_use]
    pub fn whole_report(&self) -> RunReport {
        RunReport {
            history: Some(self.history()),
            ..self.report()
        }
    }

    /// Returns the hash of the canonical history, which takes a look at all of it.
    #[must_use]
    pub fn history(&self) -> ContentHash {
        history_hash(self.events.iter().map(|stored| &stored.event))
    }

    /// Returns the plan that a record refers to.
    ///
    /// # Errors
    /// Its text is lost or damaged.
    pub fn plan(&self, record: &PlanRecord) -> Result<Plan, RunError> {
        read_plan(record, self.blobs()).map_err(|reason| RunError::BadPlan {
            task: format!("for {}", record.menu_item),
            reason,
        })
    }

    /// Returns a new run with the settings, the seed and the baseline of this
    /// one: with its [`RecordedRun`](crate::RecordedRun) as proposer, it takes
    /// the same course.
    ///
    /// # Errors
    /// The baseline's text is damaged.
    pub fn to_new_run(&self) -> Result<NewRun, RunError> {
        let Some(Event::Started(started)) = self.events.first().map(|stored| &stored.event) else {
            return Err(RunError::Search(SearchError::NotStarted));
        };
        let started = started.clone();
        let extensions = self.events.iter().filter_map(|stored| match &stored.event {
            Event::Extended(extended) => Some(extended.clone()),
            _ => None,
        });
        let taken = started.taken.iter().map(|kernel| {
            let plan =
                read_plan(&kernel.plan, self.blobs()).map_err(|reason| RunError::BadPlan {
                    task: format!("of kernel {}", kernel.source.short()),
                    reason,
                })?;
            Ok((self.blobs().get_text(kernel.source)?, plan))
        });
        let reused = started.reused.iter().map(|record| self.plan(record));
        Ok(NewRun {
            reused: reused.collect::<Result<_, RunError>>()?,
            baseline: self.blobs().get_text(started.baseline)?,
            taken: taken.collect::<Result<_, RunError>>()?,
            extensions: extensions.collect(),
            spec: started
                .spec
                .map(|spec| self.blobs().get_text(spec))
                .transpose()?,
            program: started.program,
            target: started.target,
            problem: started.problem,
            compiler: started.compiler,
            meaningful_indentation: started.meaningful_indentation,
            proposers: started.proposers,
            confirmers: started.confirmers,
            seed: started.seed,
            settings: started.settings,
            menu: started.menu,
            lessons: started.lessons,
        })
    }
}

fn report(
    folder: &Path,
    search: &Search,
    events: &[Stored],
    blobs: &Blobs,
    status: RunState,
) -> RunReport {
    let started = search.started();
    let progress = search.progress();
    let lineage = search.best_lineage().into_iter().map(|step| {
        // A plan that cannot be read is missing in the report, no more.
        let plan = step
            .plan
            .as_ref()
            .and_then(|record| read_plan(record, blobs).ok());
        LineageEntry {
            id: step.id,
            key: step.key,
            source: step.source,
            cost: step.cost,
            menu_item: step.plan.as_ref().map(|record| record.menu_item.clone()),
            plan: plan.map(|plan| plan.text),
            proposer: step.plan.map(|record| record.proposer),
        }
    });
    let confirmations = search.confirmations().map(|(id, by, evaluation)| {
        let confirmer = started.confirmers.get(by as usize);
        Confirmation {
            id,
            by: confirmer.map_or_else(String::new, |it| it.name.clone()),
            outcome: evaluation.outcome,
            cost: evaluation.cost().map(CostObject::from),
            ratio_to_baseline: evaluation
                .measurement
                .as_ref()
                .and_then(|it| it.ratio_to_baseline),
            device: evaluation.device.clone(),
            finding: evaluation.diagnostics.first().map(|it| it.message.clone()),
        }
    });
    let is_tie = is_tie(search, &progress);
    let (nothing_faster, little_faster) = match why(search, &progress, is_tie, events) {
        Some((Gain::Nothing, why)) => (Some(why), None),
        Some((Gain::Little, why)) => (None, Some(why)),
        None => (None, None),
    };
    RunReport {
        confirmations: confirmations.collect(),
        run: folder.to_owned(),
        status,
        problem: started.problem.clone(),
        target: started.target.clone(),
        proposers: started.proposers.clone(),
        compiler: started.compiler.clone(),
        seed: started.seed,
        started_at_ms: events.first().map_or(0, |stored| stored.at_ms),
        elapsed_ms: events.last().map_or(0, |stored| stored.elapsed_ms),
        speedup: progress.speedup(),
        is_tie,
        nothing_faster,
        little_faster,
        progress,
        lineage: lineage.collect(),
        history: None,
    }
}
