//! Calls of kernels for 512x512x512 by the simulator alone: nothing is built,
//! compared or analysed while the clock runs.
//!
//! Timed calls, without and with a recording as evaluations make one, are given
//! in simulated cycles per second, functional ones in calls per second. All but
//! the first call find the caches as the call before has left them. The compiler
//! is found as the benchmark `evaluation` finds it.

#![allow(missing_docs, reason = "made by the benchmark's macros")]
#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

mod compiler;

use autocomp_catalog::{Problem, Target};
use autocomp_gemmini::Gemmini;
use autocomp_gemmini::timing::Recording;
use autocomp_gemmini_sim::MachineConfig;
use autocomp_riscv::{Limits, Mode};
use autocomp_riscv_machine::{CallReport, MEMORY_BASE, Machine, Program};
use autocomp_toolchain::build::{Build, Builder, Loops, Rules, Source};
use autocomp_toolchain::{CompileTarget, Compiler};
use compiler::{cache_folder, problem, toolchain};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Kernels of the problem.
const KERNELS: [&str; 4] = ["baseline", "software", "expert", "fsm"];

/// What somebody writes who knows nothing of schedules.
const PLAIN: &str = include_str!("../../../../autocomp/tests/kernels/plain_512.c");

/// Bytes between two buffers and behind the last one.
const GAP: u64 = 1 << 16;

/// More commands than a call has.
const RECORDED_COMMANDS: usize = 400_000;

fn builder(target: &Target, problem: &Problem) -> Builder {
    let files = autocomp_bare_metal::runtime_files(target);
    let compiler = Compiler::new(toolchain(), CompileTarget::rv64("rv64gc")).unwrap();
    Builder::new(compiler, files, &problem.entry, &cache_folder()).unwrap()
}

fn build(builder: &Builder, problem: &Problem, text: &str) -> Program {
    let macros = problem.macros.iter();
    let macros: Vec<_> = macros.map(|(n, v)| (n.clone(), v.clone())).collect();
    let source = Source {
        name: "kernel.c",
        text,
        header: Some("gemmini.h"),
        macros: &macros,
        loops: Loops::Plain,
        rules: Rules::Kernel,
    };
    match builder.build(&source).unwrap() {
        Build::Built(program) => Program::parse(&program.elf).unwrap(),
        Build::Failed(found) | Build::Refused(found) => panic!("{found:?}"),
    }
}

/// A machine with a program and its buffers, ready for calls.
struct Callable {
    machine: Machine<Gemmini>,
    entry: u64,
    arguments: Vec<u64>,
    stack: u64,
}

impl Callable {
    fn new(config: &MachineConfig, program: &Program, problem: &Problem, mode: Mode) -> Self {
        let timing = (mode == Mode::Timed).then_some(&config.timing);
        let accelerator = Gemmini::new(config.accelerator.clone(), timing).unwrap();
        let mut at = program.symbol("_end").unwrap();
        let mut place = |bytes: usize| {
            let address = (at + GAP).next_multiple_of(64);
            at = address + bytes as u64;
            address
        };
        let buffers = problem.buffers.iter();
        let arguments: Vec<u64> = buffers.map(|buffer| place(buffer.bytes())).collect();
        let end = (at + GAP).next_multiple_of(4096);
        let size = (end - MEMORY_BASE) as usize;
        let mut machine = Machine::with_memory(&config.core, accelerator, mode, size);
        machine.load(program).unwrap();
        for (buffer, address) in problem.buffers.iter().zip(&arguments) {
            let bytes = machine.memory().host_mut(*address, buffer.bytes()).unwrap();
            for (place, byte) in bytes.iter_mut().enumerate() {
                *byte = (place * 31 / 8) as u8;
            }
        }
        Self {
            machine,
            entry: program.symbol(&problem.entry).unwrap(),
            arguments,
            stack: program.symbol("__stack_top").unwrap(),
        }
    }

    fn call(&mut self) -> CallReport {
        let limits = Limits {
            instructions: u64::MAX,
            cycles: u64::MAX,
        };
        let (arguments, stack) = (&self.arguments, self.stack);
        let report = self.machine.call(self.entry, arguments, stack, limits);
        report.unwrap()
    }

    fn record(&mut self, recording: Recording) {
        self.machine.accelerator().timing_mut().unwrap().record(
            recording,
            RECORDED_COMMANDS,
            false,
        );
    }

    fn take_recording(&mut self) -> Recording {
        let timing = self.machine.accelerator().timing_mut().unwrap();
        timing.take_recording().unwrap()
    }
}

fn calls(criterion: &mut Criterion) {
    let (problem, target) = problem();
    let machine = target.machine(None).unwrap();
    let config = MachineConfig::from_toml(machine).unwrap();
    let builder = builder(&target, &problem);
    let mut group = criterion.benchmark_group("calls");
    group.sample_size(20);
    let kernels = KERNELS.map(|name| (name, problem.kernel(name).unwrap()));
    for (name, text) in kernels.into_iter().chain([("plain", PLAIN)]) {
        let program = build(&builder, &problem, text);
        let mut timed = Callable::new(&config, &program, &problem, Mode::Timed);
        timed.call();
        group.throughput(Throughput::Elements(timed.call().cycles));
        group.bench_function(format!("{name}/timed (cycles)"), |bencher| {
            bencher.iter(|| timed.call())
        });
        let mut recording = Recording::default();
        group.bench_function(format!("{name}/recorded (cycles)"), |bencher| {
            bencher.iter(|| {
                timed.record(std::mem::take(&mut recording));
                timed.call();
                recording = timed.take_recording();
            });
        });
        let mut functional = Callable::new(&config, &program, &problem, Mode::Functional);
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{name}/functional (calls)"), |bencher| {
            bencher.iter(|| functional.call())
        });
    }
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
