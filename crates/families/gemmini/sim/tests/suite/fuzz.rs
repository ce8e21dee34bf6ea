//! A few runs of every target of the fuzzer, so that it cannot rot.
//!
//! The real runs are made by `cargo run --release -p autocomp-gemmini-sim --features examples --example fuzz`.

#[path = "../../examples/fuzz/accelerator.rs"]
mod accelerator;
#[path = "../../examples/fuzz/bytes.rs"]
mod bytes;
#[path = "../../examples/fuzz/random.rs"]
mod random;
#[path = "../../examples/fuzz/scalar.rs"]
mod scalar;
#[path = "../../examples/fuzz/target.rs"]
mod target;

#[test]
fn every_target_survives_and_repeats_a_few_runs() {
    for target in target::TARGETS {
        for seed in 1..=40 {
            let digest = (target.run)(seed);
            if seed % 8 == 0 {
                assert_eq!((target.run)(seed), digest, "{} {seed}", target.name);
            }
        }
    }
}
