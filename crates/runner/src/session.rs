//! One process working on one run.

use crate::error::RunError;
use crate::extending::Extension;
use autocomp_core::{
    Confirmer, ContentHash, Duplicates, EVENT_FORMAT, Event, Extended, Lesson, MenuItem, Plan,
    PlanRecord, Resumed, RunStarted, SearchSettings, Seed, TakenKernel,
};
use autocomp_eval::Evaluator;
use autocomp_search::{Search, SearchError};
use autocomp_store::{Blobs, RunWriter};
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
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
    /// Whether a line of its kernels that only moved to the right or left has changed.
    pub meaningful_indentation: bool,
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
    /// What earlier runs have taught, as far as prompts may tell it.
    pub lessons: Vec<Lesson>,
    /// Extensions of the run that is repeated, to be made at the same points.
    pub extensions: Vec<Extended>,
    /// Who confirms the best kernels at the end.
    pub confirmers: Vec<Confirmer>,
    /// The effective settings of the program as text, to be kept.
    pub spec: Option<String>,
}

/// One process working on one run: the locked folder and the state.
pub struct RunSession {
    pub(crate) writer: RunWriter,
    pub(crate) search: Search,
    /// Time worked on the run by earlier sessions.
    elapsed_before: Duration,
    begun: Instant,
    n_dropped: usize,
    /// Extensions that are still to be made, in order.
    extensions: VecDeque<Extended>,
    /// Who confirms the best kernels, in the order of the run's first event.
    pub(crate) confirmers: Vec<Arc<dyn Evaluator>>,
}

impl std::fmt::Debug for RunSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunSession")
            .field("folder", &self.folder())
            .finish_non_exhaustive()
    }
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
        let mut started = RunStarted {
            format: EVENT_FORMAT,
            program: new.program,
            target: new.target,
            problem: new.problem,
            evaluator: evaluator.identity(),
            compiler: new.compiler,
            meaningful_indentation: new.meaningful_indentation,
            proposers: new.proposers,
            seed: new.seed,
            settings: new.settings,
            menu: new.menu,
            baseline: ContentHash::of(new.baseline.as_bytes()),
            taken: Vec::new(),
            reused: Vec::new(),
            forms: Vec::new(),
            confirmers: new.confirmers,
            lessons: new.lessons.into_iter().map(Lesson::bounded).collect(),
            spec: None,
        };
        let asks_form = started.settings.duplicates != Duplicates::Text;
        let form_of = |source: &str| form_of(evaluator, asks_form, source);
        started.forms.push(form_of(&new.baseline));
        let mut texts = Vec::new();
        let mut sources = BTreeSet::from([started.baseline]);
        for (source, plan) in new.taken {
            let hash = ContentHash::of(source.as_bytes());
            if sources.insert(hash) {
                started.forms.push(form_of(&source));
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
        if started.forms.iter().all(Option::is_none) {
            started.forms.clear();
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
            confirmers: Vec::new(),
        })
    }

    /// Takes up the run in `folder`. `program` is the version of the program.
    ///
    /// # Errors
    /// The folder holds no run, is locked by another process, or is damaged.
    pub fn resume(folder: &Path, program: &str) -> Result<Self, RunError> {
        let mut elapsed_ms = 0;
        let mut search = None;
        // Event by event: a long run is not kept in memory twice.
        let (writer, n_dropped) = RunWriter::open_with(folder, |stored| {
            elapsed_ms = stored.elapsed_ms;
            match (&mut search, stored.event) {
                (Some(search), event) => Search::apply(search, &event)?,
                (None, Event::Started(started)) => search = Some(Search::new(started)?),
                (None, _) => return Err(SearchError::NotStarted.into()),
            }
            Ok::<_, RunError>(())
        })?;
        let mut session = Self {
            writer,
            search: search.ok_or(SearchError::NotStarted)?,
            elapsed_before: Duration::from_millis(elapsed_ms),
            begun: Instant::now(),
            n_dropped,
            extensions: VecDeque::new(),
            confirmers: Vec::new(),
        };
        if session.search.finish().is_none() {
            session.record(Event::Resumed(Resumed {
                program: program.to_owned(),
            }))?;
        }
        Ok(session)
    }

    /// Brings those who confirm the best kernels, in the order in which the run was
    /// created with them.
    ///
    /// # Errors
    /// They are others than those of the run.
    pub fn confirm_by(&mut self, confirmers: Vec<Arc<dyn Evaluator>>) -> Result<(), RunError> {
        let started = self.search.started();
        let wanted = started.confirmers.iter().map(|it| it.evaluator);
        if !wanted.eq(confirmers.iter().map(|it| it.identity())) {
            return Err(RunError::EvaluatorChanged {
                compiler: started.compiler.clone(),
            });
        }
        self.confirmers = confirmers;
        Ok(())
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
            Some(extended) => self.record(Event::Extended(extended)),
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
    pub(crate) fn record(&mut self, event: Event) -> Result<(), RunError> {
        self.record_later(event)?;
        self.commit()?;
        // Nobody is told of it.
        self.writer.take_kept();
        Ok(())
    }

    /// Takes an event into the state; it is in the journal after the next
    /// [`RunSession::commit`].
    pub(crate) fn record_later(&mut self, event: Event) -> Result<(), RunError> {
        // The state first: an event that does not fit must not be kept.
        self.search.apply(&event)?;
        let elapsed_ms = self.elapsed().as_millis() as u64;
        let is_border = matches!(
            event,
            Event::IterationClosed(_) | Event::Finished(_) | Event::Stopped(_)
        );
        self.writer.append_later(event, elapsed_ms)?;
        if is_border {
            self.writer.border()?;
        }
        Ok(())
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

/// Returns the hash of the form of a kernel, if `is_asked` for and there is one.
pub(crate) fn form_of(
    evaluator: &dyn Evaluator,
    is_asked: bool,
    source: &str,
) -> Option<ContentHash> {
    let form = is_asked.then(|| evaluator.normal_form(source)).flatten()?;
    Some(ContentHash::of(form.as_bytes()))
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
