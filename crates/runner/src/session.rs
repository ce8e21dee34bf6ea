//! One process working on one run.

use crate::error::RunError;
use crate::extending::Extension;
use autocomp_core::{
    ContentHash, EVENT_FORMAT, Event, Extended, MenuItem, Plan, PlanRecord, Resumed, RunStarted,
    SearchSettings, Seed, TakenKernel,
};
use autocomp_eval::Evaluator;
use autocomp_search::Search;
use autocomp_store::{Blobs, RunWriter, Stored};
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

/// What a new run is.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Version of the program.
    pub program: String,
    /// Name of the target.
    pub target: String,
    /// Name of the problem.
    pub problem: String,
    /// Compiler name and version.
    pub compiler: String,
    /// Names of the proposers.
    pub proposers: Vec<String>,
    /// Seed of all random streams.
    pub seed: Seed,
    /// How to search.
    pub settings: SearchSettings,
    /// The whole menu.
    pub menu: Vec<MenuItem>,
    /// Source of the baseline kernel.
    pub baseline: String,
    /// Kernels of another run to begin with, and how each came about.
    pub taken: Vec<(String, Plan)>,
    /// The schedule of another run to replay, step by step.
    pub reused: Vec<Plan>,
    /// Extensions of the run that is repeated, to be made at the same points.
    pub extensions: Vec<Extended>,
    /// The effective settings of the program as text, to be kept.
    pub spec: Option<String>,
}

/// One process working on one run: the locked folder and the state.
#[derive(Debug)]
pub struct RunSession {
    pub(crate) writer: RunWriter,
    pub(crate) search: Search,
    /// Time worked on the run by earlier sessions.
    elapsed_before: Duration,
    begun: Instant,
    n_dropped: usize,
    /// Extensions that are still to be made, in order.
    extensions: VecDeque<Extended>,
}

impl RunSession {
    /// Checks that [`RunSession::create`] would find `folder` absent or empty,
    /// for those who want to know before they prepare anything. Changes nothing.
    ///
    /// # Errors
    /// The folder holds something, or cannot be read.
    pub fn check_vacant(folder: &Path) -> Result<(), RunError> {
        Ok(RunWriter::check_vacant(folder)?)
    }

    /// Creates a run in `folder`, which must be absent or empty.
    ///
    /// # Errors
    /// The settings are out of range, or the folder cannot be used.
    pub fn create(folder: &Path, new: NewRun, evaluator: &dyn Evaluator) -> Result<Self, RunError> {
        let evaluator = evaluator.identity();
        let mut started = RunStarted {
            format: EVENT_FORMAT,
            program: new.program,
            target: new.target,
            problem: new.problem,
            evaluator,
            compiler: new.compiler,
            proposers: new.proposers,
            seed: new.seed,
            settings: new.settings,
            menu: new.menu,
            baseline: ContentHash::of(new.baseline.as_bytes()),
            taken: Vec::new(),
            reused: Vec::new(),
            spec: None,
        };
        let mut texts = Vec::new();
        let mut sources = BTreeSet::from([started.baseline]);
        for (source, plan) in new.taken {
            let hash = ContentHash::of(source.as_bytes());
            if sources.insert(hash) {
                let (plan, plan_text) = recorded(plan);
                started.taken.push(TakenKernel { source: hash, plan });
                texts.extend([source, plan_text]);
            }
        }
        for plan in new.reused {
            let (plan, plan_text) = recorded(plan);
            started.reused.push(plan);
            texts.push(plan_text);
        }
        // Before the folder, so that bad settings leave none behind.
        Search::new(started.clone())?;
        let mut writer = RunWriter::create(folder)?;
        writer.blobs().put(new.baseline.as_bytes())?;
        for text in texts {
            writer.blobs().put(text.as_bytes())?;
        }
        if let Some(spec) = new.spec {
            started.spec = Some(writer.blobs().put(spec.as_bytes())?);
        }
        let search = Search::new(started.clone())?;
        writer.append(&Event::Started(started), 0)?;
        writer.border()?;
        Ok(Self {
            writer,
            search,
            elapsed_before: Duration::ZERO,
            begun: Instant::now(),
            n_dropped: 0,
            extensions: new.extensions.into(),
        })
    }

    /// Takes up the run in `folder`. `program` is the version of the program.
    ///
    /// # Errors
    /// The folder holds no run, is locked by another process, or is damaged.
    pub fn resume(folder: &Path, program: &str) -> Result<Self, RunError> {
        let opened = RunWriter::open(folder)?;
        let search = Search::fold(opened.events.iter().map(|stored| &stored.event))?;
        let elapsed_ms = opened.events.last().map_or(0, |stored| stored.elapsed_ms);
        let mut session = Self {
            writer: opened.writer,
            search,
            elapsed_before: Duration::from_millis(elapsed_ms),
            begun: Instant::now(),
            n_dropped: opened.n_dropped,
            extensions: VecDeque::new(),
        };
        if session.search.finish().is_none() {
            session.record(&Event::Resumed(Resumed {
                program: program.to_owned(),
            }))?;
        }
        Ok(session)
    }

    /// Gives the run higher bounds, as [`Extension::of`] says.
    ///
    /// # Errors
    /// As there, or the run was evaluated with another evaluator.
    pub fn extend(&mut self, by: Extension, evaluator: &dyn Evaluator) -> Result<(), RunError> {
        let started = self.search.started();
        if evaluator.identity() != started.evaluator {
            return Err(RunError::EvaluatorChanged {
                compiler: started.compiler.clone(),
            });
        }
        match by.of(&self.search)? {
            Some(extended) => self.record(&Event::Extended(extended)),
            None => Ok(()),
        }
    }

    /// Returns the next extension of the run that this one repeats, if this is
    /// the point where that one was extended.
    pub(crate) fn next_extension(&mut self) -> Option<Extended> {
        let next = self.extensions.front()?;
        let is_here = next.iteration == self.search.iteration()
            && next.after_end == self.search.finish().is_some();
        if is_here {
            self.extensions.pop_front()
        } else {
            None
        }
    }

    /// Appends an event to the journal and takes it into the state.
    pub(crate) fn record(&mut self, event: &Event) -> Result<(), RunError> {
        self.record_later(event)?;
        self.commit()
    }

    /// Takes an event into the state; it is in the journal after the next
    /// [`RunSession::commit`].
    pub(crate) fn record_later(&mut self, event: &Event) -> Result<Stored, RunError> {
        // The state first: an event that does not fit must not be kept.
        self.search.apply(event)?;
        let elapsed_ms = self.elapsed().as_millis() as u64;
        let stored = self.writer.append_later(event, elapsed_ms)?;
        if matches!(
            event,
            Event::IterationClosed(_) | Event::Finished(_) | Event::Stopped(_)
        ) {
            self.writer.border()?;
        }
        Ok(stored)
    }

    /// Writes down what was recorded.
    pub(crate) fn commit(&mut self) -> Result<(), RunError> {
        Ok(self.writer.commit()?)
    }

    /// Returns the state of the run.
    #[must_use]
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Returns the run folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.writer.folder()
    }

    /// Returns the texts of the run.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        self.writer.blobs()
    }

    /// Returns how long the run has been worked on, by all sessions.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed_before + self.begun.elapsed()
    }

    /// Returns how many events at the journal's end were thrown away on
    /// resuming because a power cut took their texts.
    #[must_use]
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// Forces everything to the disk and closes the folder.
    ///
    /// # Errors
    /// No room left.
    pub fn close(self) -> Result<(), RunError> {
        Ok(self.writer.close()?)
    }
}

/// Returns the record of a plan, and the text of its blob.
fn recorded(plan: Plan) -> (PlanRecord, String) {
    let text = serde_json::to_string(&plan).expect("plans have string keys only");
    let record = PlanRecord {
        menu_item: plan.menu_item,
        proposer: plan.proposer,
        plan: ContentHash::of(text.as_bytes()),
    };
    (record, text)
}
