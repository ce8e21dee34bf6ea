//! Every kernel that a run evaluated: where it came from, and what became of it.

use autocomp_core::{
    CandidateId, ContentHash, Cost, CostObject, Drafted, Evaluation, Event, ExchangeRecord,
    Outcome, Plan, PlanKind, PlanRecord, Planned, Proposal, Purpose, TaskKey, Usage,
};
use autocomp_search::Search;
use autocomp_store::Stored;
use serde::{Serialize, Serializer};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// One kernel that was evaluated.
#[derive(Clone, Debug, Serialize)]
pub struct Kernel {
    /// Its short name: `c27` for a candidate, the name of its task (`i2.b0.p3.d0`) for a
    /// kernel that is not right or whose iteration is open.
    pub name: String,
    /// Its number, if it is a candidate.
    pub id: Option<CandidateId>,
    /// The task that evaluated it, without `.eval`.
    pub task: String,
    /// The same as a key.
    #[serde(skip)]
    pub key: TaskKey,
    /// Iteration, 0 for the baseline.
    pub iteration: u32,
    /// Index of the kernel that it was made from.
    pub parent: Option<usize>,
    /// What the plan was for: `baseline`, `step`, `polish` or `set aside`.
    pub kind: &'static str,
    /// The menu item chosen.
    pub menu_item: Option<String>,
    /// Who made the plan.
    pub planner: Option<String>,
    /// Who wrote the code.
    pub coder: Option<String>,
    /// What happened to it.
    pub outcome: Outcome,
    /// What ranks it, if it is right.
    #[serde(serialize_with = "cost_object")]
    pub cost: Option<Cost>,
    /// Percent of peak, if it is right.
    pub percent_of_peak: Option<f64>,
    /// The parent's cost by its own.
    pub gain: Option<f64>,
    /// Which evaluation it was, from 1.
    pub evaluation_number: u32,
    /// How long the run had been worked on, in milliseconds.
    pub elapsed_ms: u64,
    /// Later drafts with the same source, or equal to it but for their text.
    pub repeats: u32,
    /// The iterations whose beam it was chosen for.
    pub beams: Vec<u32>,
    /// Whether it is on the way to the best kernel.
    pub in_chain: bool,
    /// Calls of models for its plan and its code.
    pub calls: u32,
    /// What they used. Kernels of one plan share its calls, so this does not add up.
    pub usage: Usage,
    /// Name of its source among the run's texts.
    pub source: ContentHash,
    /// Name of its plan among the run's texts.
    pub plan: Option<ContentHash>,
    /// The calls, those for the plan first.
    #[serde(skip)]
    pub exchanges: Vec<ExchangeRecord>,
    /// The whole evaluation.
    #[serde(skip)]
    pub evaluation: Arc<Evaluation>,
}

/// Serialises a cost as an object or null.
pub(crate) fn cost_object<S: Serializer>(
    cost: &Option<Cost>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    cost.map(CostObject::from).serialize(serializer)
}

impl Kernel {
    /// Returns who made it, in a word or two: the planner, and the coder if that is another.
    #[must_use]
    pub fn made_by(&self) -> String {
        match (&self.planner, &self.coder) {
            (Some(planner), Some(coder)) if planner != coder => format!("{planner}, {coder}"),
            (Some(one), _) | (None, Some(one)) => one.clone(),
            (None, None) => "problem".to_owned(),
        }
    }
}

/// Reads a plan; nothing if its text is missing or damaged.
pub(crate) fn plan_text(blobs: &autocomp_store::Blobs, plan: ContentHash) -> Option<String> {
    let json = blobs.get_text(plan).ok()?;
    Some(serde_json::from_str::<Plan>(&json).ok()?.text)
}

/// What the events said about the tasks so far.
#[derive(Clone, Debug, Default)]
struct Tasks {
    plans: HashMap<TaskKey, PlanRecord>,
    coders: HashMap<TaskKey, String>,
    exchanges: HashMap<TaskKey, Vec<ExchangeRecord>>,
    parents: HashMap<(u32, u32), CandidateId>,
    kinds: HashMap<(u32, u32, u32), &'static str>,
}

impl Tasks {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Planned(Planned {
                key,
                result,
                exchanges,
            }) => {
                if let Proposal::Made(plan) = result {
                    self.plans.insert(*key, plan.clone());
                }
                self.note_exchanges(*key, exchanges);
            }
            Event::Drafted(Drafted {
                key,
                result,
                exchanges,
            }) => {
                if let Proposal::Made(draft) = result {
                    self.coders.insert(*key, draft.proposer.clone());
                }
                self.note_exchanges(*key, exchanges);
            }
            Event::IterationOpened(opened) => {
                let parents = (0..).zip(&opened.parents);
                self.parents
                    .extend(parents.map(|(place, id)| ((opened.iteration, place), *id)));
                for (place, kinds) in (0..).zip(&opened.kinds) {
                    let kinds = (0..).zip(kinds).map(|(plan, kind)| {
                        let name = match kind {
                            PlanKind::Step => "step",
                            PlanKind::Reserved { .. } => "set aside",
                            PlanKind::Exhaustive { .. } => "exhaustive",
                            PlanKind::Polish { .. } => "polish",
                            PlanKind::Reused { .. } => "reuse",
                        };
                        ((opened.iteration, place, plan), name)
                    });
                    self.kinds.extend(kinds);
                }
            }
            _ => {}
        }
    }

    fn note_exchanges(&mut self, key: TaskKey, exchanges: &[ExchangeRecord]) {
        if !exchanges.is_empty() {
            self.exchanges.insert(key, exchanges.to_vec());
        }
    }

    /// Returns the calls for a kernel's plan, its draft and the repairs up to it.
    fn exchanges_of(&self, key: TaskKey) -> Vec<ExchangeRecord> {
        let drafts = (0..=key.repair).map(|repair| {
            let purpose = if repair == 0 {
                Purpose::Draft
            } else {
                Purpose::Repair
            };
            TaskKey {
                repair,
                purpose,
                ..key
            }
        });
        let tasks = std::iter::once(key.to_plan()).chain(drafts);
        let of = |task| self.exchanges.get(&task).into_iter().flatten();
        tasks.flat_map(of).cloned().collect()
    }
}

/// Keeps the kernels of a run up with its journal: what new events do not touch stays as it
/// is, so that taking them in takes as long as there are new ones, not as the run is long.
#[derive(Clone, Debug, Default)]
pub(crate) struct KernelFold {
    tasks: Tasks,
    places: HashMap<ContentHash, usize>,
    /// Kernels to look at again.
    touched: BTreeSet<usize>,
}

impl KernelFold {
    /// Takes an event in; returns whether it brought a kernel that was not there before, which
    /// is then the last of `kernels`. `search` has taken in all events already.
    pub(crate) fn note(
        &mut self,
        stored: &Stored,
        search: &Search,
        kernels: &mut Vec<Kernel>,
    ) -> bool {
        self.tasks.note(&stored.event);
        match &stored.event {
            Event::IterationOpened(opened) if opened.iteration == 1 => {
                // Kernels that the run begins with have their numbers from here on.
                self.touched.extend(0..kernels.len());
                false
            }
            Event::IterationClosed(closed) => {
                let new = closed
                    .candidates
                    .iter()
                    .filter_map(|it| self.places.get(&it.source));
                self.touched.extend(new);
                for id in &closed.beam {
                    let Some(place) = self.place_of(*id, search) else {
                        continue;
                    };
                    let beams = &mut kernels[place].beams;
                    if beams.last() != Some(&closed.iteration) {
                        beams.push(closed.iteration);
                    }
                }
                false
            }
            Event::Evaluated(it) => {
                if let Some(place) = self.places.get(&it.same_as.unwrap_or(it.source)) {
                    let kernel = &mut kernels[*place];
                    kernel.repeats += 1;
                    kernel.key = kernel.key.min(it.key);
                    self.touched.insert(*place);
                    return false;
                }
                let Some(evaluation) = search.evaluation(it.source) else {
                    return false;
                };
                self.places.insert(it.source, kernels.len());
                self.touched.insert(kernels.len());
                kernels.push(Kernel {
                    name: String::new(),
                    id: None,
                    task: String::new(),
                    key: it.key,
                    iteration: it.key.iteration,
                    parent: None,
                    kind: "baseline",
                    menu_item: None,
                    planner: None,
                    coder: None,
                    outcome: evaluation.outcome,
                    cost: evaluation.cost(),
                    percent_of_peak: evaluation.measurement.as_ref().map(|it| it.percent_of_peak),
                    gain: None,
                    evaluation_number: kernels.len() as u32 + 1,
                    elapsed_ms: stored.elapsed_ms,
                    repeats: 0,
                    beams: Vec::new(),
                    in_chain: false,
                    calls: 0,
                    usage: Usage::default(),
                    source: it.source,
                    plan: None,
                    exchanges: Vec::new(),
                    evaluation: Arc::clone(evaluation),
                });
                true
            }
            _ => false,
        }
    }

    /// Returns the place of a candidate among the kernels.
    pub(crate) fn place_of(&self, id: CandidateId, search: &Search) -> Option<usize> {
        let candidate = search.candidate(id)?;
        self.places.get(&candidate.source).copied()
    }

    /// Returns the place of the kernel with a source.
    pub(crate) fn place_of_source(&self, source: ContentHash) -> Option<usize> {
        self.places.get(&source).copied()
    }

    /// Settles where the kernels stand that events have touched.
    pub(crate) fn settle(&mut self, search: &Search, kernels: &mut [Kernel]) {
        for place in std::mem::take(&mut self.touched) {
            self.settle_one(place, search, kernels);
        }
    }

    fn settle_one(&self, place: usize, search: &Search, kernels: &mut [Kernel]) {
        let tasks = &self.tasks;
        let kernel = &kernels[place];
        let candidate = search
            .id_of(kernel.source)
            .and_then(|id| search.candidate(id));
        let key = candidate.map_or(kernel.key, |it| it.key);
        let parent = match candidate {
            Some(candidate) => candidate.parent,
            None => tasks.parents.get(&(key.iteration, key.parent)).copied(),
        };
        let parent = parent
            .and_then(|id| self.place_of(id, search))
            .filter(|parent| *parent != place);
        let parent_cost = parent.and_then(|parent| kernels[parent].cost);
        let kernel = &mut kernels[place];
        let task = key.to_string();
        kernel.task = task.strip_suffix(".eval").unwrap_or(&task).to_owned();
        kernel.key = key;
        kernel.iteration = key.iteration;
        kernel.id = candidate.map(|it| it.id);
        kernel.name = match kernel.id {
            Some(id) => id.to_string(),
            None => kernel.task.clone(),
        };
        kernel.parent = parent;
        kernel.gain = kernel
            .cost
            .zip(parent_cost)
            .map(|(cost, before)| cost.times(before));
        if key.purpose == Purpose::Baseline {
            return;
        }
        let plan = tasks.plans.get(&key.to_plan());
        kernel.kind = tasks
            .kinds
            .get(&(key.iteration, key.parent, key.plan))
            .copied()
            .unwrap_or("step");
        kernel.menu_item = plan.map(|plan| plan.menu_item.clone());
        kernel.planner = plan.map(|plan| plan.proposer.clone());
        kernel.plan = plan.map(|plan| plan.plan);
        kernel.coder = tasks.coders.get(&key.to_draft()).cloned();
        kernel.exchanges = tasks.exchanges_of(key);
        kernel.calls = kernel.exchanges.len() as u32;
        kernel.usage = Usage::default();
        for exchange in &kernel.exchanges {
            kernel.usage.add(&exchange.usage);
        }
    }
}
