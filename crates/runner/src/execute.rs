//! The dispatcher: starts tasks, takes their outcomes, journals them.
//!
//! One task of the async runtime owns all state. Proposers and evaluators run
//! on the runtime's blocking threads, so one that computes for long (the
//! rewriter, a simulation) holds up nobody else.

use crate::end::{RunEnd, Stop};
use crate::error::RunError;
use crate::observer::{Notice, Observer, Running};
use crate::options::RunOptions;
use crate::proposal::{self, Answered};
use crate::recording::read_plan;
use crate::session::RunSession;
use autocomp_agents::{
    Ancestor, ImplementRequest, PlanRequest, ProposeError, ProposeErrorKind, Proposer,
    RepairRequest, Reply,
};
use autocomp_core::{
    ContentHash, Draft, Evaluated, Evaluation, Event, ExchangeRecord, Outcome, Plan, PlanRecord,
    StopReason, Stopped, TaskKey,
};
use autocomp_eval::{EvalError, Evaluator};
use autocomp_search::Task;
use autocomp_store::{Blobs, Stored};
use futures::FutureExt;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long to wait for proposals that were given up: those that wait for a
/// model end at once, those that compute cannot be interrupted.
const ABANDONING: Duration = Duration::from_secs(2);

/// What a task came to.
enum Done {
    Plan(TaskKey, Result<Reply<Plan>, ProposeError>),
    Draft(TaskKey, Result<Reply<Draft>, ProposeError>),
    Evaluation(TaskKey, ContentHash, Result<Evaluation, EvalError>),
    /// A proposal was given up after a stop.
    Abandoned(TaskKey),
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
    tasks: JoinSet<Done>,
    proposing: BTreeSet<TaskKey>,
    evaluating: BTreeMap<ContentHash, TaskKey>,
    abandon: CancellationToken,
    stop: Option<(Stop, Reach)>,
    /// When running tasks are abandoned.
    patience_ends: Option<Instant>,
    /// Calls of models made for tasks that did not end.
    unended: Vec<ExchangeRecord>,
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
        let baseline = self.blobs().get_text(started.baseline)?;
        if evaluator.key(&baseline) != started.evaluator {
            return Err(RunError::EvaluatorChanged {
                compiler: started.compiler.clone(),
            });
        }
        let mut dispatcher = Dispatcher {
            session: self,
            proposer,
            evaluator,
            options,
            observer,
            tasks: JoinSet::new(),
            proposing: BTreeSet::new(),
            evaluating: BTreeMap::new(),
            abandon: CancellationToken::new(),
            stop: None,
            patience_ends: None,
            unended: Vec::new(),
        };
        let result = dispatcher.run(cancel).await;
        // Proposals that still run must not go on spending.
        dispatcher.abandon.cancel();
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
        self.tell(None);
        loop {
            while let Some(event) = self.session.search.due() {
                self.record(&event)?;
            }
            if self.session.search.finish().is_some() {
                return Ok(());
            }
            if cancel.is_cancelled() {
                self.stop_everything(StopReason::Interrupted, "interrupted".to_owned(), &[]);
            } else if wall_ends.is_some_and(|ends| ends <= Instant::now()) {
                self.stop_for_wall_time();
            }
            self.check_spending();
            self.launch()?;
            if self.tasks.is_empty() {
                break;
            }
            let is_stopping = self.reach() == Some(Reach::Everything);
            tokio::select! {
                biased;
                Some(done) = self.tasks.join_next() => {
                    self.take(done.expect("tasks catch their panics and are not aborted"))?;
                }
                () = cancel.cancelled(), if !is_stopping => {}
                () = sleep_to(wall_ends), if !is_stopping && wall_ends.is_some() => {}
                () = sleep_to(self.patience_ends), if self.patience_ends.is_some() => break,
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
        self.record(&event)
    }

    /// Gives up proposals that still run, and keeps a record of their calls.
    async fn abandon_proposals(&mut self) -> Result<(), RunError> {
        self.abandon.cancel();
        let ends = Instant::now() + ABANDONING;
        while !self.proposing.is_empty() {
            let done = tokio::select! {
                done = self.tasks.join_next() => done,
                () = sleep_until(ends) => None,
            };
            let Some(done) = done else { break };
            self.take(done.expect("tasks catch their panics and are not aborted"))?;
        }
        let exchanges = self.proposer.take_unclaimed();
        let records = proposal::record_exchanges(exchanges, self.session.blobs())?;
        self.unended.extend(records);
        Ok(())
    }

    fn reach(&self) -> Option<Reach> {
        self.stop.as_ref().map(|(_, reach)| *reach)
    }

    fn record(&mut self, event: &Event) -> Result<(), RunError> {
        let stored = self.session.record(event)?;
        self.tell(Some(&stored));
        Ok(())
    }

    fn tell(&mut self, event: Option<&Stored>) {
        let progress = self.session.search.progress();
        self.observer.notice(&Notice {
            event,
            progress: &progress,
            running: Running {
                proposals: self.proposing.len(),
                evaluations: self.evaluating.len(),
            },
            elapsed: self.session.elapsed(),
        });
    }

    fn stop_everything(&mut self, reason: StopReason, message: String, remedies: &[String]) {
        if self.reach() == Some(Reach::Everything) {
            return;
        }
        self.patience_ends = Some(Instant::now() + self.options.grace);
        let stop = Stop {
            reason,
            message,
            remedies: remedies.to_vec(),
        };
        self.stop = Some((stop, Reach::Everything));
    }

    fn stop_proposals(&mut self, reason: StopReason, message: String, remedies: &[String]) {
        if self.stop.is_none() {
            let stop = Stop {
                reason,
                message,
                remedies: remedies.to_vec(),
            };
            self.stop = Some((stop, Reach::Proposals));
        }
    }

    fn stop_for_wall_time(&mut self) {
        let limit = self.options.limits.max_wall.unwrap_or_default();
        self.stop_everything(
            StopReason::WallTime,
            format!(
                "the time limit of {:.1} minutes is reached",
                limit.as_secs_f64() / 60.0
            ),
            &["resume the run with a longer limit to go on".to_owned()],
        );
    }

    fn check_spending(&mut self) {
        let mut usage = self.session.search.usage();
        for exchange in &self.unended {
            usage.add(&exchange.usage);
        }
        let tokens = usage.input_tokens + usage.cached_tokens + usage.output_tokens;
        let limits = &self.options.limits;
        let message = if let Some(limit) = limits.max_cost
            && limit <= usage.cost
        {
            let dollars = |amount: u64| amount as f64 / 1e6;
            format!(
                "the models have cost ${:.4}, and the limit is ${:.4}",
                dollars(usage.cost.0),
                dollars(limit.0)
            )
        } else if let Some(limit) = limits.max_tokens
            && limit <= tokens
        {
            format!("the models have used {tokens} tokens, and the limit is {limit}")
        } else {
            return;
        };
        let remedy = "resume the run with a higher limit to go on".to_owned();
        self.stop_proposals(StopReason::Cost, message, &[remedy]);
    }

    /// Begins as many tasks as there is room for: evaluations first, then
    /// drafts, then plans, each in key order.
    fn launch(&mut self) -> Result<(), RunError> {
        let reach = self.reach();
        if reach == Some(Reach::Everything) {
            return Ok(());
        }
        let mut tasks = self.session.search.ready();
        tasks.sort_by_key(|task| match task {
            Task::Evaluate { .. } => 0,
            Task::Draft { .. } | Task::Repair { .. } => 1,
            _ => 2,
        });
        let mut has_begun = false;
        for task in tasks {
            match task {
                Task::Evaluate { key, source } => {
                    if self.evaluating.len() < self.options.workers.max(1)
                        && !self.evaluating.contains_key(&source)
                    {
                        self.begin_evaluation(key, source)?;
                        has_begun = true;
                    }
                }
                task => {
                    if reach.is_none()
                        && self.proposing.len() < self.options.proposals.max(1)
                        && !self.proposing.contains(&task.key())
                    {
                        self.begin_proposal(task)?;
                        has_begun = true;
                    }
                }
            }
        }
        if has_begun {
            self.tell(None);
        }
        Ok(())
    }

    fn begin_evaluation(&mut self, key: TaskKey, source: ContentHash) -> Result<(), RunError> {
        let kernel = self.session.blobs().get_text(source)?;
        let evaluator = Arc::clone(&self.evaluator);
        self.evaluating.insert(source, key);
        self.tasks.spawn_blocking(move || {
            let evaluation = catch_unwind(AssertUnwindSafe(|| evaluator.evaluate(&kernel)))
                .unwrap_or_else(|panic| {
                    Err(EvalError::Fault(format!(
                        "it panicked: {}",
                        panic_text(&*panic)
                    )))
                });
            Done::Evaluation(key, source, evaluation)
        });
        Ok(())
    }

    fn begin_proposal(&mut self, task: Task) -> Result<(), RunError> {
        let blobs = self.session.blobs().clone();
        let search = &self.session.search;
        let plan_of = |key: TaskKey, record: &PlanRecord| {
            read_plan(record, &blobs).map_err(|reason| RunError::BadPlan {
                task: key.to_plan().to_string(),
                reason,
            })
        };
        match task {
            Task::Plan {
                key,
                seed,
                parent,
                kernel,
                menu,
            } => {
                let request = PlanRequest {
                    key,
                    seed,
                    iterations: search.started().settings.iterations,
                    kernel: blobs.get_text(kernel)?,
                    evaluation: evaluation_of(search, parent),
                    ancestors: ancestors_of(search, parent, &blobs)?,
                    menu,
                };
                let ask =
                    |proposer: Arc<dyn Proposer>| async move { proposer.plan(&request).await };
                self.propose(key, ask, Done::Plan);
            }
            Task::Draft {
                key,
                seed,
                parent,
                kernel,
                plan,
            } => {
                let request = ImplementRequest {
                    key,
                    seed,
                    kernel: blobs.get_text(kernel)?,
                    evaluation: evaluation_of(search, parent),
                    plan: plan_of(key, &plan)?,
                };
                let ask =
                    |proposer: Arc<dyn Proposer>| async move { proposer.implement(&request).await };
                self.propose(key, ask, Done::Draft);
            }
            Task::Repair {
                key,
                seed,
                parent,
                kernel,
                plan,
                draft,
            } => {
                let failure = search.evaluation(draft.source);
                let failure = failure.expect("a draft is repaired after its evaluation");
                let request = RepairRequest {
                    key,
                    seed,
                    attempt: key.repair,
                    kernel: blobs.get_text(kernel)?,
                    evaluation: evaluation_of(search, parent),
                    plan: plan_of(key, &plan)?,
                    draft: Draft {
                        source: blobs.get_text(draft.source)?,
                        proposer: draft.proposer,
                    },
                    failure: Evaluation::clone(failure),
                };
                let ask =
                    |proposer: Arc<dyn Proposer>| async move { proposer.repair(&request).await };
                self.propose(key, ask, Done::Draft);
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks the proposer on a thread of its own.
    fn propose<T, F>(
        &mut self,
        key: TaskKey,
        ask: impl FnOnce(Arc<dyn Proposer>) -> F + Send + 'static,
        done: fn(TaskKey, Result<Reply<T>, ProposeError>) -> Done,
    ) where
        F: Future<Output = Result<Reply<T>, ProposeError>>,
        T: 'static,
    {
        self.proposing.insert(key);
        let proposer = Arc::clone(&self.proposer);
        let abandon = self.abandon.clone();
        let handle = Handle::current();
        self.tasks.spawn_blocking(move || {
            handle.block_on(async {
                let answer = AssertUnwindSafe(ask(proposer)).catch_unwind();
                tokio::select! {
                    biased;
                    answer = answer => done(key, answer.unwrap_or_else(panicked)),
                    () = abandon.cancelled() => Done::Abandoned(key),
                }
            })
        });
    }

    /// Takes the outcome of a task.
    fn take(&mut self, done: Done) -> Result<(), RunError> {
        let answered = match done {
            Done::Abandoned(key) => {
                self.proposing.remove(&key);
                return Ok(());
            }
            Done::Evaluation(key, source, evaluation) => {
                self.evaluating.remove(&source);
                return self.take_evaluation(key, source, evaluation);
            }
            Done::Plan(key, answer) => {
                self.proposing.remove(&key);
                proposal::planned(key, answer, self.session.blobs())?
            }
            Done::Draft(key, answer) => {
                self.proposing.remove(&key);
                proposal::drafted(key, answer, self.session.blobs())?
            }
        };
        match answered {
            Answered::Ended(event) => self.record(&event),
            Answered::Exhausted { message, exchanges } => {
                self.unended.extend(exchanges);
                let remedy = "resume the run when the models can be called again".to_owned();
                self.stop_proposals(StopReason::Exhausted, message, &[remedy]);
                Ok(())
            }
        }
    }

    fn take_evaluation(
        &mut self,
        key: TaskKey,
        source: ContentHash,
        evaluation: Result<Evaluation, EvalError>,
    ) -> Result<(), RunError> {
        match evaluation {
            Ok(evaluation)
                if (evaluation.outcome == Outcome::Ok) == evaluation.measurement.is_some() =>
            {
                self.record(&Event::Evaluated(Evaluated {
                    key,
                    source,
                    evaluation,
                }))
            }
            Ok(evaluation) => {
                self.fault(
                    key,
                    source,
                    &format!(
                        "outcome `{}` and a measurement that {} there contradict each other",
                        evaluation.outcome,
                        if evaluation.measurement.is_some() {
                            "is"
                        } else {
                            "is not"
                        },
                    ),
                );
                Ok(())
            }
            Err(EvalError::Environment { message, remedies }) => {
                self.stop_everything(StopReason::Environment, message, &remedies);
                Ok(())
            }
            Err(error) => {
                self.fault(key, source, &error.to_string());
                Ok(())
            }
        }
    }

    fn fault(&mut self, key: TaskKey, source: ContentHash, message: &str) {
        let file = self.session.blobs().path(source);
        tracing::error!(task = %key, %source, message, "the evaluator contradicts itself");
        self.stop_everything(
            StopReason::Fault,
            format!("{message} (task {key}, kernel {})", source.short()),
            &[format!(
                "report it with the kernel, in {} (zstd)",
                file.display()
            )],
        );
    }
}

fn evaluation_of(search: &autocomp_search::Search, id: autocomp_core::CandidateId) -> Evaluation {
    let candidate = search
        .candidate(id)
        .expect("the parent of a task is a candidate");
    Evaluation::clone(&candidate.evaluation)
}

/// Returns the kernels that the candidate `id` came from, the baseline first.
fn ancestors_of(
    search: &autocomp_search::Search,
    id: autocomp_core::CandidateId,
    blobs: &Blobs,
) -> Result<Vec<Ancestor>, RunError> {
    let steps = search.lineage(id);
    steps
        .windows(2)
        .map(|pair| {
            // Every kernel but the baseline came from a plan.
            let record = pair[1].plan.as_ref();
            let plan = record.map(|record| read_plan(record, blobs)).transpose();
            let plan = plan.map_err(|reason| RunError::BadPlan {
                task: pair[1].key.to_plan().to_string(),
                reason,
            })?;
            Ok(Ancestor {
                kernel: blobs.get_text(pair[0].source)?,
                cycles: Some(pair[0].cycles.0),
                menu_item: plan
                    .as_ref()
                    .map_or_else(String::new, |plan| plan.menu_item.clone()),
                plan: plan.map_or_else(String::new, |plan| plan.text),
            })
        })
        .collect()
}

fn panicked<T>(panic: Box<dyn std::any::Any + Send>) -> Result<T, ProposeError> {
    Err(ProposeError {
        kind: ProposeErrorKind::Failed,
        message: format!("the proposer panicked: {}", panic_text(&*panic)),
        exchanges: Vec::new(),
    })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

async fn sleep_to(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
