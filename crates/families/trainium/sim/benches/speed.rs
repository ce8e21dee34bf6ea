//! How fast kernels are interpreted, traced and scheduled, and in how much memory.
//!
//! `cargo bench -p autocomp-trainium-sim --bench speed` runs the plain kernels of the six tutorial
//! problems on data at the problems' sizes, and without data, for the trace, at the published
//! ones. Instructions per second are those of the trace by processor time, the least of several
//! runs. A word behind `--` chooses rows whose names contain it.
#![allow(clippy::print_stdout, reason = "it prints what it finds")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use autocomp_catalog::{Catalog, Problem};
use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Options, STACK, evaluate_on_this_thread, parse_inputs};

/// Most runs of a row, and the seconds after which it is not run again once it was three times.
const RUNS: usize = 2000;
const SECONDS: f64 = 2.0;

/// Tutorial problems with the inputs that latencies were published for.
const PUBLISHED: [(&str, &str); 6] = [
    ("rmsnorm", "a:f32[512,4096];g:f32[4096]"),
    (
        "layernorm",
        "x:f32[4096,8192];gamma:f32[8192];beta:f32[8192]",
    ),
    ("gemm", "lhsT:bf16[8192,4096];rhs:bf16[8192,8192]"),
    (
        "mamba",
        "delta:f32[1,256,2048];u:f32[1,256,2048];A:f32[256,16];B:f32[1,16,2048];C:f32[1,16,2048]",
    ),
    (
        "attention",
        "q:bf16[128,4096];k:bf16[128,4096];v:bf16[128,4096]",
    ),
    (
        "sd-attention",
        "q:f32[4096,64];k:f32[4096,64];v:f32[4096,64]",
    ),
];

/// Processor time of this thread, seconds.
fn processor_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Largest memory that this process has had, MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<f64>()
        .unwrap()
        / 1024.0
}

fn own_inputs(problem: &Problem) -> String {
    let read = problem.buffers.iter().filter(|buffer| buffer.is_read());
    let read = read.map(|buffer| {
        let shape: Vec<String> = buffer.shape.iter().map(u64::to_string).collect();
        format!(
            "{}:{}[{}]",
            buffer.name,
            buffer.dtype.name(),
            shape.join(",")
        )
    });
    read.collect::<Vec<_>>().join(";")
}

/// Times a kernel in several runs and prints the least of each time.
fn measured(what: &str, source: &str, inputs: &str, functional: bool) {
    let machine = Machine::built_in("trn1").unwrap();
    let inputs = parse_inputs(inputs, functional.then_some(1)).unwrap();
    let options = Options {
        functional,
        ..Options::default()
    };
    let (mut interpreted, mut scheduled) = (f64::INFINITY, f64::INFINITY);
    let (mut count, mut latency) = (0.0, 0.0);
    let first = processor_seconds();
    for run in 0..RUNS {
        let begun = processor_seconds();
        if SECONDS < begun - first && 2 < run {
            break;
        }
        let evaluation = evaluate_on_this_thread(source, "solution", &inputs, &options).unwrap();
        let ended = processor_seconds();
        let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
        scheduled = scheduled.min(processor_seconds() - ended);
        interpreted = interpreted.min(ended - begun);
        count = evaluation.trace.len() as f64;
        latency = timeline.latency_ns / 1000.0;
    }
    println!(
        "{what:<32} {count:>8} instructions  run {interpreted:>7.4} s  scheduled {scheduled:>7.4} s  {:>10.0} instructions/s  peak {:>6.0} MiB  {latency:>10.1} us",
        count / (interpreted + scheduled),
        peak_mib(),
    );
}

fn all(wanted: &str) {
    let row = |what: &str, source: &str, inputs: &str, functional: bool| {
        if what.contains(wanted) {
            measured(what, source, inputs, functional);
        }
    };
    let catalog = Catalog::built_in().unwrap();
    for (name, published) in PUBLISHED {
        let problem = catalog.problem(&format!("trainium/{name}")).unwrap();
        let source = problem.kernel("baseline").unwrap();
        let inputs = own_inputs(&problem);
        row(&format!("{name} on data"), source, &inputs, true);
        row(&format!("{name}, published size"), source, published, false);
    }
    // Many small instructions: what one of them costs.
    let small = "import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\ndef solution(a):\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  for i in nl.sequential_range(200000):\n    t[...] = nisa.tensor_scalar(t, nl.add, 1.0)\n  nl.store(o, t)\n  return o\n";
    row("small instructions, on data", small, "a:f32[2,2]", true);
    row("small instructions, shapes", small, "a:f32[2,2]", false);
}

fn main() {
    // Cargo adds an option of its own.
    let wanted = std::env::args().skip(1).find(|it| !it.starts_with('-'));
    let worker = std::thread::Builder::new().stack_size(STACK);
    let rows = worker.spawn(move || all(&wanted.unwrap_or_default()));
    rows.unwrap().join().unwrap();
}
