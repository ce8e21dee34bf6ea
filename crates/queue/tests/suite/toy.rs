//! A bench whose kernels say what is to happen, and workers that have it.

use crate::nats::Nats;
use autocomp_catalog::{Catalog, Target};
use autocomp_core::{ContentHash, Cost, Evaluation, Measurement, Outcome, Seed};
use autocomp_eval::profile::Profiled;
use autocomp_eval::{
    Bench, BenchFacts, EvalError, Evaluator, EvaluatorSettings, Setup, WantedTools,
};
use autocomp_queue::{Access, Counts, Open, Worker, WorkerOptions};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What workers of a test have in common.
#[derive(Clone)]
pub struct Toy {
    pub compiler: &'static str,
    pub measured: bool,
    /// The device that it measures on, if it does.
    pub device: u32,
    /// Devices that a worker has.
    pub measuring: u32,
    /// How many evaluations were on each device at the same time, and how many are.
    pub on_devices: Arc<Mutex<BTreeMap<u32, (usize, usize)>>>,
    /// Kernels that were evaluated, in order.
    pub done: Arc<Mutex<Vec<String>>>,
    /// Evaluations that run now.
    pub running: Arc<AtomicUsize>,
    /// Whether answers are about another kernel.
    pub lies: bool,
    /// Whether whatever it does fails.
    pub is_sick: bool,
    /// Whether the worker's disk is full.
    pub is_full: bool,
    /// What any kernel costs at least, cycles.
    pub floor: u64,
    /// How many jobs of one search may be under way on all workers.
    pub most_in_flight: Option<usize>,
    /// How much of a worker a user may have.
    pub most_time: Option<Duration>,
}

impl Toy {
    pub fn new() -> Self {
        Self {
            compiler: "toycc 1",
            measured: false,
            device: 0,
            measuring: 1,
            on_devices: Arc::default(),
            done: Arc::default(),
            running: Arc::default(),
            lies: false,
            is_sick: false,
            is_full: false,
            floor: 10,
            most_in_flight: None,
            most_time: None,
        }
    }
}

impl Toy {
    fn use_device(&self, is_begun: bool) {
        let mut on_devices = self.on_devices.lock().unwrap();
        let (most, now) = on_devices.entry(self.device).or_default();
        *now = if is_begun { *now + 1 } else { *now - 1 };
        *most = (*most).max(*now);
    }
}

impl Evaluator for Toy {
    fn key(&self, source: &str) -> ContentHash {
        self.facts().key(source)
    }

    /// `sleep N` takes N milliseconds, `hang` never ends, `panic` and `fault` are the program's
    /// fault.
    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.running.fetch_add(1, Ordering::SeqCst);
        self.use_device(true);
        if let Some(time) = source.strip_prefix("sleep ") {
            let time = time.split(' ').next().unwrap().parse().unwrap();
            std::thread::sleep(Duration::from_millis(time));
        }
        match source {
            "hang" => std::thread::sleep(Duration::from_secs(100_000)),
            "panic" => panic!("as the kernel wants"),
            "fault" => return Err(EvalError::Fault("as the kernel wants".to_owned())),
            _ if self.is_sick => return Err(EvalError::Fault("sick".to_owned())),
            _ if self.is_full => {
                return Err(EvalError::Environment {
                    message: "the disk is full".to_owned(),
                    remedies: Vec::new(),
                });
            }
            _ => {}
        }
        self.use_device(false);
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.done.lock().unwrap().push(source.to_owned());
        let about = match self.lies {
            true => "another",
            false => source,
        };
        let cost = Cost::cycles(self.floor.max(1000) + about.len() as u64);
        Ok(Evaluation {
            key: self.key(about),
            outcome: Outcome::Ok,
            diagnostics: Vec::new(),
            measurement: Some(Measurement {
                cost,
                floor: Cost::cycles(self.floor),
                percent_of_peak: Cost::cycles(self.floor).percent_of(cost),
                samples: Vec::new(),
                ratio_to_baseline: None,
                engine: "toy".to_owned(),
                compiler: self.compiler.to_owned(),
                figures: Default::default(),
            }),
            feedback: None,
            tiers: Vec::new(),
            worker: None,
            device: None,
        })
    }
}

impl Bench for Toy {
    fn facts(&self) -> BenchFacts {
        BenchFacts {
            key_base: ContentHash::of(self.compiler.as_bytes()),
            identity: ContentHash::of(self.compiler.as_bytes()),
            unit: Cost::cycles(1).unit,
            engine: "toy".to_owned(),
            tools: vec![self.compiler.to_owned()],
            floor: Cost::cycles(self.floor),
            device: self.measured.then_some(self.device),
        }
    }

    fn profile(&self, _source: &str) -> Result<Profiled, EvalError> {
        Err(EvalError::Fault("a toy has no profiles".to_owned()))
    }
}

/// Returns a setup whose number makes it another one.
pub fn setup(number: u64) -> String {
    setup_of(number, |_| true)
}

/// Returns the setup of a problem whose target bounds costs from below.
pub fn bounded_setup() -> String {
    setup_of(0, |target| target.roofline.is_some())
}

fn setup_of(number: u64, is_wanted: impl Fn(&Target) -> bool) -> String {
    let catalog = Catalog::built_in().unwrap();
    let problems = catalog
        .problem_names()
        .map(|it| catalog.problem(it).unwrap());
    let mut known = problems.map(|problem| {
        let target = catalog.target(&problem.targets[0]).unwrap();
        (problem, target)
    });
    let (problem, target) = known.find(|(_, target)| is_wanted(target)).unwrap();
    let setup = Setup {
        machine: target.default_machine.clone(),
        problem,
        target,
        settings: EvaluatorSettings {
            use_cache: false,
            seed: Seed(number),
            threads: 1,
            max_instructions: None,
            experiments: false,
        },
        tools: WantedTools::default(),
    };
    serde_json::to_string(&setup).unwrap()
}

/// How often everybody tells what there is to tell in tests.
pub const BEAT: Duration = Duration::from_millis(500);

/// After how long a job goes to another worker in tests.
pub const LEASE: Duration = Duration::from_secs(3);

/// A worker on a thread of its own.
pub struct Working {
    stop: CancellationToken,
    thread: Option<JoinHandle<Option<Counts>>>,
    /// Ends it without a word, as `kill -9` does, but for evaluations that run.
    kill: CancellationToken,
    _folder: TempDir,
    /// Lines that it has told.
    pub told: Arc<Mutex<Vec<String>>>,
}

pub struct WorkerPlan<'a> {
    pub name: &'a str,
    pub machine: &'a str,
    pub devices: usize,
    pub toy: &'a Toy,
}

impl Working {
    pub fn start(nats: &Nats, name: &str, toy: &Toy) -> Self {
        Self::with_access(nats.access(), name, toy)
    }

    pub fn with_access(access: Access, name: &str, toy: &Toy) -> Self {
        let plan = WorkerPlan {
            name,
            machine: "here",
            devices: 1,
            toy,
        };
        Self::reaching(access, plan)
    }

    pub fn planned(nats: &Nats, plan: WorkerPlan<'_>) -> Self {
        Self::reaching(nats.access(), plan)
    }

    /// Returns why a worker cannot work.
    pub async fn failure(access: Access, name: &str, toy: &Toy) -> String {
        let folder = TempDir::new().unwrap();
        let plan = WorkerPlan {
            name,
            machine: "here",
            devices: 1,
            toy,
        };
        let options = Self::options(&folder, plan, Arc::default());
        let worker = Worker::connect(&access, options).await.unwrap();
        let stop = CancellationToken::new();
        let error = worker.work(&stop, Duration::ZERO).await.unwrap_err();
        format!("{error}; {}", error.remedy())
    }

    fn options(
        folder: &TempDir,
        plan: WorkerPlan<'_>,
        told: Arc<Mutex<Vec<String>>>,
    ) -> WorkerOptions {
        let toy = plan.toy.clone();
        let open: Box<Open> = Box::new(move |setup, folder, _| {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("kept"), "something of a job").unwrap();
            Ok(Arc::new(Toy {
                device: setup.tools.device,
                ..toy.clone()
            }))
        });
        WorkerOptions {
            name: plan.name.to_owned(),
            machine: plan.machine.to_owned(),
            targets: Vec::new(),
            devices: plan.devices,
            measuring: plan.toy.measuring,
            beat: BEAT,
            most_in_flight: plan.toy.most_in_flight,
            most_time: plan.toy.most_time,
            folder: folder.path().to_owned(),
            open,
            tell: Box::new(move |line| told.lock().unwrap().push(line.to_owned())),
        }
    }

    fn reaching(access: Access, plan: WorkerPlan<'_>) -> Self {
        let folder = TempDir::new().unwrap();
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let options = Self::options(&folder, plan, told.clone());
        let (stop, kill) = (CancellationToken::new(), CancellationToken::new());
        let (stopped, killed) = (stop.clone(), kill.clone());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let counts = runtime.block_on(async {
                let worker = Worker::connect(&access, options).await.unwrap();
                tokio::select! {
                    counts = worker.work(&stopped, Duration::from_millis(300)) => counts.ok(),
                    () = killed.cancelled() => None,
                }
            });
            runtime.shutdown_background();
            counts
        });
        Self {
            stop,
            thread: Some(thread),
            kill,
            _folder: folder,
            told,
        }
    }

    /// Returns what is left of jobs on the worker's disk.
    pub fn leftovers(&self) -> usize {
        std::fs::read_dir(self._folder.path()).unwrap().count()
    }

    pub fn stop(mut self) -> Counts {
        self.stop.cancel();
        self.thread.take().unwrap().join().unwrap().unwrap()
    }

    /// Ends it without a word.
    pub fn kill(mut self) {
        self.kill.cancel();
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.kill.cancel();
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until something holds that has to come.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never came about that {what}");
}
