//! How many workers and jobs a queue carries, with benches that sleep in place of evaluating.
//!
//! ```text
//! scale workers ADDRESS N MILLISECONDS            N workers in this process, until it is killed
//! scale search ADDRESS JOBS AT_A_TIME [WEIGHT]    one search; prints its figures as JSON
//! ```
//!
//! What sleeps is a simulation: it says what the queue costs, not what a device would do.

#![allow(clippy::print_stdout, reason = "its figures are its result")]
#![allow(clippy::unwrap_used, reason = "it measures or fails")]

use autocomp_catalog::Catalog;
use autocomp_core::{ContentHash, Cost, Evaluation, Measurement, Outcome, Seed};
use autocomp_eval::isolation::{Reply, Request};
use autocomp_eval::profile::Profiled;
use autocomp_eval::{
    Bench, BenchFacts, EvalError, Evaluator, EvaluatorSettings, Setup, WantedTools,
};
use autocomp_queue::{Access, Coordinator, CoordinatorOptions, Worker, WorkerOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;

const BEAT: Duration = Duration::from_secs(5);

/// A bench whose evaluations take a fixed time.
struct Sleeping(Duration);

impl Evaluator for Sleeping {
    fn key(&self, source: &str) -> ContentHash {
        self.facts().key(source)
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        std::thread::sleep(self.0);
        Ok(Evaluation {
            key: self.key(source),
            outcome: Outcome::Ok,
            diagnostics: Vec::new(),
            measurement: Some(Measurement {
                cost: Cost::cycles(100),
                floor: Cost::cycles(1),
                percent_of_peak: 1.0,
                samples: Vec::new(),
                ratio_to_baseline: None,
                engine: "sleeping".to_owned(),
                compiler: "none".to_owned(),
                figures: Default::default(),
            }),
            feedback: None,
            tiers: Vec::new(),
            worker: None,
            device: None,
        })
    }
}

impl Bench for Sleeping {
    fn facts(&self) -> BenchFacts {
        BenchFacts {
            key_base: ContentHash::of(b"sleeping"),
            identity: ContentHash::of(b"sleeping"),
            unit: Cost::cycles(1).unit,
            engine: "sleeping".to_owned(),
            tools: vec!["none".to_owned()],
            floor: Cost::cycles(1),
            device: None,
        }
    }

    fn profile(&self, _source: &str) -> Result<Profiled, EvalError> {
        Err(EvalError::Fault("there are no profiles".to_owned()))
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let access = Access::new(&words[2], None).unwrap();
    match words[1].as_str() {
        "workers" => workers(&access, number(3), Duration::from_millis(number(4))),
        "search" => {
            let weight = words.get(5).map_or(1, |it| it.parse().unwrap());
            search(&access, number(3), number(4), weight);
        }
        other => panic!("{other}?"),
    }
}

fn workers(access: &Access, count: u64, takes: Duration) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(count as usize + 64)
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    runtime.block_on(async {
        let mut all = Vec::new();
        for it in 0..count {
            let options = WorkerOptions {
                name: format!("{}-{it}", std::process::id()),
                machine: "simulated".to_owned(),
                targets: Vec::new(),
                devices: 1,
                measuring: 1,
                beat: BEAT,
                most_in_flight: None,
                most_time: None,
                folder: folder.path().to_owned(),
                open: Box::new(move |_, _, _| Ok(Arc::new(Sleeping(takes)))),
                tell: Box::new(|_| {}),
            };
            let worker = Worker::connect(access, options).await.unwrap();
            let stop = CancellationToken::new();
            all.push(tokio::spawn(async move {
                let _ = worker.work(&stop, BEAT).await;
            }));
        }
        println!("{count} workers are there");
        for it in all {
            let _ = it.await;
        }
    });
}

fn setup() -> String {
    let catalog = Catalog::built_in().unwrap();
    let problem = catalog.problem_names().next().unwrap().to_owned();
    let problem = catalog.problem(&problem).unwrap();
    let target = catalog.target(&problem.targets[0]).unwrap();
    let setup = Setup {
        machine: target.default_machine.clone(),
        problem,
        target,
        settings: EvaluatorSettings {
            use_cache: false,
            seed: Seed(0),
            threads: 1,
            max_instructions: None,
            experiments: false,
        },
        tools: WantedTools::default(),
    };
    serde_json::to_string(&setup).unwrap()
}

fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn search(access: &Access, jobs: u64, at_a_time: u64, weight: u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let session = format!("{}", now.as_nanos());
    let options = CoordinatorOptions {
        title: "scale".to_owned(),
        session: session.clone(),
        weight,
        any_machine: false,
        held: None,
        lease: Duration::from_secs(30),
        beat: BEAT,
        tell: Box::new(|line| println!("{line}")),
    };
    let coordinator = Coordinator::connect(access, options).unwrap();
    let setup = setup();
    assert!(matches!(
        coordinator.open(&setup, &mut |_| {}),
        Reply::Opened { .. }
    ));
    // Every worker that is there has heard of it.
    std::thread::sleep(2 * BEAT);
    let before = memory_kib();
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let mut latencies: Vec<Duration> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..at_a_time)
            .map(|_| {
                scope.spawn(|| {
                    let mut latencies = Vec::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed) as u64;
                        if jobs <= number {
                            return latencies;
                        }
                        let asked = Instant::now();
                        // As long as kernels are.
                        let source = format!("{session} {number} {}", "k".repeat(4000));
                        let request = Request::Evaluate {
                            source,
                            bound: None,
                        };
                        let reply = coordinator.ask(&setup, request);
                        assert!(matches!(reply, Reply::Evaluated(_)), "{reply:?}");
                        latencies.push(asked.elapsed());
                    }
                })
            })
            .collect();
        let ended = threads.into_iter().flat_map(|it| it.join().unwrap());
        ended.collect()
    });
    let seconds = started.elapsed().as_secs_f64();
    latencies.sort();
    let at = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_secs_f64();
    println!(
        "{{\"jobs\": {jobs}, \"at_a_time\": {at_a_time}, \"weight\": {weight}, \
         \"seconds\": {seconds:.2}, \
         \"jobs_per_second\": {:.1}, \"p50_s\": {:.3}, \"p99_s\": {:.3}, \
         \"memory_before_kib\": {before}, \"most_memory_kib\": {}}}",
        jobs as f64 / seconds,
        at(50),
        at(99),
        memory_kib()
    );
}
