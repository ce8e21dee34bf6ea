//! Runs made up without evaluating anything: the search decides, costs are invented.

use autocomp_core::{
    ContentHash, Cost, Diagnostic, DraftRecord, Drafted, EVENT_FORMAT, Evaluated, Evaluation,
    Event, ExchangeRecord, Feedback, LineCost, Measurement, MenuItem, Outcome, Plan, PlanRecord,
    Planned, Proposal, RunStarted, SearchSettings, Seed, Severity, SourceLocation, Stage, TaskKey,
    Unit, Usage, UsdMicros,
};
use autocomp_search::{Search, Task};
use autocomp_store::RunWriter;
use std::collections::BTreeMap;
use std::path::Path;

/// What the texts of a made-up run are.
pub struct Shape {
    /// Kernels to evaluate.
    pub evaluations: u32,
    /// A text that stands in every place that others can write to.
    pub text: String,
    /// Seed of everything that is made up.
    pub seed: u64,
}

/// A small generator of numbers, so that equal seeds give equal runs.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// Writes a run folder.
pub fn write_run(folder: &Path, shape: &Shape) {
    write_run_watched(folder, shape, |_| {});
}

/// Writes a run folder, and calls `watch` with the number of events whenever some more are
/// written.
pub fn write_run_watched(folder: &Path, shape: &Shape, mut watch: impl FnMut(usize)) {
    let mut writer = RunWriter::create(folder).expect("an empty folder");
    let menu: Vec<MenuItem> = ["tile", "unroll", "double-buffer", "other"]
        .into_iter()
        .map(|id| MenuItem {
            id: id.to_owned(),
            text: format!("{id} {}", shape.text),
            ..MenuItem::default()
        })
        .collect();
    let baseline = source(shape, 0);
    let started = RunStarted {
        format: EVENT_FORMAT,
        program: "0.1.0".to_owned(),
        target: "made-up".to_owned(),
        problem: format!("made/up-{}", shape.text),
        evaluator: ContentHash::of(b"evaluator"),
        compiler: format!("none {}", shape.text),
        meaningful_indentation: false,
        proposers: vec![format!("model::{}", shape.text)],
        seed: Seed(shape.seed),
        settings: SearchSettings {
            iterations: 10_000,
            patience: 0,
            beam: 10,
            plans: 20,
            max_evaluations: Some(shape.evaluations),
            ..SearchSettings::default()
        },
        menu,
        baseline: writer.blobs().put(baseline.as_bytes()).expect("room"),
        taken: Vec::new(),
        confirmers: Vec::new(),
        forms: Vec::new(),
        reused: Vec::new(),
        lessons: Vec::new(),
        spec: Some(writer.blobs().put(shape.text.as_bytes()).expect("room")),
    };
    let mut search = Search::new(started.clone()).expect("good settings");
    let mut numbers = Numbers(shape.seed);
    let mut costs: BTreeMap<ContentHash, u64> = BTreeMap::from([(started.baseline, 1_000_000)]);
    let mut made = 0;
    let mut elapsed = 0;
    let mut n_events = 1;
    writer.append(&Event::Started(started), 0).expect("room");
    while search.finish().is_none() {
        let due = search.due();
        let tasks = search.ready();
        let events: Vec<Event> = due
            .into_iter()
            .chain(tasks.into_iter().map(|task| {
                made += 1;
                outcome(task, shape, made, &mut numbers, &mut costs, &writer)
            }))
            .collect();
        for event in events {
            elapsed += 40;
            search.apply(&event).expect("it follows");
            writer.append(&event, elapsed).expect("room");
            n_events += 1;
        }
        watch(n_events);
    }
    writer.close().expect("room");
}

fn source(shape: &Shape, number: u64) -> String {
    let lines = (0..20).map(|line| format!("line {line} of kernel {}\n", number * (line % 2)));
    lines.collect::<String>() + &shape.text + "\n"
}

fn outcome(
    task: Task,
    shape: &Shape,
    made: u64,
    numbers: &mut Numbers,
    costs: &mut BTreeMap<ContentHash, u64>,
    writer: &RunWriter,
) -> Event {
    let put = |text: &str| writer.blobs().put(text.as_bytes()).expect("room");
    let proposer = format!("model::{}", shape.text);
    match task {
        Task::Plan { key, menu, .. } => {
            let item = &menu[numbers.below(menu.len() as u64) as usize];
            let plan = Plan {
                menu_item: item.id.clone(),
                text: format!("Plan {made}. {}", shape.text),
                payload: String::new(),
                proposer: proposer.clone(),
            };
            let record = PlanRecord {
                menu_item: item.id.clone(),
                proposer: proposer.clone(),
                plan: put(&serde_json::to_string(&plan).expect("plain data")),
            };
            Event::Planned(Planned {
                key,
                result: Proposal::Made(record),
                exchanges: vec![ExchangeRecord {
                    model: proposer,
                    prompt: put(&shape.text),
                    reply: put(&shape.text),
                    error: None,
                    usage: Usage {
                        requests: 1,
                        input_tokens: 1000,
                        output_tokens: 200,
                        cost: UsdMicros(2_500),
                        ..Usage::default()
                    },
                    cost_is_estimate: false,
                    latency_ms: 100,
                    reservation: None,
                }],
            })
        }
        Task::Draft { key, kernel, .. } => {
            let text = source(shape, made);
            let hash = put(&text);
            let before = costs.get(&kernel).copied().unwrap_or(1_000_000);
            let change = 970 + numbers.below(80);
            costs.insert(hash, (before * change / 1000).max(100_000));
            Event::Drafted(Drafted {
                key,
                result: Proposal::Made(DraftRecord {
                    proposer,
                    source: hash,
                    form: None,
                }),
                exchanges: Vec::new(),
            })
        }
        Task::Evaluate { key, source, .. } => {
            let cost = costs.get(&source).copied().unwrap_or(1_000_000);
            let is_right = key == TaskKey::BASELINE || numbers.below(5) != 0;
            Event::Evaluated(Evaluated {
                key,
                source,
                evaluation: evaluation(cost, is_right, shape).into(),
                same_as: None,
                code: None,
                lacks: Vec::new(),
            })
        }
        other => panic!("{other:?} was not asked for"),
    }
}

fn evaluation(cost: u64, is_right: bool, shape: &Shape) -> Evaluation {
    let text = shape.text.clone();
    let location = SourceLocation {
        file: text.clone(),
        line: 3,
        column: None,
    };
    Evaluation {
        key: ContentHash::of(&cost.to_le_bytes()),
        outcome: if is_right {
            Outcome::Ok
        } else {
            Outcome::Wrong
        },
        diagnostics: vec![Diagnostic {
            stage: Stage::Test,
            severity: Severity::Error,
            code: text.clone(),
            message: text.clone(),
            location: Some(location.clone()),
            notes: vec![text.clone()],
            remedy: Some(text.clone()),
        }]
        .into_iter()
        .filter(|_| !is_right)
        .collect(),
        measurement: is_right.then(|| Measurement {
            cost: Cost {
                value: cost,
                unit: Unit::Nanoseconds,
                spread_ppm: 500,
            },
            floor: Cost::nanoseconds(90_000, 0),
            percent_of_peak: 9_000_000.0 / cost as f64,
            samples: Vec::new(),
            ratio_to_baseline: None,
            engine: text.clone(),
            compiler: text.clone(),
            figures: BTreeMap::new(),
        }),
        feedback: Some(Feedback {
            bottleneck: text.clone(),
            counters: BTreeMap::from([
                (format!("{text}_ns"), cost as f64 / 2.0),
                ("waiting_ns".to_owned(), cost.saturating_sub(90_000) as f64),
            ]),
            lines: vec![LineCost {
                location,
                cost: Cost::nanoseconds(cost / 3, 0),
                cause: text,
            }],
        }),
        tiers: Vec::new(),
        worker: None,
        device: None,
    }
}
