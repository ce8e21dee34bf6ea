//! Kernels that are the death of their evaluator: the run goes on, and takes the same
//! course however often its own process is killed.
//!
//! A program of its own: it is also the process of a run and the child that evaluates.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

use autocomp_agents::{
    ImplementRequest, PlanRequest, ProposeError, Proposer, RepairRequest, Reply,
};
use autocomp_c::C;
use autocomp_core::{
    ContentHash, Cost, Draft, Evaluation, Event, Outcome, Plan, SearchSettings, StopReason, Unit,
};
use autocomp_eval::isolation::{IsolatedBench, Isolation, IsolationLimits, Link, Pipes, serve};
use autocomp_eval::profile::Profiled;
use autocomp_eval::{Bench, BenchFacts, EvalError, Evaluator};
use autocomp_runner::{RunEnd, RunSession, RunView};
use script::{Scripted, Toy, history, new_run, options};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What hostile kernels do to their evaluator.
const HOSTILE: [&str; 6] = ["panic", "abort", "exhaust", "spin", "floor", "garble"];

/// More events than there are.
const NO_LIMIT: usize = usize::MAX;

/// One draft in so many is hostile.
const EVERY: u32 = 20;

const TESTS: &[(&str, fn())] = &[
    ("two_hundred_evaluations", two_hundred_evaluations),
    ("each_kind_is_a_fault", each_kind_is_a_fault),
    ("a_child_that_waits_for_ever", a_child_that_waits_for_ever),
    ("a_death_that_does_not_repeat", a_death_that_does_not_repeat),
    ("children_that_only_die", children_that_only_die),
    ("children_that_do_not_start", children_that_do_not_start),
    (
        "another_evaluator_in_the_child",
        another_evaluator_in_the_child,
    ),
    (
        "what_is_known_comes_from_the_child",
        what_is_known_comes_from_the_child,
    ),
    ("a_hostile_baseline", a_hostile_baseline),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["evaluator", ..] => serve(io::stdin(), io::stdout(), open).unwrap(),
        ["run", folder, most] => drop(work_on(Path::new(folder), most.parse().unwrap())),
        words => {
            let filter = words.iter().find(|word| !word.starts_with('-'));
            for (name, test) in TESTS {
                if filter.is_none_or(|filter| name.contains(filter)) {
                    test();
                    eprintln!("test {name} ... ok");
                }
            }
        }
    }
}

fn open(setup: &str, tell: &mut dyn FnMut(&str)) -> Result<Arc<dyn Bench>, EvalError> {
    match setup {
        "toy" => {
            tell("catching a prey");
            Ok(Arc::new(Prey))
        }
        "no compiler" => Err(EvalError::Environment {
            message: "no compiler".to_owned(),
            remedies: vec!["install one".to_owned()],
        }),
        setup => panic!("what is {setup}?"),
    }
}

/// What is known of the bench for a toy.
fn facts(toy: &Toy) -> BenchFacts {
    BenchFacts {
        key_base: toy.key(""),
        identity: toy.identity(),
        unit: Unit::Cycles,
        engine: "toy".to_owned(),
        tools: Vec::new(),
        floor: Cost::cycles(1),
        device: None,
    }
}

/// Evaluates toy kernels and falls for hostile ones.
struct Prey;

impl Bench for Prey {
    fn facts(&self) -> BenchFacts {
        facts(&Toy::default())
    }

    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        Ok(vec!["a prey is doubtful".to_owned()])
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        Ok(Profiled::Failed(Box::new(self.evaluate(source)?)))
    }
}

impl Prey {
    /// The evaluation as the toy would make it, under the key of this bench.
    fn of_toy(&self, source: &str) -> Result<Evaluation, EvalError> {
        Toy::default().evaluate(source).map(|mut it| {
            it.key = self.key(source);
            it
        })
    }
}

impl Evaluator for Prey {
    fn key(&self, source: &str) -> ContentHash {
        self.facts().key(source)
    }

    fn identity(&self) -> ContentHash {
        self.facts().identity
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        let mut words = source.split(' ');
        match (words.next(), words.next()) {
            (Some("panic"), _) => panic!("index out of bounds"),
            (Some("abort"), _) => std::process::abort(),
            (Some("exhaust"), _) => {
                // Memory that is never written to is refused as well, and takes no time that
                // a slow machine could run out of first.
                let mut hoard = Vec::new();
                loop {
                    hoard.push(std::hint::black_box(Vec::<u8>::with_capacity(16 << 20)));
                }
            }
            (Some("spin"), _) => loop {
                std::hint::spin_loop();
            },
            (Some("wait"), _) => loop {
                std::thread::park();
            },
            (Some("floor"), _) => Err(EvalError::Fault("below the floor".to_owned())),
            (Some("garble"), _) => {
                let mut out = io::stdout();
                out.write_all(&[0xff; 1000]).unwrap();
                out.flush().unwrap();
                self.of_toy(source)
            }
            (Some("once"), Some(path)) => match fs::File::create_new(path) {
                Ok(_) => std::process::abort(),
                Err(_) => Toy::default().evaluate("0 0 0 0 0 0 0 0").map(|mut it| {
                    it.key = self.key(source);
                    it
                }),
            },
            _ => self.of_toy(source),
        }
    }
}

/// Proposes like [`Scripted`], but for the hostile drafts.
struct Sly(Scripted);

#[async_trait::async_trait]
impl Proposer for Sly {
    fn name(&self) -> &str {
        "sly"
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        self.0.plan(request).await
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        let key = request.key;
        let number = key.iteration * hostile_run().beam + key.parent + key.plan + key.draft;
        if number % EVERY != 7 {
            return self.0.implement(request).await;
        }
        let kind = HOSTILE[(number / EVERY) as usize % HOSTILE.len()];
        Ok(Reply {
            value: Draft {
                source: format!("{kind} {key}"),
                proposer: "sly".to_owned(),
            },
            exchanges: Vec::new(),
        })
    }

    async fn repair(&self, request: &RepairRequest) -> Result<Reply<Draft>, ProposeError> {
        self.0.repair(request).await
    }
}

fn hostile_run() -> SearchSettings {
    SearchSettings {
        beam: 4,
        plans: 5,
        drafts: 2,
        repairs: 0,
        iterations: 200,
        max_evaluations: Some(200),
        ..script::settings()
    }
}

fn limits() -> IsolationLimits {
    IsolationLimits {
        memory_bytes: 1 << 30,
        cpu_seconds: 1,
        ..IsolationLimits::standard()
    }
}

fn isolated_by(
    limits: IsolationLimits,
    setup: &str,
    start: impl Fn() -> io::Result<Command> + Send + Sync + 'static,
) -> Arc<IsolatedBench> {
    isolated_as(&Toy::default(), limits, setup, start)
}

/// Returns a bench of which is known what is known of `toy`.
fn isolated_as(
    toy: &Toy,
    limits: IsolationLimits,
    setup: &str,
    start: impl Fn() -> io::Result<Command> + Send + Sync + 'static,
) -> Arc<IsolatedBench> {
    let connect = move || Ok(Box::new(Pipes::start(start()?)?) as Box<dyn Link>);
    let isolation = Arc::new(Isolation::new(Box::new(connect), limits));
    let setup = setup.to_owned();
    Arc::new(IsolatedBench::known(isolation, setup, &C, facts(toy)))
}

/// Returns an evaluator whose children can be told by `mark`.
fn isolated(limits: IsolationLimits, mark: &Path) -> Arc<IsolatedBench> {
    let mark = mark.to_owned();
    isolated_by(limits, "toy", move || {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("evaluator").arg(&mark);
        Ok(command)
    })
}

fn fault(evaluator: &IsolatedBench, source: &str) -> String {
    match evaluator.evaluate(source) {
        Err(EvalError::Fault(message)) => message,
        other => panic!("{source}: {other:?}"),
    }
}

/// Works on a run until its end, or until `most` events were added; then it waits to be
/// killed, so that however late that comes, it comes in time.
fn work_on(folder: &Path, most: usize) -> RunEnd {
    let mut n_events = 0;
    let mut session = RunSession::resume(folder, "0.1.0").unwrap();
    let end = script::runtime()
        .block_on(session.execute(
            Arc::new(Sly(Scripted::default())),
            isolated(limits(), folder),
            &options(2),
            &mut |notice: &autocomp_runner::Notice<'_>| {
                n_events += usize::from(notice.event.is_some());
                if n_events == most {
                    loop {
                        std::thread::park();
                    }
                }
            },
            &CancellationToken::new(),
        ))
        .unwrap();
    session.close().unwrap();
    end
}

fn create(folder: &Path) {
    drop(RunSession::create(folder, new_run(hostile_run(), 17), &Toy::default()).unwrap());
}

/// Returns the processes that evaluate for the run in `folder`.
fn children_for(folder: &Path) -> Vec<PathBuf> {
    let mark = format!("\0evaluator\0{}\0", folder.display());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_one = |process: &PathBuf| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).ends_with(&mark)
    };
    processes.map(|it| it.path()).filter(is_one).collect()
}

fn two_hundred_evaluations() {
    let root = script::scratch();
    let (whole, killed) = (root.path().join("whole"), root.path().join("killed"));
    create(&whole);
    let end = work_on(&whole, NO_LIMIT);
    assert_eq!(end.progress.evaluations, 200);
    let events = script::events(&whole);
    let kinds = |event: &Event| match event {
        Event::Evaluated(it) if it.evaluation.outcome == Outcome::Fault => {
            let blobs = RunView::open(&whole).unwrap().blobs().clone();
            let source = blobs.get_text(it.source).unwrap();
            Some(source.split(' ').next().unwrap().to_owned())
        }
        _ => None,
    };
    let faults: Vec<String> = events.iter().filter_map(kinds).collect();
    for kind in HOSTILE {
        assert!(
            faults.iter().any(|fault| fault == kind),
            "{kind}: {faults:?}"
        );
    }
    assert!(8 <= faults.len(), "{faults:?}");
    assert_eq!(
        end.progress.outcomes[&Outcome::Fault] as usize,
        faults.len()
    );

    create(&killed);
    let mut n_kills = 0;
    loop {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .arg("run")
            .arg(&killed)
            .arg(if n_kills == 5 { NO_LIMIT } else { 90 }.to_string())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut view = RunView::open(&killed).unwrap();
        let n_before = view.events.len();
        if n_kills == 5 {
            assert!(process.wait().unwrap().success());
            break;
        }
        while view.events.len() < n_before + 70 {
            assert_eq!(process.try_wait().unwrap(), None, "it ends by itself");
            std::thread::sleep(Duration::from_millis(2));
            view.read_on().unwrap();
        }
        // On Unix this is `kill -9`.
        process.kill().unwrap();
        process.wait().unwrap();
        n_kills += 1;
        // Children do not outlive the process that they work for.
        while !children_for(&killed).is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    let view = RunView::open(&killed).unwrap();
    assert_eq!(view.search.finish(), end.finish);
    assert_eq!(history(&killed), history(&whole));
}

fn each_kind_is_a_fault() {
    let place = script::scratch();
    let evaluator = isolated(limits(), place.path());
    for (kind, words) in [
        ("panic", "it panicked: index out of bounds"),
        ("abort", "SIGABRT"),
        ("exhaust", "memory allocation of"),
        ("spin", "processor time"),
        ("floor", "below the floor"),
        ("garble", "not to be understood"),
    ] {
        let message = fault(&evaluator, kind);
        assert!(message.contains(words), "{kind}: {message}");
        // What comes after is judged as if nothing had been.
        let source = "1 1 1 1 1 1 1 1";
        let judged = evaluator.evaluate(source).unwrap();
        let expected = Toy::default().evaluate(source).unwrap();
        assert_eq!(judged.measurement, expected.measurement);
        assert_eq!(judged.feedback, expected.feedback);
    }
}

fn a_child_that_waits_for_ever() {
    let place = script::scratch();
    let limits = IsolationLimits {
        wall: Duration::from_secs(1),
        ..limits()
    };
    let message = fault(&isolated(limits, place.path()), "wait");
    assert!(message.contains("no answer within 1 seconds"), "{message}");
    assert!(children_for(place.path()).is_empty());
}

fn a_death_that_does_not_repeat() {
    let place = script::scratch();
    let evaluator = isolated(limits(), place.path());
    let source = format!("once {}", place.path().join("mark").display());
    assert_eq!(evaluator.evaluate(&source).unwrap().outcome, Outcome::Ok);
    // So is a child that somebody kills while it has nothing to do.
    for child in children_for(place.path()) {
        let pid = child
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    let evaluation = evaluator.evaluate("2 2 2 2 2 2 2 2").unwrap();
    assert_eq!(evaluation.outcome, Outcome::Ok);
}

fn children_that_only_die() {
    let place = script::scratch();
    let evaluator = isolated(limits(), place.path());
    for n in 0..7 {
        fault(&evaluator, &format!("abort {n}"));
    }
    let error = evaluator.evaluate("abort 7").unwrap_err();
    assert!(matches!(error, EvalError::Environment { .. }), "{error:?}");
    assert!(
        error.to_string().contains("8 evaluations in a row"),
        "{error}"
    );
    // One that ends otherwise begins a new row.
    for n in 0..7 {
        fault(&evaluator, &format!("abort {n}"));
    }
    evaluator.evaluate("1 1 1 1 1 1 1 1").unwrap();
    fault(&evaluator, "abort 7");
}

fn children_that_do_not_start() {
    let error = |evaluator: Arc<IsolatedBench>| {
        let error = evaluator.evaluate("0 0 0 0 0 0 0 0").unwrap_err();
        let EvalError::Environment { message, remedies } = error else {
            panic!("{error:?}");
        };
        assert!(!remedies.is_empty());
        message
    };
    let absent = isolated_by(limits(), "toy", || Ok(Command::new("/nowhere/at/all")));
    assert!(error(absent).contains("failed to start a process that evaluates"));
    for (script, words) in [
        ("exit 3", "exit status: 3"),
        ("echo it will not >&2; exit 1", "it said: it will not"),
        ("cat /dev/zero", "more than one reply"),
        (
            "printf '\\377\\377\\377\\377\\377\\377\\377\\377'; cat",
            "at most 16777216 are read",
        ),
    ] {
        let message = error(isolated_by(limits(), "toy", move || {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Ok(command)
        }));
        assert!(message.contains(words), "{script}: {message}");
    }
    assert_eq!(
        error(isolated_by(limits(), "no compiler", own)),
        "no compiler"
    );
    error(isolated_by(limits(), "who knows", own));
}

fn own() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("evaluator");
    Ok(command)
}

fn another_evaluator_in_the_child() {
    let newer = Toy {
        version: 2,
        ..Toy::default()
    };
    let evaluator = isolated_as(&newer, limits(), "toy", own);
    let error = evaluator.evaluate("0 0 0 0 0 0 0 0").unwrap_err();
    assert!(error.to_string().contains("has changed"), "{error}");
}

/// Facts, doubts, profiles and what is said meanwhile come from the child.
fn what_is_known_comes_from_the_child() {
    let connect = || Ok(Box::new(Pipes::start(own()?)?) as Box<dyn Link>);
    let isolation = Arc::new(Isolation::new(Box::new(connect), limits()));
    let mut told = Vec::new();
    let tell = &mut |line: &str| told.push(line.to_owned());
    let bench = IsolatedBench::open(Arc::clone(&isolation), "toy".to_owned(), &C, tell).unwrap();
    assert_eq!(told, ["catching a prey"]);
    assert_eq!(bench.facts(), facts(&Toy::default()));
    assert_eq!(bench.doubts().unwrap(), ["a prey is doubtful"]);
    let Profiled::Failed(evaluation) = bench.profile("1 1 1 1 1 1 1 1").unwrap() else {
        panic!("a profile");
    };
    assert_eq!(evaluation.key, bench.key("1 1 1 1 1 1 1 1"));
    // A kernel may be the death of whoever profiles it, too.
    assert!(matches!(bench.profile("abort"), Err(EvalError::Fault(_))));
    let broken = IsolatedBench::open(isolation, "no compiler".to_owned(), &C, &mut |_| {});
    assert_eq!(broken.unwrap_err().to_string(), "no compiler");
}

fn a_hostile_baseline() {
    let root = script::scratch();
    for kind in ["panic", "abort", "floor"] {
        let folder = root.path().join(kind);
        let mut new = new_run(hostile_run(), 17);
        new.baseline = kind.to_owned();
        drop(RunSession::create(&folder, new, &Toy::default()).unwrap());
        for _ in 0..2 {
            let stop = work_on(&folder, NO_LIMIT).stop.unwrap();
            assert_eq!(stop.reason, StopReason::Fault);
            assert!(stop.message.contains("task baseline"), "{}", stop.message);
            assert!(!stop.remedies.is_empty());
        }
    }
}
