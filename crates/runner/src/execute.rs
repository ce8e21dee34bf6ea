//! The dispatcher: starts tasks, takes their outcomes, journals them.
//!
//! One task of the async runtime owns all state. Proposers and evaluators run
//! on the runtime's blocking threads, so one that computes for long (the
//! rewriter, a simulation) holds up nobody else.

mod context;
pub(crate) mod crew;
mod launching;
mod outcomes;
mod stopping;

pub(crate) use launching::finding;

use crate::end::{RunEnd, Stop};
use crate::error::RunError;
use crate::execute::crew::Crew;
use crate::observer::{Notice, Observer, Running};
use crate::options::RunOptions;
use crate::proposal::{self, Answered};
use crate::reservations::{Waiting, reservations};
use crate::session::RunSession;
use autocomp_agents::{Background, Proposer, ReservationJournal};
use autocomp_core::{
    CandidateId, ContentHash, Evaluation, Event, ExchangeRecord, Reserved, StopReason, Stopped,
    TaskKey,
};
use autocomp_eval::{EvalError, Evaluator};
use autocomp_search::Progress;
use autocomp_store::Stored;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long to wait for proposals that were given up: those that wait for a
/// model end at once, those that compute cannot be interrupted.
const ABANDONING: Duration = Duration::from_secs(2);

/// How long events may wait for others to be written with them, while tasks are so short
/// that a commit costs more than several of them.
const PUT_OFF: Duration = Duration::from_millis(2);

/// What a task came to.
enum Done {
    /// A proposal, with its texts kept.
    Proposal(TaskKey, Result<Answered, RunError>),
    /// The texts may be unreadable, which ends the session.
    Evaluation(TaskKey, ContentHash, Box<Result<Judged, RunError>>),
    /// What a confirmer says of a kernel.
    Confirmation(
        TaskKey,
        ContentHash,
        Box<Result<Result<Evaluation, EvalError>, RunError>>,
    ),
    /// A proposal was given up after a stop.
    Abandoned(TaskKey),
}

/// What became of a kernel that was to be evaluated.
struct Judged {
    verdict: Result<Verdict, EvalError>,
    /// Its machine code, if that was asked for.
    code: Option<ContentHash>,
}

enum Verdict {
    Evaluated(Arc<Evaluation>),
    /// It has the machine code of another kernel.
    SameAs(ContentHash),
}

/// How far a stop goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// No plan and no draft is begun; drafts that exist are still evaluated.
    Proposals,
    /// Nothing is begun.
    Everything,
}

struct Dispatcher<'a> {
    session: &'a mut RunSession,
    proposer: Arc<dyn Proposer>,
    evaluator: Arc<dyn Evaluator>,
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    proposers: Crew<TaskKey, Done>,
    evaluators: Crew<ContentHash, Done>,
    confirmers: Crew<TaskKey, Done>,
    /// Told by the crews that tasks have ended.
    ended: Arc<Notify>,
    /// What the proposer tells of kernels beside them.
    background: Background,
    proposing: BTreeSet<TaskKey>,
    evaluating: BTreeMap<ContentHash, TaskKey>,
    confirming: BTreeSet<TaskKey>,
    abandon: CancellationToken,
    stop: Option<(Stop, Reach)>,
    /// When running tasks are abandoned.
    patience_ends: Option<Instant>,
    /// Calls of models made for tasks that did not end.
    unended: Vec<ExchangeRecord>,
    /// Calls that wait until their reservations are written.
    reservations: UnboundedReceiver<Waiting>,
    /// When what was recorded is to be written at the latest, or to be asked for again
    /// whether it is; none if it is, and observers know.
    commit_by: Option<Instant>,
    /// Whether it is to be written before anything else is done.
    is_urgent: bool,
    /// What plans are told of kernels, in the iteration of that number.
    contexts: (u32, BTreeMap<CandidateId, Arc<context::Context>>),
}

impl RunSession {
    /// Works on the run until it is finished or stopped.
    ///
    /// Cancelling `cancel` stops it cleanly: nothing further is begun, running
    /// tasks may end within the options' grace, and the run can be resumed. The
    /// same happens when a limit is reached, when proposers are exhausted or
    /// the evaluator cannot work.
    ///
    /// After a stop, an evaluation that did not end within the grace may still
    /// occupy a thread of the runtime: shut the runtime down in the background.
    ///
    /// # Errors
    /// The journal cannot be written, or the run was evaluated with another
    /// evaluator. What the journal holds is safe.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime with time enabled.
    pub async fn execute(
        &mut self,
        proposer: Arc<dyn Proposer>,
        evaluator: Arc<dyn Evaluator>,
        options: &RunOptions,
        observer: &mut dyn Observer,
        cancel: &CancellationToken,
    ) -> Result<RunEnd, RunError> {
        let started = self.search.started();
        let lacks_confirmers =
            started.settings.confirm != 0 && self.confirmers.len() != started.confirmers.len();
        if evaluator.identity() != started.evaluator || lacks_confirmers {
            return Err(RunError::EvaluatorChanged {
                compiler: started.compiler.clone(),
            });
        }
        let (sender, reservations) = reservations();
        let sender: Arc<dyn ReservationJournal> = Arc::new(sender);
        proposer.journal_reservations(&sender);
        let ended = Arc::new(Notify::new());
        let mut dispatcher = Dispatcher {
            session: self,
            proposers: Crew::new(options.proposals, &ended),
            evaluators: Crew::new(options.workers, &ended),
            confirmers: Crew::new(options.workers, &ended),
            ended,
            background: proposer.background(),
            proposer,
            evaluator,
            options,
            observer,
            proposing: BTreeSet::new(),
            evaluating: BTreeMap::new(),
            confirming: BTreeSet::new(),
            abandon: CancellationToken::new(),
            stop: None,
            patience_ends: None,
            unended: Vec::new(),
            reservations,
            commit_by: None,
            is_urgent: false,
            contexts: (0, BTreeMap::new()),
        };
        let result = dispatcher.run(cancel).await;
        // Proposals that still run must not go on spending.
        dispatcher.abandon.cancel();
        if result.is_err() {
            // The error to report is the one above.
            let _ = dispatcher.session.commit();
        }
        result?;
        let stop = dispatcher.stop.take().map(|(stop, _)| stop);
        let finish = self.search.finish();
        Ok(RunEnd {
            finish,
            stop: stop.filter(|_| finish.is_none()),
            progress: self.search.progress(),
            elapsed: self.elapsed(),
        })
    }
}

impl Dispatcher<'_> {
    async fn run(&mut self, cancel: &CancellationToken) -> Result<(), RunError> {
        let wall_ends = self
            .options
            .limits
            .max_wall
            .map(|limit| Instant::now() + limit.saturating_sub(self.session.elapsed()));
        self.tell();
        loop {
            // What has ended meanwhile goes into the journal at once.
            self.take_ended()?;
            self.extend_as_recorded()?;
            while let Some(event) = self.session.search.due() {
                self.record(event)?;
                self.extend_as_recorded()?;
            }
            let is_finished = self.session.search.finish().is_some();
            // Before anything begins that builds on it, unless that is done again sooner than
            // this is written.
            if is_finished || self.is_urgent || !self.is_hurried() {
                self.commit()?;
            } else if self.commit_by.is_some_and(|by| by <= Instant::now()) {
                self.commit_behind()?;
            }
            if is_finished {
                return Ok(());
            }
            if cancel.is_cancelled() {
                self.stop_everything(StopReason::Interrupted, "interrupted".to_owned(), &[]);
            } else if wall_ends.is_some_and(|ends| ends <= Instant::now()) {
                self.stop_for_wall_time();
            }
            self.check_spending();
            self.launch()?;
            let n_evaluating = self.evaluating.len() + self.confirming.len();
            if self.proposing.is_empty() && n_evaluating == 0 {
                break;
            }
            let overdue = [
                self.proposers.overdue(),
                self.evaluators.overdue(),
                self.confirmers.overdue(),
            ];
            let overdue = overdue.into_iter().flatten().map(Instant::from_std);
            let overdue = overdue.chain(self.commit_by).min();
            let is_stopping = self.reach() == Some(Reach::Everything);
            tokio::select! {
                biased;
                () = self.ended.notified() => {}
                Some(waiting) = self.reservations.recv() => self.reserve(waiting)?,
                () = cancel.cancelled(), if !is_stopping => {}
                () = sleep_to(wall_ends), if !is_stopping && wall_ends.is_some() => {}
                () = sleep_to(self.patience_ends), if self.patience_ends.is_some() => break,
                () = sleep_to(overdue), if overdue.is_some() => {
                    self.proposers.call_all_hands();
                    self.evaluators.call_all_hands();
                    self.confirmers.call_all_hands();
                }
            }
        }
        self.abandon_proposals().await?;
        let Some((stop, _)) = &self.stop else {
            return Err(RunError::Standstill {
                iteration: self.session.search.iteration(),
            });
        };
        let event = Event::Stopped(Stopped {
            reason: stop.reason,
            message: stop.message.clone(),
            exchanges: std::mem::take(&mut self.unended),
        });
        self.record(event)?;
        self.commit()
    }

    /// Extends a run that repeats another one where that was extended.
    fn extend_as_recorded(&mut self) -> Result<(), RunError> {
        while let Some(extended) = self.session.next_extension() {
            self.record(Event::Extended(extended))?;
        }
        Ok(())
    }

    /// Gives up proposals that still run, and keeps a record of their calls.
    async fn abandon_proposals(&mut self) -> Result<(), RunError> {
        self.abandon.cancel();
        // No further call is sent.
        self.reservations.close();
        let ends = Instant::now() + ABANDONING;
        loop {
            self.take_ended()?;
            if self.proposing.is_empty() || ends <= Instant::now() {
                break;
            }
            tokio::select! {
                () = self.ended.notified() => {}
                () = sleep_until(ends) => {}
            }
        }
        let exchanges = self.proposer.take_unclaimed();
        let records = proposal::record_exchanges(exchanges, self.session.blobs())?;
        self.unended.extend(records);
        Ok(())
    }

    /// Writes down what a call may cost, and lets it go.
    fn reserve(&mut self, waiting: Waiting) -> Result<(), RunError> {
        let Waiting {
            model,
            label,
            most,
            written,
        } = waiting;
        if written.is_closed() {
            // The caller went away.
            return Ok(());
        }
        let reservation = self.session.search.next_reservation();
        self.record(Event::Reserved(Reserved {
            reservation,
            model,
            label,
            most,
        }))?;
        self.commit()?;
        // A caller that went away meanwhile leaves it unsettled: it may cost.
        let _ = written.send(reservation);
        Ok(())
    }

    fn reach(&self) -> Option<Reach> {
        self.stop.as_ref().map(|(_, reach)| *reach)
    }

    fn record(&mut self, event: Event) -> Result<(), RunError> {
        // What has cost something is written at once.
        self.is_urgent |= !event.exchanges().is_empty();
        self.commit_by
            .get_or_insert_with(|| Instant::now() + PUT_OFF);
        self.session.record_later(event)
    }

    /// Returns whether tasks are so short that what was recorded may wait a little to be
    /// written.
    fn is_hurried(&self) -> bool {
        self.proposers.is_hurried() && self.evaluators.is_hurried()
    }

    /// Forces what was recorded into the journal, and tells of it.
    fn commit(&mut self) -> Result<(), RunError> {
        self.session.commit()?;
        self.tell_kept();
        self.commit_by = None;
        self.is_urgent = false;
        Ok(())
    }

    /// Has what was recorded written while the work goes on, and tells of what was.
    fn commit_behind(&mut self) -> Result<(), RunError> {
        let writer = &mut self.session.writer;
        writer.commit_behind()?;
        self.commit_by = (!writer.is_kept()).then(|| Instant::now() + PUT_OFF);
        self.tell_kept();
        Ok(())
    }

    /// Tells of the events that have come into the journal.
    fn tell_kept(&mut self) {
        let kept = self.session.writer.take_kept();
        if kept.is_empty() {
            return;
        }
        let progress = self.session.search.progress();
        for stored in kept {
            self.notice(Some(&stored), &progress);
        }
    }

    /// Tells that something has begun or goes on.
    fn tell(&mut self) {
        let progress = self.session.search.progress();
        self.notice(None, &progress);
    }

    fn notice(&mut self, event: Option<&Stored>, progress: &Progress) {
        self.observer.notice(&Notice {
            event,
            progress,
            running: Running {
                proposals: self.proposing.len().min(self.options.proposals.max(1)),
                evaluations: (self.evaluating.len() + self.confirming.len())
                    .min(self.options.workers.max(1)),
            },
            elapsed: self.session.elapsed(),
        });
    }
}

async fn sleep_to(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
