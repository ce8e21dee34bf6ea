//! How tasks are begun.

use super::{Dispatcher, Done, Reach};
use crate::error::RunError;
use crate::recording::read_plan;
use autocomp_agents::{
    Ancestor, ImplementRequest, Kinship, OtherKernel, PlanRequest, ProposeError, ProposeErrorKind,
    Proposer, RepairRequest, Reply, Tried,
};
use autocomp_core::{
    CandidateId, ContentHash, Draft, Evaluation, MenuItem, Outcome, PlanKind, PlanRecord, Scope,
    TaskKey,
};
use autocomp_eval::EvalError;
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
        if reach == Some(Reach::Everything) {
            return Ok(());
        }
        let search = &self.session.search;
        let free = self
            .options
            .workers
            .max(1)
            .saturating_sub(self.evaluating.len());
        let evaluations: Vec<_> = search
            .ready_evaluations()
            .filter(|(_, source)| !self.evaluating.contains_key(source))
            .take(free)
            .collect();
        let free = self
            .options
            .proposals
            .max(1)
            .saturating_sub(self.proposing.len());
        let proposals: Vec<TaskKey> = search
            .ready_proposals()
            .filter(|key| !self.proposing.contains(key))
            .take(if reach.is_none() { free } else { 0 })
            .collect();
        let has_begun = !(evaluations.is_empty() && proposals.is_empty());
        for (key, source) in evaluations {
            self.begin_evaluation(key, source)?;
        }
        for key in proposals {
            if let Some(task) = self.session.search.proposal_task(key) {
                self.begin_proposal(task)?;
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
            Done::Evaluation(key, source, Box::new(evaluation))
        });
        Ok(())
    }

    /// Returns what every plan for a kernel is told: closed iterations alone
    /// decide it, so it is worked out once for each iteration.
    fn context_of(&mut self, parent: CandidateId) -> Result<Context, RunError> {
        let search = &self.session.search;
        let blobs = self.session.writer.blobs();
        if self.contexts.0 != search.iteration() {
            self.contexts = (search.iteration(), BTreeMap::new());
        }
        if let Some(context) = self.contexts.1.get(&parent) {
            return Ok(context.clone());
        }
        let context = Context {
            ancestors: ancestors_of(search, parent, blobs)?.into(),
            tried: tried_near(search, parent, blobs)?.into(),
        };
        self.contexts.1.insert(parent, context.clone());
        Ok(context)
    }

    fn begin_proposal(&mut self, task: Task) -> Result<(), RunError> {
        let context = match &task {
            Task::Plan { parent, .. } => self.context_of(*parent)?,
            _ => Context::default(),
        };
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
                kind,
                menu,
            } => {
                let reused = match kind {
                    PlanKind::Reused { step } => search.started().reused.get(step as usize),
                    _ => None,
                };
                let request = PlanRequest {
                    reused: reused.map(|record| plan_of(key, record)).transpose()?,
                    key,
                    seed,
                    iterations: search.started().settings.iterations,
                    kernel: blobs.get_text(kernel)?,
                    evaluation: evaluation_of(search, parent),
                    ancestors: context.ancestors,
                    tried: context.tried,
                    other: other_kernel(search, &kind, &blobs)?,
                    hidden: hidden_from(search, &menu),
                    kind,
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
                kind,
                plan,
            } => {
                let request = ImplementRequest {
                    key,
                    seed,
                    kernel: blobs.get_text(kernel)?,
                    evaluation: evaluation_of(search, parent),
                    plan: plan_of(key, &plan)?,
                    other: other_kernel(search, &kind, &blobs)?,
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
}

/// What plans for a kernel are told beside it.
#[derive(Clone, Default)]
pub(super) struct Context {
    ancestors: Arc<[Ancestor]>,
    tried: Arc<[Tried]>,
}

fn evaluation_of(search: &Search, id: CandidateId) -> Evaluation {
    let candidate = search
        .candidate(id)
        .expect("the parent of a task is a candidate");
    Evaluation::clone(&candidate.evaluation)
}

/// Attempts that a request for a plan brings at most; proposers may show fewer.
const MOST_TRIED: usize = 16;

/// Returns what was tried on a candidate and its relatives.
fn tried_near(search: &Search, id: CandidateId, blobs: &Blobs) -> Result<Vec<Tried>, RunError> {
    let near = search.attempts_near(id).into_iter().take(MOST_TRIED);
    near.map(|(attempt, kinship)| {
        let plan = read_plan(&attempt.plan, blobs).map_err(|reason| RunError::BadPlan {
            task: attempt.key.to_plan().to_string(),
            reason,
        })?;
        let before = search.candidate(attempt.parent);
        let before = before.expect("attempts are made on candidates");
        let evaluation = attempt.source.and_then(|source| search.evaluation(source));
        Ok(Tried {
            on: match kinship {
                autocomp_search::Kinship::Itself => Kinship::Itself,
                autocomp_search::Kinship::Parent => Kinship::Parent,
                autocomp_search::Kinship::Sibling => Kinship::Sibling,
            },
            menu_item: plan.menu_item,
            plan: plan.text,
            outcome: evaluation.map(|it| it.outcome),
            cost: evaluation.and_then(|it| it.cost()).map(|it| it.value),
            cost_before: before.cost.value,
            is_same: attempt.source == Some(before.source),
            finding: evaluation.map_or_else(String::new, |it| finding(it).to_owned()),
        })
    })
    .collect()
}

/// Returns why a kernel failed, or the first sentences on what limits it.
fn finding(evaluation: &Evaluation) -> &str {
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

/// Returns the steps of the run's menu that are not in `menu`.
fn hidden_from(search: &Search, menu: &[MenuItem]) -> Vec<MenuItem> {
    let all = search.started().menu.iter();
    all.filter(|item| item.scope == Scope::Step && !menu.contains(item))
        .cloned()
        .collect()
}

/// Returns the second kernel of a plan that is about two.
fn other_kernel(
    search: &Search,
    kind: &PlanKind,
    blobs: &Blobs,
) -> Result<Option<OtherKernel>, RunError> {
    let PlanKind::Reserved {
        other: Some(other), ..
    } = kind
    else {
        return Ok(None);
    };
    let candidate = search.candidate(*other);
    let candidate = candidate.expect("the other kernel of a plan is a candidate");
    Ok(Some(OtherKernel {
        kernel: blobs.get_text(candidate.source)?,
        evaluation: Evaluation::clone(&candidate.evaluation),
    }))
}

/// Returns the kernels that the candidate `id` came from, the baseline first.
fn ancestors_of(
    search: &Search,
    id: CandidateId,
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
                cost: Some(pair[0].cost.value),
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
