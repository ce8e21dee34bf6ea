//! How fast kernels are interpreted, traced and scheduled, and in how much memory.
//!
//! `cargo bench -p autocomp-trainium --bench speed` runs the plain kernels of the six tutorial
//! problems on data at the problems' sizes, and without data, for the trace, at the published
//! ones. Instructions per second are those of the trace by processor time of this process.
#![allow(clippy::print_stdout, reason = "it prints what it finds")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use autocomp_catalog::{Catalog, Problem};
use autocomp_trainium::timing::{Machine, Passes, time};
use autocomp_trainium::{Options, evaluate, parse_inputs};

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

/// Processor time of this process, seconds.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap();
    let ticks = |at: usize| {
        fields
            .split_whitespace()
            .nth(at)
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    // User and system time, in hundredths of a second.
    (ticks(11) + ticks(12)) / 100.0
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

fn measured(what: &str, source: &str, inputs: &str, functional: bool) {
    let machine = Machine::built_in("trn1").unwrap();
    let inputs = parse_inputs(inputs, functional.then_some(1)).unwrap();
    let options = Options {
        functional,
        ..Options::default()
    };
    let begun = processor_seconds();
    let evaluation = evaluate(source, "solution", &inputs, &options).unwrap();
    let interpreted = processor_seconds();
    let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
    let scheduled = processor_seconds();
    let count = evaluation.trace.len() as f64;
    println!(
        "{what:<32} {count:>8} instructions  run {:>6.2} s  scheduled {:>6.2} s  {:>10.0} instructions/s  peak {:>6.0} MiB  {:>10.1} us",
        interpreted - begun,
        scheduled - interpreted,
        count / (scheduled - begun).max(0.01),
        peak_mib(),
        timeline.latency_ns / 1000.0
    );
}

fn main() {
    let catalog = Catalog::built_in().unwrap();
    for (name, published) in PUBLISHED {
        let problem = catalog.problem(&format!("trainium/{name}")).unwrap();
        let source = problem.kernel("baseline").unwrap();
        measured(
            &format!("{name} on data"),
            source,
            &own_inputs(&problem),
            true,
        );
        measured(&format!("{name}, published size"), source, published, false);
    }
    // Many small instructions: what one of them costs.
    let small = "import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\ndef solution(a):\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  for i in nl.sequential_range(200000):\n    t[...] = nisa.tensor_scalar(t, nl.add, 1.0)\n  nl.store(o, t)\n  return o\n";
    measured("small instructions, on data", small, "a:f32[2,2]", true);
    measured("small instructions, shapes", small, "a:f32[2,2]", false);
}
