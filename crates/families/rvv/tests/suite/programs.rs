//! Random programs of vector instructions with the timing of a core.

use crate::c908;
use crate::vectors::{BASE, Recipe, Surroundings, program};
use autocomp_riscv::{
    Agnostic, CoreConfig, Exit, Extensions, Hart, Limits, Memory, Mode, VectorUnit,
};
use autocomp_riscv_machine::NoAccelerator;

/// Returns what a program leaves, and the cycles.
fn run(seed: u64, is_timed: bool) -> (Vec<u8>, u64) {
    let recipe = Recipe {
        seed,
        vlen: 128,
        rounds: 10,
        length: 12,
        cut: None,
        scalars: true,
    };
    let program = program(recipe, Surroundings::Bare);
    let mut memory = Memory::new(BASE, program.image.len());
    memory
        .host_mut(BASE, program.image.len())
        .expect("the image lies in memory")
        .copy_from_slice(&program.image);
    let mode = if is_timed {
        Mode::Timed
    } else {
        Mode::Functional
    };
    let mut hart = Hart::new(&CoreConfig::plain(), mode)
        .with_scoreboard(&c908().core)
        .with_vectors(VectorUnit::new(128, true, Agnostic::Undisturbed))
        .with_extensions(Extensions {
            bits: true,
            half: true,
        });
    hart.set_pc(BASE);
    let limits = Limits {
        instructions: 1 << 32,
        cycles: u64::MAX,
    };
    match hart.run(&mut memory, &mut NoAccelerator::default(), limits) {
        Exit::Fault(fault) if fault.rule == "ebreak" => {}
        other => panic!("the program ended otherwise: {other:?}"),
    }
    let at = BASE + program.results.start as u64;
    let left = memory.host(at, program.results.len());
    (
        left.expect("the results lie in memory").to_vec(),
        hart.cycle(),
    )
}

#[test]
fn programs_compute_the_same_with_and_without_time() {
    for seed in 1..30 {
        let (results, cycles) = run(seed, true);
        assert!(results == run(seed, false).0, "seed {seed}");
        assert!(cycles > 1000, "seed {seed}: {cycles}");
        assert_eq!(cycles, run(seed, true).1, "seed {seed}");
    }
}
