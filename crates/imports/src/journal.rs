//! A run of others as a journal of this program.

use crate::OldRun;
use crate::tree::Node;
use autocomp_core::{
    CandidateId, ContentHash, Cost, Diagnostic, DraftRecord, Drafted, EVENT_FORMAT, Evaluated,
    Evaluation, Event, Feedback, FinishReason, Finished, IterationOpened, Measurement, MenuItem,
    Outcome, Plan, PlanRecord, Planned, Proposal, Purpose, RunStarted, SearchSettings, Seed, Stage,
    TaskKey, Unit,
};
use autocomp_search::{ApplyError, Search, SearchError};
use autocomp_store::{RunWriter, StoreError};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// The menu item of all plans: which one of its menu the original chose stands in their texts
/// alone.
const ITEM: &str = "imported";
/// Plans for one kernel at most, so that a crafted folder makes no run that cannot be shown.
const MOST_DRAFTS: usize = 20_000;

/// Highest cost of a kernel: eleven days in nanoseconds.
const HIGHEST_COST: f64 = 1e15;

/// What the run is called here.
#[derive(Clone, Debug)]
pub struct Naming {
    /// Name of the problem.
    pub problem: String,
    /// Name of the target.
    pub target: String,
    /// What a latency of 1 is.
    pub unit: Unit,
    /// How many of `unit`.
    pub per_latency: f64,
    /// Whether a line that only moved to the right or left has changed.
    pub meaningful_indentation: bool,
    /// Version of this program.
    pub program: String,
    /// The settings of a run that goes on from it (a TOML file).
    pub settings: String,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Kernels, the baseline included.
    pub kernels: usize,
    /// Of these, the right ones.
    pub right: usize,
    /// Iterations.
    pub iterations: u32,
    /// Cost of the baseline.
    pub baseline: Option<Cost>,
    /// Cost of the best kernel.
    pub best: Option<Cost>,
    /// What does not map, one line each.
    pub unmapped: Vec<String>,
}

/// Why a run cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The settings are out of range.
    #[error("its settings are not those of a run: {0}")]
    Settings(#[from] SearchError),
    /// Events do not follow from each other.
    #[error("its course is not that of a run: {0}")]
    Course(#[from] ApplyError),
    /// The baseline has no cost.
    #[error(
        "the kernel that it began with was not evaluated right, so nothing can be compared with it"
    )]
    Baseline,
    /// It is too large.
    #[error("an iteration has {0} kernels, and {MOST_DRAFTS} are taken at most")]
    TooLarge(usize),
}

/// Writes the run into `folder`, which must be absent or empty.
///
/// # Errors
/// See [`WriteError`].
pub fn write_run(mut old: OldRun, naming: &Naming, folder: &Path) -> Result<Imported, WriteError> {
    old.join_equal();
    if old
        .tree
        .nodes
        .first()
        .is_none_or(|it| cost(it, naming).is_none())
    {
        return Err(WriteError::Baseline);
    }
    let was_there = folder.exists();
    let writer = RunWriter::create(folder)?;
    let written = write(&old, naming, writer);
    if written.is_err() {
        // Half a run is none, and would be in the way of the next try.
        let _ = std::fs::remove_dir_all(folder);
        if was_there {
            let _ = std::fs::create_dir(folder);
        }
    }
    written
}

/// Returns what a kernel costs, if that can be.
fn cost(node: &Node, naming: &Naming) -> Option<Cost> {
    let value = (node.score? * naming.per_latency).round();
    let can_be = !node.is_wrong && (1.0..=HIGHEST_COST).contains(&value);
    can_be.then(|| match naming.unit {
        Unit::Cycles => Cost::cycles(value as u64),
        Unit::Nanoseconds => Cost::nanoseconds(value as u64, 0),
    })
}

fn write(old: &OldRun, naming: &Naming, mut writer: RunWriter) -> Result<Imported, WriteError> {
    let mut imported = Imported {
        kernels: old.tree.nodes.len(),
        unmapped: old.unmapped.clone(),
        ..Imported::default()
    };
    if 0 < old.tree.n_mended {
        imported.unmapped.push(format!(
            "{} texts had lost backslashes when the original read them back, and stand as they were written first",
            old.tree.n_mended
        ));
    }
    let n_odd = old.tree.nodes.iter();
    let n_odd = n_odd.filter(|it| !it.is_wrong && it.score.is_some() && cost(it, naming).is_none());
    match n_odd.count() {
        0 => {}
        count => imported.unmapped.push(format!(
            "{count} kernels with a cost that no kernel has, which are taken for wrong"
        )),
    }
    let n_denied = old.tree.nodes.iter();
    let n_denied = n_denied.filter(|it| it.is_wrong && it.score.is_some());
    match n_denied.count() {
        0 => {}
        count => imported.unmapped.push(format!(
            "the costs of {count} kernels that an evaluation calls wrong, which are wrong here"
        )),
    }
    let mut course = Course::begin(old, naming, &mut writer)?;
    imported.baseline = course.search.candidates().first().map(|it| it.cost);
    let iterations = old
        .tree
        .nodes
        .iter()
        .map(|it| it.iteration)
        .max()
        .unwrap_or(0);
    for iteration in 1..=iterations {
        course.iteration(iteration, &mut imported)?;
    }
    imported.iterations = course.search.iteration();
    let right = old.tree.nodes.iter();
    imported.right = right.filter(|it| cost(it, naming).is_some()).count();
    let best = course
        .search
        .candidates()
        .iter()
        .min_by_key(|it| (it.cost, it.id));
    let best = best.map(|it| (it.id, it.cost));
    imported.best = best.map(|it| it.1);
    let finished = Finished {
        reason: FinishReason::Iterations,
        best: best.map(|it| it.0),
        best_cost: imported.best,
        evaluations: course.search.n_evaluations(),
    };
    course.append(Event::Finished(finished))?;
    writer.close()?;
    Ok(imported)
}

/// Texts of plans, and the nodes that are drafts of each.
type Plans<'a> = Vec<(&'a str, Vec<usize>)>;

struct Course<'a> {
    old: &'a OldRun,
    naming: &'a Naming,
    writer: &'a mut RunWriter,
    search: Search,
    /// The candidate of each node that is one.
    ids: HashMap<usize, CandidateId>,
}

impl<'a> Course<'a> {
    /// Writes what the run is, and the evaluation of its baseline.
    fn begin(
        old: &'a OldRun,
        naming: &'a Naming,
        writer: &'a mut RunWriter,
    ) -> Result<Self, WriteError> {
        let baseline = &old.tree.nodes[0];
        let source = writer.blobs().put(baseline.code.as_bytes())?;
        let started = RunStarted {
            format: EVENT_FORMAT,
            program: naming.program.clone(),
            target: naming.target.clone(),
            problem: naming.problem.clone(),
            // That of nobody here, so that nothing is compared with what is measured here.
            evaluator: ContentHash::of(b"autocomp import"),
            compiler: "unknown (imported)".to_owned(),
            meaningful_indentation: naming.meaningful_indentation,
            proposers: models(&old.metadata),
            seed: Seed(0),
            settings: settings(old),
            menu: vec![MenuItem {
                id: ITEM.to_owned(),
                text: "What the plan says".to_owned(),
                ..MenuItem::default()
            }],
            baseline: source,
            taken: Vec::new(),
            reused: Vec::new(),
            forms: Vec::new(),
            confirmers: Vec::new(),
            lessons: Vec::new(),
            spec: Some(writer.blobs().put(naming.settings.as_bytes())?),
        };
        let search = Search::new(started.clone())?;
        writer.append_later(Event::Started(started), 0)?;
        let mut course = Self {
            old,
            naming,
            writer,
            search,
            ids: HashMap::from([(0, CandidateId(0))]),
        };
        let evaluation = course.evaluation(baseline);
        if evaluation.outcome != Outcome::Ok {
            return Err(WriteError::Baseline);
        }
        course.append(Event::Evaluated(Evaluated {
            key: TaskKey::BASELINE,
            source,
            evaluation: Arc::new(evaluation),
            same_as: None,
            code: None,
            lacks: Vec::new(),
        }))?;
        Ok(course)
    }

    fn append(&mut self, event: Event) -> Result<(), WriteError> {
        self.search.apply(&event)?;
        self.writer.append_later(event, 0)?;
        Ok(())
    }

    /// Writes an iteration of the original, unless nothing was made in it.
    fn iteration(&mut self, iteration: u32, imported: &mut Imported) -> Result<(), WriteError> {
        let nodes = self.old.tree.nodes.iter().enumerate();
        let nodes: Vec<usize> = nodes
            .filter(|(_, it)| it.iteration == iteration)
            .map(|it| it.0)
            .collect();
        if nodes.is_empty() {
            return Ok(());
        }
        if MOST_DRAFTS < nodes.len() {
            return Err(WriteError::TooLarge(nodes.len()));
        }
        let number = self.search.iteration() + 1;
        // For each parent the plans, and for each plan the drafts.
        let mut places: Vec<(CandidateId, Plans<'_>)> = Vec::new();
        for &node in &nodes {
            let parent = self.right_parent(node, imported);
            let plan = self.old.tree.nodes[node]
                .plan
                .as_deref()
                .unwrap_or_default();
            let place = match places.iter().position(|(id, _)| *id == parent) {
                Some(place) => place,
                None => {
                    places.push((parent, Vec::new()));
                    places.len() - 1
                }
            };
            let plans = &mut places[place].1;
            match plans.iter_mut().find(|(text, _)| *text == plan) {
                Some((_, drafts)) => drafts.push(node),
                None => plans.push((plan, vec![node])),
            }
        }
        let slots =
            |plans: &Vec<(&str, Vec<usize>)>| plans.iter().map(|it| it.1.len() as u32).collect();
        self.append(Event::IterationOpened(IterationOpened {
            iteration: number,
            parents: places.iter().map(|it| it.0).collect(),
            slots: places.iter().map(|it| slots(&it.1)).collect(),
            repairs: 0,
            kinds: Vec::new(),
            ideas: Vec::new(),
            bound: None,
        }))?;
        let mut sources: BTreeMap<ContentHash, usize> = BTreeMap::new();
        for (place, (_, plans)) in places.iter().enumerate() {
            for (plan, (text, drafts)) in plans.iter().enumerate() {
                self.plan(number, (place, plan), text, drafts, &mut sources)?;
            }
        }
        self.evaluations(iteration, &sources)?;
        for candidate in self.search.candidates() {
            if let Some(node) = sources.get(&candidate.source) {
                self.ids.entry(*node).or_insert(candidate.id);
            }
        }
        Ok(())
    }

    /// Returns the candidate that a node was made from: if that one is not right, the next right
    /// one before it.
    fn right_parent(&self, node: usize, imported: &mut Imported) -> CandidateId {
        let mut parent = self.old.tree.nodes[node].parent;
        let first = parent;
        while let Some(at) = parent {
            if let Some(id) = self.ids.get(&at) {
                if parent != first {
                    imported.unmapped.push(format!(
                        "a kernel of iteration {} was made from one that is not right, and is shown as made from the right one before it",
                        self.old.tree.nodes[node].iteration
                    ));
                }
                return *id;
            }
            parent = self.old.tree.nodes[at].parent;
        }
        CandidateId(0)
    }

    /// Writes a plan and its drafts, and notes which node each source is of.
    fn plan(
        &mut self,
        iteration: u32,
        (place, plan): (usize, usize),
        text: &str,
        drafts: &[usize],
        sources: &mut BTreeMap<ContentHash, usize>,
    ) -> Result<(), WriteError> {
        let key = |draft: usize, purpose| TaskKey {
            iteration,
            parent: place as u32,
            plan: plan as u32,
            draft: draft as u32,
            repair: 0,
            purpose,
        };
        let unknown = || "unknown".to_owned();
        let first: &Node = &self.old.tree.nodes[drafts[0]];
        let made = Plan {
            menu_item: ITEM.to_owned(),
            text: text.trim().to_owned(),
            payload: String::new(),
            proposer: first.planner.clone().unwrap_or_else(unknown),
        };
        let json = serde_json::to_string(&made).unwrap_or_default();
        let record = PlanRecord {
            menu_item: ITEM.to_owned(),
            proposer: made.proposer,
            plan: self.writer.blobs().put(json.as_bytes())?,
        };
        self.append(Event::Planned(Planned {
            key: key(0, Purpose::Plan),
            result: Proposal::Made(record),
            exchanges: Vec::new(),
        }))?;
        for (draft, &node) in drafts.iter().enumerate() {
            let of_node: &Node = &self.old.tree.nodes[node];
            let source = self.writer.blobs().put(of_node.code.as_bytes())?;
            sources.entry(source).or_insert(node);
            let record = DraftRecord {
                proposer: of_node.coder.clone().unwrap_or_else(unknown),
                source,
                form: None,
            };
            self.append(Event::Drafted(Drafted {
                key: key(draft, Purpose::Draft),
                result: Proposal::Made(record),
                exchanges: Vec::new(),
            }))?;
        }
        Ok(())
    }

    /// Writes the evaluations of an iteration and its end, with the survivors of the original.
    fn evaluations(
        &mut self,
        iteration: u32,
        sources: &BTreeMap<ContentHash, usize>,
    ) -> Result<(), WriteError> {
        loop {
            let next = self.search.ready_evaluations().next();
            if let Some((key, source)) = next {
                let node = sources.get(&source).map(|it| &self.old.tree.nodes[*it]);
                let evaluation = node.map_or_else(
                    || self.evaluation(&Node::default()),
                    |it| self.evaluation(it),
                );
                self.append(Event::Evaluated(Evaluated {
                    key,
                    source,
                    evaluation: Arc::new(evaluation),
                    same_as: None,
                    code: None,
                    lacks: Vec::new(),
                }))?;
                continue;
            }
            match self.search.due() {
                Some(Event::IterationClosed(mut closed)) => {
                    let number_of = |node: &usize| {
                        let source = ContentHash::of(self.old.tree.nodes[*node].code.as_bytes());
                        let new = closed.candidates.iter().find(|it| it.source == source);
                        new.map(|it| it.id).or_else(|| self.search.id_of(source))
                    };
                    let beam = self.old.beams.get(&iteration).into_iter().flatten();
                    let mut survivors: Vec<CandidateId> = beam.filter_map(number_of).collect();
                    let mut seen = std::collections::BTreeSet::new();
                    survivors.retain(|id| seen.insert(*id));
                    if !survivors.is_empty() {
                        closed.beam = survivors;
                    }
                    return self.append(Event::IterationClosed(closed));
                }
                Some(event @ Event::Evaluated(_)) => self.append(event)?,
                // An iteration that is open ends with its tasks.
                _ => return Ok(()),
            }
        }
    }

    fn evaluation(&self, node: &Node) -> Evaluation {
        let key = ContentHash::of(node.code.as_bytes());
        let feedback = (!node.feedback.is_empty()).then(|| Feedback {
            bottleneck: node.feedback.clone(),
            ..Feedback::default()
        });
        let Some(cost) = cost(node, self.naming) else {
            let message = match node.failure.as_deref() {
                Some(message) if !message.is_empty() => message.to_owned(),
                _ => "nothing tells how it failed".to_owned(),
            };
            return Evaluation {
                key,
                outcome: match node.is_unbuilt {
                    true => Outcome::BuildFailed,
                    false => Outcome::Wrong,
                },
                diagnostics: vec![Diagnostic::error(
                    match node.is_unbuilt {
                        true => Stage::Build,
                        false => Stage::Test,
                    },
                    "imported",
                    message,
                )],
                measurement: None,
                feedback,
                tiers: Vec::new(),
                worker: None,
                device: None,
            };
        };
        let mut floor = cost;
        floor.value = 0;
        Evaluation {
            key,
            outcome: Outcome::Ok,
            diagnostics: Vec::new(),
            measurement: Some(Measurement {
                cost,
                // What the hardware could do is not known.
                floor,
                percent_of_peak: 0.0,
                samples: Vec::new(),
                ratio_to_baseline: None,
                engine: Measurement::ELSEWHERE.to_owned(),
                compiler: "unknown".to_owned(),
                figures: BTreeMap::new(),
            }),
            feedback,
            tiers: Vec::new(),
            worker: None,
            device: None,
        }
    }
}

/// Returns the models of a run.
fn models(metadata: &Value) -> Vec<String> {
    let named = |field: &str, suffix: &str| -> Vec<String> {
        let models = metadata.get(field).and_then(Value::as_array);
        let models = models.into_iter().flatten().filter_map(Value::as_str);
        models.map(|it| format!("{it}{suffix}")).collect()
    };
    let mut all = named("plan_models", "");
    if metadata.get("plan_models") != metadata.get("code_models") {
        all.extend(named("code_models", " (code)"));
    }
    if all.is_empty() {
        all.push("unknown".to_owned());
    }
    all
}

/// Returns the settings that have a counterpart here, as far as they are within bounds.
fn settings(old: &OldRun) -> SearchSettings {
    let field = |name: &str, usual: u32, most: u32| {
        let value = old.metadata.get(name).and_then(Value::as_u64);
        let value = value.and_then(|it| u32::try_from(it).ok());
        value.unwrap_or(usual).clamp(1, most)
    };
    let iterations = old.tree.nodes.iter().map(|it| it.iteration).max();
    // There it is the share of the menu that is kept.
    let kept = old.metadata.get("dropout_menu_options");
    let kept = kept.and_then(Value::as_f64);
    let kept = kept.filter(|it| 0.0 < *it && *it <= 1.0);
    let usual = SearchSettings::default();
    SearchSettings {
        menu_dropout: kept.map_or(usual.menu_dropout, |it| 1.0 - it),
        beam: field("beam_size", 4, 64),
        plans: field("num_plan_candidates", 4, 64),
        drafts: field("num_code_candidates", 2, 16),
        iterations: iterations.unwrap_or(1).max(1),
        patience: 0,
        polish: 0,
        repairs: 0,
        ..usual
    }
}
