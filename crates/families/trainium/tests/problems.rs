//! The problems' own kernels: tuned ones give what the baselines give, and are faster.

use autocomp_trainium::timing::{Machine, Passes, time};
use autocomp_trainium::{Options, evaluate, parse_inputs};

/// Folder, inputs for comparing values, inputs for timing, tolerance.
const PROBLEMS: &[(&str, &str, &str, f32)] = &[
    (
        "rmsnorm",
        "a:f32[256,512];g:f32[512]",
        "a:f32[512,4096];g:f32[4096]",
        1e-5,
    ),
    (
        "layernorm",
        "x:f32[256,1024];gamma:f32[1024];beta:f32[1024]",
        "x:f32[4096,8192];gamma:f32[8192];beta:f32[8192]",
        1e-4,
    ),
    (
        "gemm",
        "lhsT:bf16[1024,1024];rhs:bf16[1024,2048]",
        "lhsT:bf16[8192,4096];rhs:bf16[8192,8192]",
        1e-2,
    ),
    ("silu", "x:f32[128,3584]", "x:f32[4096,7168]", 1e-5),
    ("cumsum", "x:f32[256,1024]", "x:f32[2048,2048]", 1e-4),
    (
        "rope",
        "x:f32[128,2048];cos:f32[64,2048];sin:f32[64,2048]",
        "x:f32[128,4096];cos:f32[64,4096];sin:f32[64,4096]",
        0.0,
    ),
    ("maxpool", "x:f32[300,200]", "x:f32[4096,4096]", 0.0),
    ("transpose", "a:f32[2,256,384]", "a:f32[512,512,512]", 0.0),
];

fn kernel(problem: &str, name: &str) -> String {
    let path = format!(
        "{}/data/problems/{problem}/{name}.py",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn tuned_kernels_give_what_the_baselines_give() {
    for (problem, small, _, tolerance) in PROBLEMS {
        let inputs = parse_inputs(small, Some(17)).expect("inputs");
        let run = |name| {
            let evaluation = evaluate(
                &kernel(problem, name),
                "solution",
                &inputs,
                &Options::default(),
            );
            evaluation.unwrap_or_else(|failure| panic!("{problem} {name}: {failure}"))
        };
        let (baseline, tuned) = (run("baseline"), run("tuned"));
        assert_eq!((baseline.unwritten, tuned.unwritten), (0, 0), "{problem}");
        let (a, b) = (&baseline.outputs[0].data, &tuned.outputs[0].data);
        assert_eq!(a.len(), b.len());
        for (x, y) in a.iter().zip(b) {
            assert!(
                (x - y).abs() <= tolerance * x.abs().max(1.0),
                "{problem}: {x} is not {y}"
            );
        }
    }
}

#[test]
fn tuned_kernels_are_faster() {
    let machine = Machine::built_in("trn1").expect("machine");
    for (problem, _, full, _) in PROBLEMS {
        let inputs = parse_inputs(full, None).expect("inputs");
        let latency = |name| {
            let options = Options {
                functional: false,
                ..Options::default()
            };
            let evaluation =
                evaluate(&kernel(problem, name), "solution", &inputs, &options).expect("kernel");
            time(&evaluation.trace, &machine, Passes::of(evaluation.dialect)).latency_ns
        };
        let (baseline, tuned) = (latency("baseline"), latency("tuned"));
        assert!(tuned < baseline, "{problem}: {tuned} against {baseline}");
    }
}
