//! A toy world: kernels are eight numbers, and the best kernel is known.

#![allow(dead_code, reason = "each test file uses its own part")]

use autocomp_agents::{
    Exchange, IdeasRequest, ImplementRequest, PlanRequest, ProposeError, ProposeErrorKind,
    Proposer, RepairRequest, Reply,
};
use autocomp_core::{
    Confirmer, ContentHash, ContentHasher, Cost, Diagnostic, Draft, Evaluation, Event, Exhaustive,
    Feedback, Measurement, MenuItem, Nanos, Outcome, Plan, PlanKind, Ratio, Scope, SearchSettings,
    Seed, Severity, Stage, TierCost, Usage, UsdMicros,
};
use autocomp_eval::{EvalError, Evaluator};
use autocomp_runner::{NewRun, Notice, RunEnd, RunOptions, RunSession, RunView};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The kernel that takes [`FLOOR`] cycles; every step away from it costs.
pub const TARGET: [i64; 8] = [3, 1, 4, 1, 5, 9, 2, 6];

/// Cost of the best kernel.
pub const FLOOR: u64 = 1000;

/// Distance above which a kernel is wrong.
const LIMIT: i64 = 12;

/// Returns a folder for a test, in memory where the system offers that: a disk
/// that others keep busy takes a second for what the tests do all the time.
pub fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory)
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

pub fn baseline() -> String {
    "0 0 0 0 0 0 0 0".to_owned()
}

fn parse(kernel: &str) -> Option<Vec<i64>> {
    let words = kernel.split_whitespace();
    let numbers: Option<Vec<i64>> = words.map(|word| word.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() == TARGET.len())
}

/// Sleeps for up to `most_us` microseconds, differently at each call.
fn delay(most_us: u64) {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let mut seed = Seed(call ^ now.as_nanos() as u64);
    if 0 < most_us {
        std::thread::sleep(Duration::from_micros(seed.next_u64() % most_us));
    }
}

/// Proposes to change one number; a function of the request's seed.
#[derive(Debug, Default)]
pub struct Scripted {
    pub delay_us: u64,
    /// Calls so far.
    pub calls: AtomicU64,
    /// The call from which on nothing can be proposed.
    pub exhausted_from: Option<u64>,
}

impl Scripted {
    fn count(&self) -> Result<(), ProposeError> {
        delay(self.delay_us);
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if self.exhausted_from.is_some_and(|from| from <= call) {
            return Err(ProposeError {
                kind: ProposeErrorKind::Exhausted,
                message: "no credit left".to_owned(),
                exchanges: vec![exchange("plan", "", 7)],
            });
        }
        Ok(())
    }
}

fn exchange(prompt: &str, reply: &str, cost: u64) -> Exchange {
    let usage = Usage {
        requests: 1,
        input_tokens: 10,
        output_tokens: 5,
        cost: UsdMicros(cost),
        ..Usage::default()
    };
    Exchange {
        model: "toy::model".to_owned(),
        prompt: prompt.to_owned(),
        reply: reply.to_owned(),
        error: reply.is_empty().then(|| "no credit left".to_owned()),
        usage,
        cost_is_estimate: false,
        // Differs from run to run, as in life.
        latency_ms: std::time::SystemTime::now()
            .elapsed()
            .map_or(1, |it| it.as_nanos() as u64 % 50),
        reservation: None,
    }
}

#[async_trait::async_trait]
impl Proposer for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn ideas(&self, request: &IdeasRequest) -> Result<Reply<Vec<MenuItem>>, ProposeError> {
        self.count()?;
        let mut seed = request.seed;
        let items = (0..request.count).map(|number| MenuItem {
            id: format!("idea-{number}-{}", seed.below(9)),
            text: format!("for {}", request.kernel),
            scope: Scope::Idea,
            ..MenuItem::default()
        });
        Ok(Reply {
            value: items.collect(),
            exchanges: vec![exchange("ideas", "items", 2)],
        })
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        self.count()?;
        let mut seed = request.seed;
        let item = &request.menu[seed.below(request.menu.len())];
        let is_set_aside = matches!(
            request.kind,
            PlanKind::Reserved { .. } | PlanKind::Exhaustive { .. }
        );
        assert_eq!(is_set_aside, request.menu.len() == 1);
        assert_eq!(request.other.is_some(), item.scope == Scope::Combination);
        assert!(
            request
                .hidden
                .iter()
                .all(|item| !request.menu.contains(item))
        );
        let error = |kind, message: &str| {
            Err(ProposeError {
                kind,
                message: message.to_owned(),
                exchanges: Vec::new(),
            })
        };
        match seed.below(20) {
            0 => return error(ProposeErrorKind::Nothing, "nothing to do here"),
            1 => return error(ProposeErrorKind::Failed, "the reply has no plan"),
            2 => panic!("a bug in the proposer"),
            _ => {}
        }
        let idx = seed.below(TARGET.len());
        let step = [-2, -1, 1, 2, 3][seed.below(5)];
        // The same words are not always set the same way.
        let blank = [" ", "\n"][seed.below(2)];
        let text = format!("add {step} to{blank}number {idx}");
        Ok(Reply {
            value: Plan {
                menu_item: item.id.clone(),
                text: text.clone(),
                payload: format!("{idx} {step}"),
                proposer: "scripted".to_owned(),
            },
            // What the proposer is told is part of the history, so that it cannot
            // depend on timing.
            exchanges: vec![exchange(
                &format!(
                    "plan for {}: {:?} {:?}",
                    request.kernel, request.tried, request.earlier
                ),
                &text,
                3,
            )],
        })
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        self.count()?;
        let mut seed = request.seed;
        if seed.below(15) == 0 {
            return Err(ProposeError {
                kind: ProposeErrorKind::Failed,
                message: "the reply has no code".to_owned(),
                exchanges: Vec::new(),
            });
        }
        let mut numbers = parse(&request.kernel).unwrap();
        let is_combination = request.plan.menu_item == "mix";
        assert_eq!(request.other.is_some(), is_combination);
        if let Some(other) = &request.other {
            assert_ne!(other.kernel, request.kernel);
            let second = parse(&other.kernel).unwrap();
            for (number, second) in numbers.iter_mut().zip(second).step_by(2) {
                *number = second;
            }
        }
        let (idx, step) = request.plan.payload.split_once(' ').unwrap();
        let step: i64 = step.parse().unwrap();
        numbers[idx.parse::<usize>().unwrap()] += step * (1 + seed.below(2) as i64);
        let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let mut source = words.join(" ");
        if seed.below(12) == 0 {
            source.push_str(" }");
        }
        // Sometimes nothing changes but the text: its form stays, or its code alone.
        match seed.below(12) {
            0 => source = request.kernel.replacen(' ', "  ", 1),
            1 if !request.kernel.starts_with(['-', '+']) => {
                source = format!("+{}", request.kernel);
            }
            _ => {}
        }
        let words: Vec<&str> = request.plan.text.split_whitespace().collect();
        let asked = format!(
            "code of {}: {} {}, plan {}, reply {}",
            request.kernel,
            request.plan.menu_item,
            words.join(" "),
            request.number + 1,
            request.repeats + request.key.draft + 1
        );
        let exchanges = vec![exchange(&asked, &source, 2)];
        Ok(Reply {
            value: Draft {
                source,
                proposer: "scripted".to_owned(),
            },
            exchanges,
        })
    }

    /// Brings each number half way back to the parent's; sometimes that helps.
    async fn repair(&self, request: &RepairRequest) -> Result<Reply<Draft>, ProposeError> {
        self.count()?;
        assert_ne!(request.failure.outcome, Outcome::Ok);
        assert!(!request.failure.diagnostics.is_empty());
        assert_eq!(request.attempt, request.key.repair);
        let words = request.draft.source.split_whitespace();
        let words: Vec<&str> = words.take(TARGET.len()).collect();
        let (Some(numbers), Some(parent)) = (parse(&words.join(" ")), parse(&request.kernel))
        else {
            panic!("the toy proposer writes numbers");
        };
        let mut seed = request.seed;
        if seed.below(6) == 0 {
            return Err(ProposeError {
                kind: ProposeErrorKind::Nothing,
                message: "cannot be repaired".to_owned(),
                exchanges: Vec::new(),
            });
        }
        let words: Vec<String> = numbers
            .iter()
            .zip(parent)
            .map(|(a, b)| ((a + b) / 2).to_string())
            .collect();
        let mut source = words.join(" ");
        if seed.below(3) == 0 {
            source.push_str(" {");
        }
        let exchanges = vec![exchange(&request.draft.source, &source, 2)];
        Ok(Reply {
            value: Draft {
                source,
                proposer: "scripted".to_owned(),
            },
            exchanges,
        })
    }
}

/// Evaluates toy kernels; a function of the source.
#[derive(Debug, Default)]
pub struct Toy {
    pub delay_us: u64,
    /// Kernels evaluated so far.
    pub calls: AtomicU64,
    /// Evaluations running now, and the most there ever were.
    pub running: AtomicU64,
    pub most_running: AtomicU64,
    /// The call that fails, and how.
    pub fails_at: Option<(u64, Failure)>,
    /// Stands for the compiler's version.
    pub version: u64,
    /// Whether kernels whose numbers have an odd sum are wrong.
    pub is_strict: bool,
    /// How long every compilation, and every evaluation beside the random delay, takes.
    pub least_us: u64,
    /// What costs may be off, in millionths; they are nanoseconds then.
    pub spread_ppm: u32,
    /// Whether kernels are measured in pairs with the baseline, which tells surely.
    pub is_paired: bool,
    /// Whether some kernels make it panic, and some contradict itself.
    pub is_faulty: bool,
    /// Kernels evaluated by all evaluators that share it.
    pub all_calls: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug)]
pub enum Failure {
    Environment,
    Input,
    Fault,
    Panic,
    Contradiction,
}

impl Evaluator for Toy {
    fn key(&self, source: &str) -> ContentHash {
        let mut hasher = ContentHasher::new("toy");
        hasher.update(source.as_bytes());
        hasher.update(&self.version.to_le_bytes());
        hasher.finish()
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        Some(source.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn machine_code(&self, source: &str) -> Result<Option<ContentHash>, EvalError> {
        // Takes time as a compiler does, so that no task is short where evaluations are not.
        std::thread::sleep(Duration::from_micros(self.least_us));
        let numbers = parse(source);
        Ok(numbers.map(|it| ContentHash::of(format!("{it:?}").as_bytes())))
    }

    fn evaluate_within(&self, source: &str, bound: Option<Cost>) -> Result<Evaluation, EvalError> {
        Ok(self.evaluate(source)?.within(bound))
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        self.all_calls.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_micros(self.least_us));
        delay(self.delay_us);
        let evaluation = self.verdict(source);
        self.running.fetch_sub(1, Ordering::SeqCst);
        evaluation
    }
}

impl Toy {
    fn verdict(&self, source: &str) -> Result<Evaluation, EvalError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.fails_at {
            Some((at, Failure::Environment)) if at == call => {
                return Err(EvalError::Environment {
                    message: "the compiler is gone".to_owned(),
                    remedies: vec!["install it again".to_owned()],
                });
            }
            Some((at, Failure::Input)) if at == call => {
                return Err(EvalError::Input {
                    message: "the reference does not build".to_owned(),
                    remedies: vec!["correct it".to_owned()],
                });
            }
            Some((at, Failure::Fault)) if at == call => {
                return Err(EvalError::Fault("two references disagree".to_owned()));
            }
            Some((at, Failure::Panic)) if at == call => panic!("index out of bounds"),
            _ => {}
        }
        if self.is_faulty
            && let Some(numbers) = parse(source)
        {
            match numbers.iter().sum::<i64>().rem_euclid(11) {
                5 => panic!("index out of bounds"),
                7 => return Err(EvalError::Fault("two references disagree".to_owned())),
                _ => {}
            }
        }
        let contradicts = matches!(self.fails_at, Some((at, Failure::Contradiction)) if at == call);
        let mut evaluation = Evaluation {
            key: self.key(source),
            outcome: Outcome::Ok,
            diagnostics: Vec::new(),
            measurement: None,
            feedback: None,
            worker: None,
            device: None,
            tiers: vec![TierCost {
                tier: "time".to_owned(),
                wall_ns: Nanos(call),
            }],
        };
        let mut fail = |outcome, message: &str| {
            evaluation.outcome = outcome;
            evaluation.diagnostics.push(Diagnostic {
                stage: Stage::Test,
                severity: Severity::Error,
                code: "toy".to_owned(),
                message: message.to_owned(),
                location: None,
                notes: Vec::new(),
                remedy: None,
            });
        };
        match parse(source) {
            None => fail(Outcome::BuildFailed, "these are not eight numbers"),
            Some(numbers) if numbers.iter().any(|number| LIMIT < number.abs()) => {
                fail(Outcome::Wrong, "a number is out of range");
            }
            Some(numbers) if self.is_strict && numbers.iter().sum::<i64>() % 2 != 0 => {
                fail(Outcome::Wrong, "the sum is odd");
            }
            Some(numbers) => {
                let distance: u64 = numbers
                    .iter()
                    .zip(TARGET)
                    .map(|(number, target)| (number - target).unsigned_abs().pow(2))
                    .sum();
                let cycles = FLOOR + 7 * distance;
                evaluation.measurement = Some(Measurement {
                    cost: match self.spread_ppm {
                        0 => Cost::cycles(cycles),
                        spread => Cost::nanoseconds(cycles, spread),
                    },
                    figures: [
                        ("cold".to_owned(), cycles + 50),
                        (
                            "instructions".to_owned(),
                            numbers.iter().map(|number| number.unsigned_abs()).sum(),
                        ),
                    ]
                    .into(),
                    samples: Vec::new(),
                    ratio_to_baseline: self.is_paired.then_some(Ratio {
                        value: 0.9,
                        low: 0.89,
                        high: 0.91,
                    }),
                    floor: match self.spread_ppm {
                        0 => Cost::cycles(FLOOR),
                        _ => Cost::nanoseconds(FLOOR, 0),
                    },
                    percent_of_peak: 100.0 * FLOOR as f64 / cycles as f64,
                    engine: "toy".to_owned(),
                    compiler: "toy 1".to_owned(),
                });
                evaluation.feedback = Some(Feedback {
                    bottleneck: format!("distance {distance}"),
                    counters: [("third".to_owned(), distance as f64 / 3.0)].into(),
                    lines: Vec::new(),
                });
            }
        }
        if contradicts {
            evaluation.outcome = match evaluation.outcome {
                Outcome::Ok => Outcome::Wrong,
                _ => Outcome::Ok,
            };
        }
        Ok(evaluation)
    }
}

pub fn menu() -> Vec<MenuItem> {
    let item = |(id, scope, percent): (&str, Scope, &[u8])| MenuItem {
        id: id.to_owned(),
        text: format!("go {id}"),
        scope,
        percent: percent.to_vec(),
        ..MenuItem::default()
    };
    [
        ("up", Scope::Step, &[][..]),
        ("down", Scope::Step, &[]),
        ("sideways", Scope::Step, &[]),
        (MenuItem::OTHER, Scope::Step, &[]),
        ("leap", Scope::Schedule, &[40, 20]),
        ("mix", Scope::Combination, &[0, 30]),
    ]
    .map(item)
    .into()
}

pub fn settings() -> SearchSettings {
    SearchSettings {
        beam: 3,
        plans: 3,
        drafts: 2,
        repairs: 2,
        iterations: 5,
        polish: 1,
        patience: 0,
        max_evaluations: None,
        ..SearchSettings::default()
    }
}

/// The evaluator that confirms.
pub fn strict() -> Toy {
    Toy {
        is_strict: true,
        version: 7,
        ..Toy::default()
    }
}

/// Adds the one who confirms, if a run has one.
pub fn bring_confirmer(session: &mut RunSession) {
    if session.search().started().confirmers.is_empty() {
        return;
    }
    session.confirm_by(vec![Arc::new(strict())]).unwrap();
}

/// The same with menu items of models, choices by what helped, and exhaustive plans.
pub fn method_settings() -> SearchSettings {
    SearchSettings {
        ideas: 2,
        bandit: true,
        exhaustive: Exhaustive::Stalled,
        early_slack: vec![1.2],
        ..settings()
    }
}

pub fn new_run(settings: SearchSettings, seed: u64) -> NewRun {
    NewRun {
        program: "0.1.0".to_owned(),
        target: "toy".to_owned(),
        problem: "toy/eight".to_owned(),
        compiler: "toy 1".to_owned(),
        meaningful_indentation: false,
        proposers: vec!["scripted".to_owned()],
        seed: Seed(seed),
        menu: menu(),
        baseline: baseline(),
        taken: Vec::new(),
        confirmers: match settings.confirm {
            0 => Vec::new(),
            _ => vec![Confirmer {
                name: "new inputs".to_owned(),
                evaluator: strict().identity(),
            }],
        },
        reused: Vec::new(),
        lessons: Vec::new(),
        extensions: Vec::new(),
        spec: None,
        settings,
    }
}

pub fn options(workers: usize) -> RunOptions {
    RunOptions {
        proposals: 2 * workers,
        ..RunOptions::new(workers)
    }
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// Works on a run until it ends, and tells `observe` of everything.
pub fn execute(
    session: &mut RunSession,
    proposer: Scripted,
    evaluator: Toy,
    options: &RunOptions,
    cancel: &CancellationToken,
    mut observe: impl FnMut(&Notice<'_>) + Send,
) -> RunEnd {
    runtime()
        .block_on(session.execute(
            Arc::new(proposer),
            Arc::new(evaluator),
            options,
            &mut observe,
            cancel,
        ))
        .unwrap()
}

/// Runs a whole run in `folder`.
pub fn run_whole(folder: &Path, settings: SearchSettings, seed: u64, workers: usize) -> RunEnd {
    let evaluator = Toy {
        delay_us: 300,
        ..Toy::default()
    };
    let proposer = Scripted {
        delay_us: 200,
        ..Scripted::default()
    };
    let mut session = RunSession::create(folder, new_run(settings, seed), &evaluator).unwrap();
    bring_confirmer(&mut session);
    let end = execute(
        &mut session,
        proposer,
        evaluator,
        &options(workers),
        &CancellationToken::new(),
        |_| {},
    );
    session.close().unwrap();
    end
}

/// Resumes a run and brings it to its end.
pub fn resume(folder: &Path, workers: usize) -> RunEnd {
    let mut session = RunSession::resume(folder, "0.1.0").unwrap();
    bring_confirmer(&mut session);
    let end = execute(
        &mut session,
        Scripted {
            delay_us: 200,
            ..Scripted::default()
        },
        Toy {
            delay_us: 300,
            ..Toy::default()
        },
        &options(workers),
        &CancellationToken::new(),
        |_| {},
    );
    session.close().unwrap();
    end
}

/// Returns the canonical history of the run in `folder`.
pub fn history(folder: &Path) -> String {
    let view = RunView::open(folder).unwrap();
    autocomp_store::history_lines(view.events.iter().map(|stored| &stored.event))
}

/// Returns the events of the run in `folder`.
pub fn events(folder: &Path) -> Vec<Event> {
    RunView::open(folder)
        .unwrap()
        .events
        .into_iter()
        .map(|stored| stored.event)
        .collect()
}

/// Copies a run folder as it is, like a snapshot at the death of its process.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
