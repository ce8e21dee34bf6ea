//! Random kernels: whatever is written, the answer is a result or a failure with a code. Many
//! more cases run with `cargo run --release -p autocomp-trainium-sim --features examples --example fuzz-nki -- SEED CASES`.

use crate::generator::{Case, kernel};
use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Options, evaluate, parse_inputs};
use std::collections::BTreeSet;

#[test]
fn random_kernels_end_with_a_result_or_a_failure_with_a_remedy() {
    let machine = Machine::built_in("trn1").unwrap();
    let mut right = 0;
    let mut kinds = BTreeSet::new();
    for seed in 0..1000 {
        let Case {
            kind,
            source,
            inputs,
            functional,
        } = kernel(seed);
        kinds.insert(kind);
        let inputs = parse_inputs(inputs, Some(seed)).unwrap();
        let options = Options {
            step_limit: 20_000,
            byte_limit: 1 << 26,
            instruction_limit: 2_000,
            functional,
            ..Options::default()
        };
        match evaluate(&source, "solution", &inputs, &options) {
            Ok(evaluation) => {
                let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
                assert!(timeline.latency_ns.is_finite(), "seed {seed}:\n{source}");
                right += 1;
            }
            Err(failure) => {
                assert_ne!(failure.code, "evaluation-failed", "seed {seed}:\n{source}");
                assert!(!failure.remedy.is_empty(), "seed {seed}: {failure}");
            }
        }
    }
    // A generator whose kernels all fail early would test little.
    assert!(15 <= right, "{right} kernels ran");
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}

/// Found by seed 30908918: a sum over partitions that are not there.
#[test]
fn a_reduction_over_no_partitions_is_refused() {
    let source = "import nki.language as nl\nimport nki.isa as nisa\ndef solution(a):\n  o = nl.ndarray((1, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.ndarray((1, 8), dtype=nl.float32, buffer=nl.sbuf)\n  x = nl.ndarray((0, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.tensor_partition_reduce(dst=t, op=nl.add, data=x)\n  nisa.dma_copy(dst=o, src=t)\n  return o\n";
    for functional in [true, false] {
        let inputs = parse_inputs("a:f32[64,8]", functional.then_some(1)).unwrap();
        let options = Options {
            functional,
            ..Options::default()
        };
        let failure = evaluate(source, "solution", &inputs, &options).unwrap_err();
        assert_eq!((failure.code.as_str(), failure.line), ("value-error", 7));
        assert!(!failure.remedy.is_empty(), "{failure}");
    }
}

/// Found by seed 2399582: a tile without partitions, as an operand and as a destination.
#[test]
fn a_tile_without_partitions_is_no_panic() {
    let source = "import neuronxcc.nki.language as nl\ndef solution(a):\n  t = nl.load(a[0:9, 0:1])\n  x = nl.zeros((0, 1), dtype=nl.float32)\n  for k in nl.sequential_range(3):\n    x[...] = x + t\n  return x\n";
    for functional in [true, false] {
        let inputs = parse_inputs("a:f32[64,8]", functional.then_some(1)).unwrap();
        let options = Options {
            functional,
            ..Options::default()
        };
        if let Err(failure) = evaluate(source, "solution", &inputs, &options) {
            assert_ne!(failure.code, "evaluation-failed", "{failure}");
            assert!(!failure.remedy.is_empty(), "{failure}");
        }
    }
}
