//! A device elsewhere: evaluations are asked for where there is neither compiler nor device.

use super::program::{Place, cache};
use autocomp_catalog::Catalog;
use autocomp_core::{Outcome, Seed, Unit};
use autocomp_eval::isolation::{
    Death, IsolatedBench, Isolation, IsolationLimits, Link, Pipes, Reply, Request,
};
use autocomp_eval::profile::Profiled;
use autocomp_eval::{
    Bench, EvalError, Evaluator, EvaluatorSettings, Family, Opening, Setup, WantedTools,
};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// A link to whoever takes texts from a queue: here a thread, which passes them on to a process.
struct Queue {
    requests: mpsc::Sender<String>,
    replies: mpsc::Receiver<String>,
}

impl Queue {
    fn to(command: Command) -> std::io::Result<Self> {
        let mut process = Pipes::start(command)?;
        let (requests, taken) = mpsc::channel::<String>();
        let (give, replies) = mpsc::channel();
        thread::spawn(move || {
            for request in taken {
                let request: Request = serde_json::from_str(&request).unwrap();
                let tell = &mut |line: &str| {
                    let line = line.to_owned();
                    let _ = give.send(serde_json::to_string(&Reply::Told { line }).unwrap());
                };
                let Ok(reply) = process.ask(&request, Duration::from_secs(3600), tell) else {
                    return;
                };
                let _ = give.send(serde_json::to_string(&reply).unwrap());
            }
        });
        Ok(Self { requests, replies })
    }
}

impl Link for Queue {
    fn ask(
        &mut self,
        request: &Request,
        wall: Duration,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Reply, Death> {
        let request = serde_json::to_string(request).unwrap();
        self.requests
            .send(request)
            .map_err(|_| Death::Ended(None))?;
        loop {
            let reply = self.replies.recv_timeout(wall);
            let reply = reply.map_err(|_| Death::Ended(None))?;
            match serde_json::from_str(&reply).unwrap() {
                Reply::Told { line } => tell(&line),
                reply => return Ok(reply),
            }
        }
    }
}

/// Returns what is to be opened: the compiler is named as the other side finds it.
fn setup() -> Setup {
    let catalog = Catalog::built_in().unwrap();
    let problem = catalog.problem("host/rmsnorm-f32-500x333").unwrap();
    let target = autocomp_host::Host.preferred(&problem.targets).unwrap();
    let target = catalog.target(target).unwrap();
    Setup {
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
        tools: WantedTools {
            compiler: Some("zig".into()),
            ..WantedTools::default()
        },
    }
}

/// Makes the folder with the only compiler of the other side, from the one that tests share.
fn compiler_there(folder: &Path) {
    fs::create_dir(folder).unwrap();
    let toolchains = cache().join("toolchains");
    let zig = fs::read_dir(toolchains)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("ziglang/zig"))
        .find(|path| path.is_file())
        .unwrap();
    std::os::unix::fs::symlink(zig, folder.join("zig")).unwrap();
}

#[test]
fn a_bench_is_opened_and_asked_where_compiler_and_device_are() {
    let place = Place::new();
    // The compiler that tests share is there from then on.
    assert_eq!(place.call(&["problems"]).code, Some(0));
    let (here, there) = (place.path().join("here"), place.path().join("there"));
    let path = place.path().join("path");
    compiler_there(&path);
    let setup = setup();

    // Nothing can be evaluated here.
    let mut surroundings = setup.tools.within(&here, None);
    surroundings.install = false;
    let opened = autocomp_host::Host.open(Opening {
        problem: &setup.problem,
        target: &setup.target,
        machine: &setup.machine,
        settings: setup.settings.clone(),
        surroundings: &surroundings,
        progress: &mut |_| {},
    });
    assert!(
        matches!(opened, Err(EvalError::Environment { .. })),
        "a compiler was found"
    );

    let cache_there = there.clone();
    let connect = move || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autocomp"));
        command.args(["evaluator", "--cache-dir"]).arg(&cache_there);
        command.env_clear().env("PATH", &path);
        Ok(Box::new(Queue::to(command)?) as Box<dyn Link>)
    };
    let isolation = Isolation::new(Box::new(connect), IsolationLimits::standard());
    let text = serde_json::to_string(&setup).unwrap();
    let bench = IsolatedBench::open(
        Arc::new(isolation),
        text,
        autocomp_host::Host.languages()[0],
        &mut |_| {},
    )
    .unwrap();
    let facts = bench.facts();
    assert_eq!(facts.unit, Unit::Nanoseconds);
    assert!(facts.compiler().contains("zig"), "{facts:?}");
    assert!(facts.engine.contains("host"), "{facts:?}");

    let right = setup.problem.kernel("baseline").unwrap();
    let evaluation = bench.evaluate(right).unwrap();
    assert_eq!(evaluation.outcome, Outcome::Ok, "{evaluation:?}");
    let cost = evaluation.cost().unwrap();
    assert!(facts.floor.value <= cost.value, "{facts:?} {cost}");
    let wrong = format!("{} {{}}\n", setup.problem.signature);
    let evaluation = bench.evaluate(&wrong).unwrap();
    assert_eq!(evaluation.outcome, Outcome::Wrong, "{evaluation:?}");
    let Profiled::Right(profile) = bench.profile(right).unwrap() else {
        panic!("no profile");
    };
    assert!(profile.data["measurement"].is_object(), "{}", profile.data);

    assert!(!here.exists());
    assert!(there.is_dir());
}
