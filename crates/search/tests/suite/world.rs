//! A toy landscape for the search, without threads.

use autocomp_core::{
    ContentHash, Cost, DraftRecord, Drafted, EVENT_FORMAT, Evaluated, Evaluation, Event,
    Measurement, MenuItem, Outcome, PlanKind, PlanRecord, Planned, Proposal, RunStarted,
    SearchSettings, Seed,
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
    /// The schedule that is reused.
    pub reused: Vec<PlanRecord>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            points: BTreeMap::new(),
            step: 3,
            set_aside: Vec::new(),
            floor: 1000,
            reused: Vec::new(),
        }
    }
}

impl World {
    pub fn name(&mut self, point: Point) -> ContentHash {
        let hash = ContentHash::of(format!("{point:?}").as_bytes());
        self.points.insert(hash, point);
        hash
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
                key, seed, menu, ..
            } => {
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
                    let source = self.name((x + dx, y + dy));
                    Proposal::Made(DraftRecord {
                        proposer: "toy".to_owned(),
                        source,
                    })
                };
                Event::Drafted(Drafted {
                    key: *key,
                    result,
                    exchanges: Vec::new(),
                })
            }
            Task::Evaluate { key, source } => {
                let evaluation = evaluate(*source, self.points[source], self.floor);
                Event::Evaluated(Evaluated {
                    key: *key,
                    source: *source,
                    evaluation,
                })
            }
            Task::Repair { key, draft, .. } => {
                let (x, y) = self.points[&draft.source];
                assert!(x < 0 || y < 0);
                // Every attempt brings the point one step back to sound ground.
                let step = |it: i64| if it < 0 { it + 1 } else { it };
                let source = self.name((step(x), step(y)));
                let proposer = "toy".to_owned();
                let result = Proposal::Made(DraftRecord { proposer, source });
                Event::Drafted(Drafted {
                    key: *key,
                    result,
                    exchanges: Vec::new(),
                })
            }
            _ => panic!("an unknown task"),
        }
    }
}

fn evaluate(key: ContentHash, point: Point, floor: u64) -> Evaluation {
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
        reused: world.reused.clone(),
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
