//! What plans for a kernel are told beside it: where it came from, and what was tried.
//!
//! What is to be told follows from the state of the search and is noted by the dispatcher;
//! the texts are read by the first thread that asks for them, once for all plans.

use super::launching::finding;
use crate::error::RunError;
use crate::recording::read_plan;
use autocomp_agents::{Ancestor, Background, Kinship, Tried};
use autocomp_core::{
    CandidateId, ContentHash, Cost, EarlierDraft, Lesson, Outcome, Plan, PlanRecord, TaskKey,
};
use autocomp_search::{Attempt, Search};
use autocomp_store::Blobs;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What plans for one kernel are told beside it, in one iteration.
pub(super) struct Context {
    ancestors: Vec<Before>,
    tried: Vec<Attempted>,
    earlier: Vec<Asked>,
    lessons: Arc<[Lesson]>,
    told: Mutex<Option<Told>>,
}

/// The same with its texts.
#[derive(Clone, Default)]
pub(super) struct Told {
    pub(super) ancestors: Arc<[Ancestor]>,
    pub(super) tried: Arc<[Tried]>,
    pub(super) earlier: Arc<[EarlierDraft]>,
    pub(super) lessons: Arc<[Lesson]>,
}

/// A kernel that the one planned for came from, and the plan that led on from it.
struct Before {
    kernel: ContentHash,
    cost: Cost,
    plan: Option<PlanRecord>,
    task: TaskKey,
}

/// A draft that was asked for before.
struct Asked {
    task: TaskKey,
    plan: PlanRecord,
    /// The kernel that it was asked for, if it was another one.
    other: Option<ContentHash>,
    is_wrong: bool,
}

/// An attempt on the kernel or a relative.
struct Attempted {
    task: TaskKey,
    plan: PlanRecord,
    /// Without the texts of its plan.
    tried: Tried,
}

impl Context {
    /// Notes what is to be told of the candidate `id`, as much as `background` says.
    pub(super) fn of(search: &Search, id: CandidateId, background: Background) -> Self {
        let tried = match background.tried {
            0 => Vec::new(),
            most => search.attempts_near(id, most),
        };
        let tried = tried.into_iter();
        let is_wrong = |it: &Attempt| {
            let made = it.source.and_then(|source| search.evaluation(source));
            made.is_some_and(|it| it.outcome == Outcome::Wrong)
        };
        let own = search.attempts_on(id).map(|it| (it, None));
        let others = search.failed_elsewhere(id).filter_map(|it| {
            let other = search.candidate(it.parent)?;
            Some((it, Some(other.source)))
        });
        let earlier = own.chain(others).filter(|_| background.earlier);
        Self {
            ancestors: ancestors_of(search, id, background.ancestors),
            tried: tried
                .map(|(attempt, kinship)| attempted(search, attempt, kinship))
                .collect(),
            earlier: earlier
                .map(|(it, other)| Asked {
                    task: it.key,
                    plan: it.plan.clone(),
                    other,
                    is_wrong: is_wrong(it),
                })
                .collect(),
            lessons: search.started().lessons.clone().into(),
            told: Mutex::new(None),
        }
    }

    /// Returns it with its texts.
    pub(super) fn told(&self, blobs: &Blobs) -> Result<Told, RunError> {
        // Nothing is noted before all of it is there.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = &*told {
            return Ok(told.clone());
        }
        let ancestors = self.ancestors.iter().map(|it| it.told(blobs));
        let tried = self.tried.iter().map(|it| it.told(blobs));
        let mut others: BTreeMap<ContentHash, Arc<str>> = BTreeMap::new();
        let earlier = self.earlier.iter().map(|asked| {
            let failed_on = match asked.other {
                None => None,
                Some(other) => Some(match others.get(&other) {
                    Some(known) => Arc::clone(known),
                    None => {
                        let text: Arc<str> = blobs.get_text(other)?.into();
                        others.insert(other, Arc::clone(&text));
                        text
                    }
                }),
            };
            Ok(EarlierDraft {
                failed_on,
                is_wrong: asked.is_wrong,
                payload: plan_of(asked.task, &asked.plan, blobs)?.payload,
                draft: asked.task.draft,
            })
        });
        let earlier = earlier.collect::<Result<Vec<_>, RunError>>()?.into_iter();
        let made = Told {
            earlier: earlier.filter(|it| !it.payload.is_empty()).collect(),
            ancestors: ancestors.collect::<Result<_, RunError>>()?,
            tried: tried.collect::<Result<_, RunError>>()?,
            lessons: Arc::clone(&self.lessons),
        };
        Ok(told.insert(made).clone())
    }
}

impl Before {
    fn told(&self, blobs: &Blobs) -> Result<Ancestor, RunError> {
        let record = self.plan.as_ref();
        let plan = record.map(|record| plan_of(self.task, record, blobs));
        let (menu_item, plan) = match plan.transpose()? {
            Some(plan) => (plan.menu_item, plan.text),
            None => Default::default(),
        };
        Ok(Ancestor {
            kernel: blobs.get_text(self.kernel)?,
            cost: Some(self.cost.value),
            menu_item,
            plan,
        })
    }
}

impl Attempted {
    fn told(&self, blobs: &Blobs) -> Result<Tried, RunError> {
        let plan = plan_of(self.task, &self.plan, blobs)?;
        Ok(Tried {
            menu_item: plan.menu_item,
            plan: plan.text,
            ..self.tried.clone()
        })
    }
}

/// The plans of one menu item that drafts of a kernel were asked for by, in closed iterations.
pub(super) struct Earlier(Vec<(TaskKey, PlanRecord)>);

impl Earlier {
    pub(super) fn of(
        search: &Search,
        id: CandidateId,
        plan: &PlanRecord,
        background: Background,
    ) -> Self {
        let attempts = search.attempts_on(id).filter(|_| background.repeats);
        let same = attempts.filter(|it| it.plan.menu_item == plan.menu_item);
        Self(same.map(|it| (it.key, it.plan.clone())).collect())
    }

    /// Returns how many of the plans have the words of `plan`.
    pub(super) fn saying(&self, plan: &Plan, blobs: &Blobs) -> Result<u32, RunError> {
        let words = |plan: &Plan| -> Vec<String> {
            plan.text.split_whitespace().map(str::to_owned).collect()
        };
        let wanted = words(plan);
        let mut count = 0;
        for (task, record) in &self.0 {
            count += u32::from(words(&plan_of(*task, record, blobs)?) == wanted);
        }
        Ok(count)
    }
}

pub(super) fn plan_of(task: TaskKey, record: &PlanRecord, blobs: &Blobs) -> Result<Plan, RunError> {
    read_plan(record, blobs).map_err(|reason| RunError::BadPlan {
        task: task.to_plan().to_string(),
        reason,
    })
}

/// Returns the last `most` kernels that the candidate `id` came from, the oldest first.
fn ancestors_of(search: &Search, id: CandidateId, most: usize) -> Vec<Before> {
    let mut ancestors = Vec::new();
    let mut next = search.candidate(id);
    while let Some(candidate) = next
        && let Some(parent) = candidate.parent.and_then(|id| search.candidate(id))
        && ancestors.len() < most
    {
        ancestors.push(Before {
            kernel: parent.source,
            cost: parent.cost,
            plan: candidate.plan.clone(),
            task: candidate.key,
        });
        next = Some(parent);
    }
    ancestors.reverse();
    ancestors
}

fn attempted(
    search: &Search,
    attempt: &autocomp_search::Attempt,
    kinship: autocomp_search::Kinship,
) -> Attempted {
    let before = search.candidate(attempt.parent);
    let before = before.expect("attempts are made on candidates");
    let evaluation = attempt.source.and_then(|source| search.evaluation(source));
    let source = attempt.source.and_then(|source| search.id_of(source));
    Attempted {
        task: attempt.key,
        plan: attempt.plan.clone(),
        tried: Tried {
            on: match kinship {
                autocomp_search::Kinship::Itself => Kinship::Itself,
                autocomp_search::Kinship::Parent => Kinship::Parent,
                autocomp_search::Kinship::Sibling => Kinship::Sibling,
            },
            menu_item: String::new(),
            plan: String::new(),
            outcome: evaluation.map(|it| it.outcome),
            cost: evaluation.and_then(|it| it.cost()),
            cost_before: before.cost,
            is_same: source == Some(before.id),
            finding: evaluation.map_or_else(String::new, |it| finding(it).to_owned()),
        },
    }
}
