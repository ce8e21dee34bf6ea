//! Kernels measured on a board. A script in the place of `ssh` runs commands here, and the
//! interpreter is the board: it executes the jobs that the runner would.

use crate::attacks::PROBLEM;
use crate::c908;
use autocomp_catalog::Catalog;
use autocomp_core::{Evaluation, Outcome, Seed};
use autocomp_eval::{Bench, EvalError, EvaluatorSettings, Family, Opening, Surroundings};
use autocomp_riscv::{Exit, FirstLoads, Hart, Limits, Memory, Mode};
use autocomp_riscv_machine::NoAccelerator;
use autocomp_rvv::Rvv;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Loses two connections of three.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != "--" ]; do shift; done
cd "$(dirname "$0")"
echo . >> connections
test $(($(wc -l < connections) % 3)) = 0 || { echo "Connection reset by peer" >&2; exit 255; }
exec sh -c "$3"
"#;

/// Hands a job to the thread that plays the board, and says what that says.
const CORE: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
echo "$2 $3 $4 $5" > asked
read code < answered
cat said
exit $code
"#;

/// What the board does with a job of this name beside executing it so many times: `job1` is that of
/// the problem's own kernel, while it is timed it is called more than once.
type Fault = fn(job: &str, calls: usize, result: &mut Vec<u8>) -> Option<i32>;

struct Place {
    folder: tempfile::TempDir,
    runs: Arc<AtomicUsize>,
}

impl Place {
    fn new(fault: Fault) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let path = folder.path();
        for (name, text) in [("ssh", SSH), ("core", CORE)] {
            std::fs::write(path.join(name), text).expect("written");
            let all = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(path.join(name), all).expect("executable");
        }
        for name in ["asked", "answered"] {
            let made = Command::new("mkfifo").arg(path.join(name)).status();
            assert!(made.expect("mkfifo runs").success());
        }
        let runs = Arc::new(AtomicUsize::new(0));
        let (at, counted) = (path.to_owned(), Arc::clone(&runs));
        // Waits for the next job until the test program ends.
        std::thread::spawn(move || {
            while let Ok(line) = std::fs::read_to_string(at.join("asked")) {
                let words: Vec<&str> = line.split_whitespace().collect();
                let [job, result, core, calls] = words[..] else {
                    return;
                };
                assert_eq!(core, "3");
                let calls = calls.parse().expect("a number");
                let name = job.rsplit('/').next().unwrap_or(job);
                let (cycles, mut left) = executed(&std::fs::read(job).expect("a job"));
                counted.fetch_add(1, Ordering::Relaxed);
                let code = fault(name, calls, &mut left);
                std::fs::write(result, &left).expect("written");
                // What the runner prints: a clock of 1.6 GHz, and a digest (FNV-1a).
                let digest = left.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                    (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
                });
                let line = format!("{} {digest}\n", cycles * 5 / 8);
                let said = match code {
                    None => line.repeat(calls),
                    Some(_) => String::new(),
                };
                std::fs::write(at.join("said"), said).expect("written");
                let code = format!("{}\n", code.unwrap_or(0));
                std::fs::write(at.join("answered"), code).expect("told");
            }
        });
        Self { folder, runs }
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    fn bench(&self) -> Arc<dyn Bench> {
        self.file(
            "sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq",
            "1600000\n",
        );
        let path = self.folder.path().display();
        bench(
            &format!(
                r#"
            backend = "board"
            description = "a board that is played"
            simulated = "c908"
            host = "user@board"
            folder = "{path}/work"
            system = "{path}/sys"
            core = 3
            through = ["{path}/core"]
            cooling_seconds = 0
            seconds = 600
            pause_ms = 0
            "#
            ),
            &format!("{path}"),
        )
    }

    fn evaluate(&self, kernel: &str) -> Result<Evaluation, EvalError> {
        let catalog = Catalog::built_in().expect("built-in data");
        let problem = catalog.problem(PROBLEM).expect("a problem");
        self.bench()
            .evaluate(problem.kernel(kernel).expect("a kernel"))
    }
}

fn bench(machine: &str, first_in_path: &str) -> Arc<dyn Bench> {
    let catalog = Catalog::built_in().expect("built-in data");
    let problem = catalog.problem(PROBLEM).expect("a problem");
    let mut target = catalog.target("rvv-k230").expect("a target");
    target.machines.insert("mine".into(), machine.into());
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{first_in_path}:{path}");
    let surroundings = Surroundings::installing(cache, Some(path.into()));
    let opening = Opening {
        problem: &problem,
        target: &target,
        machine: "mine",
        settings: EvaluatorSettings {
            use_cache: false,
            seed: Seed(1),
            threads: 1,
            max_instructions: None,
            experiments: false,
        },
        surroundings: &surroundings,
        progress: &mut |_| (),
    };
    Rvv.open(opening).expect("a bench")
}

/// Executes a job; returns the cycles of the second call, and what it leaves in what is written.
fn executed(job: &[u8]) -> (u64, Vec<u8>) {
    let word = |idx: usize| {
        let bytes = job[8 * idx..8 * idx + 8].try_into();
        u64::from_le_bytes(bytes.expect("eight bytes"))
    };
    assert_eq!(&job[..8], b"oardjob1");
    let pieces = word(6) as usize;
    let mut memory = Memory::new(word(1), word(2) as usize);
    let mut content = &job[8 * (15 + 6 * pieces)..];
    let mut written = Vec::new();
    for piece in 0..pieces {
        let of = |field: usize| word(15 + 6 * piece + field);
        let (held, rest) = content.split_at(of(1) as usize);
        let place = memory.host_mut(of(0), of(2) as usize).expect("in memory");
        place[..held.len()].copy_from_slice(held);
        content = rest;
        if of(5) == 1 {
            written.push((of(0), of(2) as usize));
        }
    }
    let machine = c908();
    let mut hart: Hart = machine.hart(Mode::Timed, machine.vlen(), FirstLoads::Whole);
    let mut cycles = 0;
    for _ in 0..2 {
        let before = hart.cycle();
        hart.set_register(1, 0x100);
        hart.set_register(2, word(4));
        for idx in 0..word(5) as usize {
            hart.set_register(10 + idx, word(7 + idx));
        }
        hart.set_return_address(Some(0x100));
        hart.set_pc(word(3));
        let limits = Limits {
            instructions: u64::MAX,
            cycles: u64::MAX,
        };
        let exit = hart.run(&mut memory, &mut NoAccelerator::default(), limits);
        assert_eq!(exit, Exit::Returned);
        cycles = hart.cycle() - before;
    }
    let left = written.into_iter();
    let left = left.flat_map(|(at, bytes)| memory.host(at, bytes).expect("in memory").to_vec());
    (cycles, left.collect())
}

fn codes(evaluation: &Evaluation) -> Vec<&str> {
    let found = evaluation.diagnostics.iter();
    found.map(|it| it.code.as_str()).collect()
}

#[test]
fn kernels_are_measured_against_the_problems_own_over_lost_connections() {
    let place = Place::new(|_, _, _| None);
    place.file(
        "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
        "performance\n",
    );
    place.file("sys/class/thermal/thermal_zone0/temp", "50000\n");
    let found = place.evaluate("lanes").expect("an evaluation");
    assert_eq!(
        (found.outcome, codes(&found)),
        (Outcome::Ok, vec![]),
        "{found:?}"
    );
    let measurement = found.measurement.expect("measured");
    let simulated = measurement.figures["simulated_cycles"] as f64 * 0.625;
    let measured = measurement.cost.value as f64;
    assert!(
        (measured / simulated - 1.0).abs() < 0.1,
        "{measured} ns, {simulated} simulated"
    );
    let ratio = measurement.ratio_to_baseline.expect("a ratio");
    assert!(ratio.high < 1.0 && 0.1 < ratio.low, "{ratio:?}");
    assert_eq!(measurement.figures["celsius"], 50);
    assert_eq!(measurement.figures["mhz"], 1600);
    // Nothing is left there.
    assert_eq!(
        std::fs::read_dir(place.folder.path().join("work"))
            .expect("read")
            .count(),
        1
    );
}

#[test]
fn what_is_wrong_in_the_simulator_never_runs_on_a_board() {
    let place = Place::new(|_, _, _| None);
    let kernel = "void solution(float X[5][333], float S[5]) { S[0] = X[0][0]; }";
    let found = place.bench().evaluate(kernel).expect("an evaluation");
    assert_eq!(found.outcome, Outcome::Wrong);
    assert_eq!(place.runs.load(Ordering::Relaxed), 0);
}

#[test]
fn what_a_board_does_otherwise_is_told_of_the_kernel() {
    let place = Place::new(|_, _, left| {
        left[3] ^= 0x40;
        None
    });
    let found = place.evaluate("lanes").expect("an evaluation");
    assert_eq!(
        (found.outcome, codes(&found)),
        (Outcome::Wrong, vec!["output-mismatch"])
    );
    let notes = &found.diagnostics[0].notes;
    assert!(
        notes.iter().any(|it| it.contains("simulator accepts")),
        "{notes:?}"
    );
    // While it is timed, whatever the same call left in tests.
    let place = Place::new(|job, calls, left| {
        let is_timed = job.starts_with("job0") && 1 < calls;
        left[3] ^= if is_timed { 0x40 } else { 0 };
        None
    });
    let found = place.evaluate("lanes").expect("an evaluation");
    assert_eq!(
        (found.outcome, codes(&found)),
        (Outcome::Wrong, vec!["calls-differ"])
    );
    let place = Place::new(|_, _, _| Some(139));
    let found = place.evaluate("lanes").expect("an evaluation");
    assert_eq!(
        (found.outcome, codes(&found)),
        (Outcome::Crashed, vec!["board-crash"])
    );
    let place = Place::new(|_, _, _| Some(124));
    let found = place.evaluate("lanes").expect("an evaluation");
    assert_eq!(
        (found.outcome, codes(&found)),
        (Outcome::TimedOut, vec!["board-hang"])
    );
}

#[test]
fn a_board_that_is_not_fit_to_measure_on_is_told() {
    let place = Place::new(|_, _, _| None);
    place.file(
        "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
        "ondemand\n",
    );
    let found = place.evaluate("lanes").expect("an evaluation");
    assert_eq!(
        (found.outcome, codes(&found)),
        (Outcome::Ok, vec!["governor"])
    );
    place.file("sys/class/thermal/thermal_zone1/temp", "91000\n");
    let Err(EvalError::Environment { message, .. }) = place.evaluate("lanes") else {
        panic!("it is too hot");
    };
    assert!(message.contains("91 degrees"), "{message}");
    let place = Place::new(|job, _, _| job.starts_with("job1").then_some(132));
    let Err(EvalError::Environment { message, .. }) = place.evaluate("lanes") else {
        panic!("the baseline does not run");
    };
    assert!(message.contains("illegal instruction"), "{message}");
}

/// The runner itself, under QEMU; `cargo test -- --ignored` where `qemu-riscv64-static` is.
#[test]
#[ignore = "needs QEMU"]
fn the_runner_measures_under_an_emulator() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path: &Path = folder.path();
    let machine = format!(
        r#"
        backend = "board"
        description = "QEMU"
        simulated = "c908"
        folder = "{}"
        through = ["qemu-riscv64-static", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=128,Zfh=true"]
        seconds = 60
        "#,
        path.display()
    );
    let bench = bench(&machine, "/usr/bin");
    let catalog = Catalog::built_in().expect("built-in data");
    let problem = catalog.problem(PROBLEM).expect("a problem");
    for kernel in ["lanes", "baseline"] {
        let found = bench.evaluate(problem.kernel(kernel).expect("a kernel"));
        let found = found.expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Ok, "{:?}", found.diagnostics);
    }
}
