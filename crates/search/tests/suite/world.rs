//! A toy landscape for the search, without threads.

use autocomp_core::{
    Confirmed, Confirmer, ContentHash, Cost, DraftRecord, Drafted, EVENT_FORMAT, Evaluated,
    Evaluation, Event, Feedback, Ideas, Measurement, MenuItem, Outcome, PlanKind, PlanRecord,
    Planned, Proposal, RunStarted, Scope, SearchSettings, Seed,
};
use autocomp_search::{Search, Task};
use std::collections::BTreeMap;

/// Kernels are points in the plane. The ground falls towards (20, 30), but for
/// a ridge at x = 8 that has to be crossed uphill.
pub type Point = (i64, i64);

pub const BEST: Point = (20, 30);

pub fn cycles((x, y): Point) -> u64 {
    let ridge = if (8..10).contains(&x) { 60 } else { 0 };
    1000 + 10 * (x.abs_diff(BEST.0) + y.abs_diff(BEST.1)) + ridge
}

/// The world beside the search: what hashes stand for.
pub struct World {
    pub points: BTreeMap<ContentHash, Point>,
    /// The longest step along each axis.
    pub step: usize,
    /// Menu items for which plans are set aside.
    pub set_aside: Vec<MenuItem>,
    /// What no kernel can cost less than.
    pub floor: u64,
    /// In how many ways each kernel can be written.
    pub spellings: usize,
    /// Whether confirmers find fault with every third point.
    pub is_faulty: bool,
    /// The schedule that is reused.
    pub reused: Vec<PlanRecord>,
    /// How much of a kernel is translated, in percent, if that is measured.
    pub translated: Option<fn(Point) -> f64>,
    /// Menu items that a kernel says nothing of.
    pub lacks: fn(Point) -> Vec<String>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            points: BTreeMap::new(),
            step: 3,
            set_aside: Vec::new(),
            floor: 1000,
            spellings: 1,
            is_faulty: false,
            reused: Vec::new(),
            translated: None,
            lacks: |_| Vec::new(),
        }
    }
}

impl World {
    pub fn name(&mut self, point: Point) -> ContentHash {
        let hash = ContentHash::of(format!("{point:?}").as_bytes());
        self.points.insert(hash, point);
        hash
    }

    /// Names a point as one of its spellings says.
    fn spell(&mut self, point: Point, seed: &mut Seed) -> DraftRecord {
        let spelling = match self.spellings {
            1 => 0,
            spellings => seed.below(spellings),
        };
        let source = match spelling {
            0 => self.name(point),
            _ => {
                let hash = ContentHash::of(format!("{point:?} {spelling}").as_bytes());
                self.points.insert(hash, point);
                hash
            }
        };
        DraftRecord {
            proposer: "toy".to_owned(),
            source,
            form: (1 < self.spellings).then(|| form_of(point)),
        }
    }

    /// Does a task: plans draw a step, drafts take it, evaluations look at the ground.
    pub fn perform(&mut self, task: &Task) -> Event {
        match task {
            Task::Plan {
                key,
                kind: PlanKind::Reused { step },
                ..
            } => Event::Planned(Planned {
                key: *key,
                result: Proposal::Made(self.reused[*step as usize].clone()),
                exchanges: Vec::new(),
            }),
            Task::Plan {
                key,
                seed,
                menu,
                kind,
                kernel,
                ..
            } => {
                let lacking = (self.lacks)(self.points[kernel]);
                let is_lacking = menu.iter().any(|it| lacking.contains(&it.id));
                assert!(*kind != PlanKind::Step || !is_lacking, "{menu:?}");
                let mut seed = *seed;
                let result = if seed.below(10) == 0 {
                    Proposal::Failed {
                        message: "no plan".to_owned(),
                    }
                } else {
                    let menu_item = menu[seed.below(menu.len())].id.clone();
                    let most = self.step as i64;
                    let mut draw = || seed.below(2 * self.step + 1) as i64 - most;
                    let step = (draw(), draw());
                    let proposer = "toy".to_owned();
                    Proposal::Made(PlanRecord {
                        menu_item,
                        proposer,
                        plan: self.name(step),
                    })
                };
                Event::Planned(Planned {
                    key: *key,
                    result,
                    exchanges: Vec::new(),
                })
            }
            Task::Draft {
                key,
                kernel,
                plan,
                seed,
                kind,
                ..
            } => {
                let mut seed = *seed;
                let ((x, y), (dx, dy)) = (self.points[kernel], self.points[&plan.plan]);
                let is_reused = matches!(kind, PlanKind::Reused { .. });
                let result = if !is_reused && seed.below(10) == 0 {
                    Proposal::Nothing {
                        message: "no code".to_owned(),
                    }
                } else {
                    Proposal::Made(self.spell((x + dx, y + dy), &mut seed))
                };
                Event::Drafted(Drafted {
                    key: *key,
                    result,
                    exchanges: Vec::new(),
                })
            }
            Task::Ideas {
                key, seed, count, ..
            } => {
                let mut seed = *seed;
                let result = if seed.below(4) == 0 {
                    Proposal::Failed {
                        message: "no idea".to_owned(),
                    }
                } else {
                    let item = |number| MenuItem {
                        id: format!("idea-{number}"),
                        ..MenuItem::default()
                    };
                    Proposal::Made((0..*count).map(item).collect())
                };
                Event::Ideas(Ideas {
                    key: *key,
                    result,
                    exchanges: Vec::new(),
                })
            }
            Task::Evaluate { key, source, bound } => {
                let mut evaluation = evaluate(*source, self.points[source], self.floor);
                if let Some(translated) = self.translated {
                    let percent = translated(self.points[source]);
                    let counters = [(Feedback::TRANSLATED.to_owned(), percent)].into();
                    evaluation.feedback = Some(Feedback {
                        counters,
                        ..Feedback::default()
                    });
                }
                Event::Evaluated(Evaluated {
                    key: *key,
                    source: *source,
                    evaluation: evaluation.within(*bound).into(),
                    same_as: None,
                    code: None,
                    lacks: (self.lacks)(self.points[source]),
                })
            }
            Task::Repair { key, draft, .. } => {
                let (x, y) = self.points[&draft.source];
                assert!(x < 0 || y < 0);
                // Every attempt brings the point one step back to sound ground.
                let step = |it: i64| if it < 0 { it + 1 } else { it };
                let result = Proposal::Made(self.spell((step(x), step(y)), &mut Seed(1)));
                Event::Drafted(Drafted {
                    key: *key,
                    result,
                    exchanges: Vec::new(),
                })
            }
            Task::Confirm { key, source } => {
                let point = self.points[source];
                let mut evaluation = evaluate(*source, point, self.floor);
                if self.is_faulty && (point.0 + 2 * point.1 + i64::from(key.plan)) % 3 == 0 {
                    evaluation.outcome = Outcome::Wrong;
                    evaluation.measurement = None;
                }
                Event::Confirmed(Confirmed {
                    key: *key,
                    source: *source,
                    evaluation: evaluation.into(),
                })
            }
            _ => panic!("an unknown task"),
        }
    }
}

pub fn form_of(point: Point) -> ContentHash {
    ContentHash::of(format!("form of {point:?}").as_bytes())
}

pub fn evaluate(key: ContentHash, point: Point, floor: u64) -> Evaluation {
    let is_wrong = point.0 < 0 || point.1 < 0;
    let cycles = Cost::cycles(cycles(point));
    Evaluation {
        key,
        outcome: if is_wrong {
            Outcome::Wrong
        } else {
            Outcome::Ok
        },
        diagnostics: Vec::new(),
        measurement: (!is_wrong).then(|| Measurement {
            cost: cycles,
            figures: [(
                "instructions".to_owned(),
                point.0 as u64 * 1000 + point.1 as u64,
            )]
            .into(),
            samples: Vec::new(),
            ratio_to_baseline: None,
            floor: Cost::cycles(floor),
            percent_of_peak: 100.0 * floor as f64 / cycles.value as f64,
            engine: "toy".to_owned(),
            compiler: "toy".to_owned(),
        }),
        feedback: None,
        tiers: Vec::new(),
        worker: None,
        device: None,
    }
}

pub fn started(world: &mut World, settings: SearchSettings, seed: u64) -> RunStarted {
    let item = |id: &str| MenuItem {
        id: id.to_owned(),
        text: String::new(),
        ..MenuItem::default()
    };
    RunStarted {
        format: EVENT_FORMAT,
        program: "0.1.0".to_owned(),
        target: "toy".to_owned(),
        problem: "toy/plane".to_owned(),
        evaluator: ContentHash::of(b"toy"),
        compiler: "toy".to_owned(),
        meaningful_indentation: false,
        proposers: vec!["toy".to_owned()],
        seed: Seed(seed),
        settings,
        menu: ["a", "b", "c", MenuItem::OTHER]
            .map(item)
            .into_iter()
            .chain(world.set_aside.clone())
            .collect(),
        baseline: world.name((0, 0)),
        taken: Vec::new(),
        confirmers: ["new inputs", "other machine"]
            .map(|name| Confirmer {
                name: name.to_owned(),
                evaluator: ContentHash::of(name.as_bytes()),
            })
            .into(),
        reused: world.reused.clone(),
        forms: match world.spellings {
            1 => Vec::new(),
            _ => vec![Some(form_of((0, 0)))],
        },
        lessons: Vec::new(),
        spec: None,
    }
}

/// Runs a search to its end. Of the tasks that may run, `order` draws the next.
pub fn run(settings: SearchSettings, seed: u64, order: Seed) -> (Search, Vec<Event>) {
    run_in(World::default(), settings, seed, order)
}

pub fn run_in(
    mut world: World,
    settings: SearchSettings,
    seed: u64,
    mut order: Seed,
) -> (Search, Vec<Event>) {
    let started = started(&mut world, settings, seed);
    let mut search = Search::new(started.clone()).unwrap();
    let mut events = vec![Event::Started(started)];
    go_on(&mut world, &mut search, &mut events, &mut order);
    (search, events)
}

/// Brings a search to its end.
pub fn go_on(world: &mut World, search: &mut Search, events: &mut Vec<Event>, order: &mut Seed) {
    loop {
        while let Some(event) = search.due() {
            search.apply(&event).unwrap();
            events.push(event);
        }
        let tasks = search.ready();
        if tasks.is_empty() {
            break;
        }
        let event = world.perform(&tasks[order.below(tasks.len())]);
        search.apply(&event).unwrap();
        events.push(event);
    }
}

pub fn settings() -> SearchSettings {
    SearchSettings {
        beam: 4,
        plans: 4,
        drafts: 2,
        iterations: 6,
        newcomers: 1,
        patience: 0,
        max_evaluations: None,
        ..SearchSettings::default()
    }
}

/// Menu items that translate.
pub fn translations() -> Vec<MenuItem> {
    let item = |id: &str| MenuItem {
        id: id.to_owned(),
        scope: Scope::Translation,
        ..MenuItem::default()
    };
    ["move", "compute"].map(item).to_vec()
}
