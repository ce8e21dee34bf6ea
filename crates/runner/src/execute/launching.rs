//! How tasks are begun.

use super::context::{Context, Earlier, plan_of};
use super::{Dispatcher, Done, Judged, Reach, Verdict, crew};
use crate::error::RunError;
use crate::proposal::{self, Answered};
use crate::session::form_of;
use autocomp_agents::{
    IdeasRequest, ImplementRequest, OtherKernel, PlanRequest, ProposeError, ProposeErrorKind,
    Proposer, RepairRequest, Reply,
};
use autocomp_core::{
    CandidateId, ContentHash, Cost, Draft, Duplicates, Evaluation, MenuItem, Outcome, PlanKind,
    Scope, TaskKey,
};
use autocomp_eval::{EvalError, Evaluator};
use autocomp_search::{Search, Task};
use autocomp_store::Blobs;
use futures::FutureExt;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::runtime::Handle;

impl Dispatcher<'_> {
    /// Begins as many tasks as there is room for: evaluations first, then
    /// drafts, then plans, each in key order.
    pub(super) fn launch(&mut self) -> Result<(), RunError> {
        let reach = self.reach();
        if reach.is_some() {
            self.dismiss(reach);
        }
        if reach == Some(Reach::Everything) {
            return Ok(());
        }
        let search = &self.session.search;
        let free = self.evaluators.room().saturating_sub(self.evaluating.len());
        let evaluations: Vec<_> = search
            .ready_evaluations()
            .filter(|(_, source)| !self.evaluating.contains_key(source))
            .take(free)
            .collect();
        let free = match reach {
            None => self
                .room_for_proposals()
                .saturating_sub(self.proposing.len()),
            Some(_) => 0,
        };
        let proposals: Vec<TaskKey> = search
            .ready_proposals()
            .filter(|key| !self.proposing.contains(key))
            .take(free)
            .collect();
        let confirmations: Vec<_> = search
            .ready_confirmations()
            .into_iter()
            .filter(|(key, _)| !self.confirming.contains(key))
            .map(|(key, candidate)| (key, candidate.source))
            .collect();
        if evaluations.is_empty() && proposals.is_empty() && confirmations.is_empty() {
            return Ok(());
        }
        let mut tasks = Vec::with_capacity(confirmations.len());
        for (key, source) in confirmations {
            self.confirming.insert(key);
            tasks.push((key, self.confirmation(key, source)));
        }
        self.confirmers.take(tasks);
        let mut tasks = Vec::with_capacity(evaluations.len());
        for (key, source) in evaluations {
            self.evaluating.insert(source, key);
            tasks.push((source, self.evaluation(key, source)));
        }
        self.evaluators.take(tasks);
        let mut tasks = Vec::with_capacity(proposals.len());
        for key in proposals {
            if let Some(task) = self.session.search.proposal_task(key) {
                self.proposing.insert(key);
                tasks.push((key, self.proposal(task)?));
            }
        }
        self.proposers.take(tasks);
        self.tell();
        Ok(())
    }

    /// Returns how many proposals may be begun at a time. Those that may cost
    /// something never wait behind others: what these cost may forbid them.
    fn room_for_proposals(&self) -> usize {
        let limits = &self.options.limits;
        if limits.max_cost.is_some() || limits.max_tokens.is_some() {
            self.options.proposals.max(1)
        } else {
            self.proposers.room()
        }
    }

    /// Takes back what no thread has begun, as far as it is not to be begun any more.
    fn dismiss(&mut self, reach: Option<Reach>) {
        for key in self.proposers.dismiss() {
            self.proposing.remove(&key);
        }
        if reach == Some(Reach::Everything) {
            for source in self.evaluators.dismiss() {
                self.evaluating.remove(&source);
            }
            for key in self.confirmers.dismiss() {
                self.confirming.remove(&key);
            }
        }
    }

    fn confirmation(&self, key: TaskKey, source: ContentHash) -> crew::Task<Done> {
        let blobs = self.session.blobs().clone();
        let confirmer = Arc::clone(&self.session.confirmers[key.plan as usize]);
        Box::new(move || {
            let evaluate = || Ok(confirmer.evaluate(&blobs.get_text(source)?));
            let evaluation = catch_unwind(AssertUnwindSafe(evaluate)).unwrap_or_else(|panic| {
                let message = format!("it panicked: {}", panic_text(&*panic));
                Ok(Err(EvalError::Fault(message)))
            });
            Done::Confirmation(key, source, Box::new(evaluation))
        })
    }

    fn evaluation(&self, key: TaskKey, source: ContentHash) -> crew::Task<Done> {
        let blobs = self.session.blobs().clone();
        let evaluator = Arc::clone(&self.evaluator);
        let search = &self.session.search;
        let asks_code = search.started().settings.duplicates == Duplicates::Code;
        let codes = asks_code.then(|| search.known_codes());
        let bound = search.bound();
        Box::new(move || {
            let judge = || {
                let kernel = blobs.get_text(source)?;
                Ok(judge(&*evaluator, &kernel, codes.as_deref(), bound))
            };
            let judged = catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|panic| {
                let message = format!("it panicked: {}", panic_text(&*panic));
                Ok(Judged {
                    verdict: Err(EvalError::Fault(message)),
                    code: None,
                })
            });
            Done::Evaluation(key, source, Box::new(judged))
        })
    }

    /// Returns what every plan for a kernel is told: closed iterations alone
    /// decide it, so it is worked out once for each iteration.
    fn context_of(&mut self, parent: CandidateId) -> Arc<Context> {
        let search = &self.session.search;
        if self.contexts.0 != search.iteration() {
            self.contexts = (search.iteration(), BTreeMap::new());
        }
        let context = self.contexts.1.entry(parent);
        let context =
            context.or_insert_with(|| Arc::new(Context::of(search, parent, self.background)));
        Arc::clone(context)
    }

    /// Returns a proposal as something to be done on a thread of the crew, which
    /// also reads and keeps the texts.
    fn proposal(&mut self, task: Task) -> Result<crew::Task<Done>, RunError> {
        let context = match &task {
            Task::Plan { parent, .. } => Some(self.context_of(*parent)),
            _ => None,
        };
        let blobs = self.session.blobs().clone();
        let search = &self.session.search;
        let evaluator = Arc::clone(&self.evaluator);
        let asks_form = search.started().settings.duplicates != Duplicates::Text;
        let form_of = move |source: &str| form_of(&*evaluator, asks_form, source);
        Ok(match task {
            Task::Ideas {
                key,
                seed,
                parent,
                kernel,
                menu,
                count,
            } => {
                let evaluation = evaluation_of(search, parent);
                let texts = blobs.clone();
                let request = move || {
                    Ok(IdeasRequest {
                        key,
                        seed,
                        kernel: texts.get_text(kernel)?,
                        evaluation,
                        menu,
                        count: count as usize,
                    })
                };
                self.ask(
                    key,
                    request,
                    |proposer, request| async move { proposer.ideas(&request).await },
                    move |answer| proposal::ideas(key, answer, &blobs),
                )
            }
            Task::Plan {
                key,
                seed,
                parent,
                kernel,
                kind,
                place,
                number,
                menu,
                first_asked,
            } => {
                let reused = match kind {
                    PlanKind::Reused { step } => search.started().reused.get(step as usize),
                    _ => None,
                };
                let reused = reused.cloned();
                let other = other_kernel(search, &kind);
                let evaluation = evaluation_of(search, parent);
                let iterations = search.started().settings.iterations;
                let hidden = hidden_from(search, &menu, &evaluation);
                let texts = blobs.clone();
                let request = move || {
                    let told = context.map(|context| context.told(&texts)).transpose()?;
                    let told = told.unwrap_or_default();
                    let reused = reused.map(|record| plan_of(key, &record, &texts));
                    Ok(PlanRequest {
                        reused: reused.transpose()?,
                        key,
                        place,
                        number,
                        seed,
                        iterations,
                        kernel: texts.get_text(kernel)?,
                        evaluation,
                        ancestors: told.ancestors,
                        tried: told.tried,
                        earlier: told.earlier,
                        lessons: told.lessons,
                        first_asked,
                        other: read_other(other, &texts)?,
                        hidden,
                        kind,
                        menu,
                    })
                };
                self.ask(
                    key,
                    request,
                    |proposer, request| async move { proposer.plan(&request).await },
                    move |answer| proposal::planned(key, answer, &blobs),
                )
            }
            Task::Draft {
                key,
                seed,
                parent,
                kernel,
                kind,
                plan,
                number,
                first_asked,
            } => {
                let other = other_kernel(search, &kind);
                let evaluation = evaluation_of(search, parent);
                let earlier = Earlier::of(search, parent, &plan, self.background);
                let texts = blobs.clone();
                let request = move || {
                    let plan = plan_of(key, &plan, &texts)?;
                    Ok(ImplementRequest {
                        key,
                        seed,
                        kernel: texts.get_text(kernel)?,
                        evaluation,
                        number,
                        repeats: earlier.saying(&plan, &texts)?,
                        plan,
                        other: read_other(other, &texts)?,
                        first_asked,
                    })
                };
                self.ask(
                    key,
                    request,
                    |proposer, request| async move { proposer.implement(&request).await },
                    move |answer| proposal::drafted(key, answer, &blobs, form_of),
                )
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
                let failure = Arc::clone(failure);
                let evaluation = evaluation_of(search, parent);
                let texts = blobs.clone();
                let request = move || {
                    Ok(RepairRequest {
                        key,
                        seed,
                        attempt: key.repair,
                        kernel: texts.get_text(kernel)?,
                        evaluation,
                        plan: plan_of(key, &plan, &texts)?,
                        draft: Draft {
                            source: texts.get_text(draft.source)?,
                            proposer: draft.proposer,
                        },
                        failure: Evaluation::clone(&failure),
                    })
                };
                self.ask(
                    key,
                    request,
                    |proposer, request| async move { proposer.repair(&request).await },
                    move |answer| proposal::drafted(key, answer, &blobs, form_of),
                )
            }
            other => unreachable!("{other:?} is no task of a proposer"),
        })
    }

    /// Returns the question to a proposer as something to be done on a thread.
    fn ask<R, T, F>(
        &self,
        key: TaskKey,
        request: impl FnOnce() -> Result<R, RunError> + Send + 'static,
        ask: impl FnOnce(Arc<dyn Proposer>, R) -> F + Send + 'static,
        keep: impl FnOnce(Result<Reply<T>, ProposeError>) -> Result<Answered, RunError> + Send + 'static,
    ) -> crew::Task<Done>
    where
        F: Future<Output = Result<Reply<T>, ProposeError>>,
    {
        let proposer = Arc::clone(&self.proposer);
        let abandon = self.abandon.clone();
        Box::new(move || {
            match request() {
                Err(error) => Done::Proposal(key, Err(error)),
                Ok(request) => Handle::current().block_on(async {
                    // Proposers may panic before they return a future, too.
                    let answer = async move { ask(proposer, request).await };
                    let answer = AssertUnwindSafe(answer).catch_unwind();
                    tokio::select! {
                        biased;
                        answer = answer => {
                            Done::Proposal(key, keep(answer.unwrap_or_else(panicked)))
                        }
                        () = abandon.cancelled() => Done::Abandoned(key),
                    }
                }),
            }
        })
    }
}

/// Evaluates a kernel, unless it has the machine code of one of `known`.
fn judge(
    evaluator: &dyn Evaluator,
    kernel: &str,
    known: Option<&BTreeMap<ContentHash, ContentHash>>,
    bound: Option<Cost>,
) -> Judged {
    let code = known.map_or(Ok(None), |_| evaluator.machine_code(kernel));
    let code = match code {
        Ok(code) => code,
        Err(error) => {
            return Judged {
                verdict: Err(error),
                code: None,
            };
        }
    };
    let same = known.zip(code).and_then(|(known, code)| known.get(&code));
    let verdict = match same {
        Some(source) => Ok(Verdict::SameAs(*source)),
        None => evaluator
            .evaluate_within(kernel, bound)
            .map(|it| Verdict::Evaluated(Arc::new(it))),
    };
    Judged { verdict, code }
}

fn evaluation_of(search: &Search, id: CandidateId) -> Arc<Evaluation> {
    let candidate = search
        .candidate(id)
        .expect("the parent of a task is a candidate");
    Arc::clone(&candidate.evaluation)
}

/// Returns why a kernel failed, or the first sentences on what limits it.
pub(crate) fn finding(evaluation: &Evaluation) -> &str {
    // How an evaluator came to its end may differ from time to time, and is no
    // fault of the kernel: prompts that told it would differ, too.
    if evaluation.outcome == Outcome::Fault {
        return "";
    }
    if let Some(diagnostic) = evaluation.diagnostics.first() {
        return &diagnostic.message;
    }
    let feedback = evaluation.feedback.as_ref();
    feedback.map_or("", |feedback| &feedback.bottleneck)
}

/// Returns the steps of the run's menu that are not in `menu` and may fit a kernel.
fn hidden_from(search: &Search, menu: &[MenuItem], evaluation: &Evaluation) -> Vec<MenuItem> {
    let all = search.started().menu.iter();
    let is_step = |item: &&MenuItem| matches!(item.scope, Scope::Step | Scope::Translation);
    let is_seen = |item: &MenuItem| menu.iter().any(|it| it.id == item.id);
    let may_fit = |item: &MenuItem| item.fits(evaluation) != Some(false);
    all.filter(|item| is_step(item) && !is_seen(item) && may_fit(item))
        .cloned()
        .collect()
}

/// Returns the second kernel of a plan that is about two.
fn other_kernel(search: &Search, kind: &PlanKind) -> Option<(ContentHash, Arc<Evaluation>)> {
    let PlanKind::Reserved {
        other: Some(other), ..
    } = kind
    else {
        return None;
    };
    let candidate = search.candidate(*other);
    let candidate = candidate.expect("the other kernel of a plan is a candidate");
    Some((candidate.source, Arc::clone(&candidate.evaluation)))
}

fn read_other(
    other: Option<(ContentHash, Arc<Evaluation>)>,
    blobs: &Blobs,
) -> Result<Option<OtherKernel>, RunError> {
    let read = |(source, evaluation): (_, Arc<Evaluation>)| {
        Ok(OtherKernel {
            kernel: blobs.get_text(source)?,
            evaluation: Evaluation::clone(&evaluation),
        })
    };
    other.map(read).transpose()
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
