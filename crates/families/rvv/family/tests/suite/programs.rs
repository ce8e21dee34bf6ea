//! Random programs of vector instructions with the timing of a core.

use crate::c908;
use crate::vectors::{BASE, Recipe, Surroundings, image};
use autocomp_riscv::{
    Agnostic, CoreConfig, Exit, Extensions, Hart, Limits, Memory, Mode, VectorUnit,
};
use autocomp_riscv_machine::NoAccelerator;

/// Returns what a program leaves, and the cycles.
fn run(seed: u64, is_timed: bool) -> (Vec<u8>, u64) {
    let recipe = Recipe {
        seed,
        vlen: 128,
        programs: (0, 10),
        length: 12,
        cut: None,
        scalars: true,
    };
    let image = image(recipe, Surroundings::Bare);
    let mut memory = Memory::new(BASE, image.image.len());
    memory
        .host_mut(BASE, image.image.len())
        .expect("the image lies in memory")
        .copy_from_slice(&image.image);
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
    let at = BASE + image.results.start as u64;
    let left = memory.host(at, image.results.len());
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

/// Returns the cycles of a few instructions behind others that enable the unit and ask for four
/// elements of 32 bits.
fn cycles(words: &[u32]) -> u64 {
    let begin = [
        0x0000_63b7, // lui x7, 6
        0x6003_8393, // addi x7, x7, 0x600
        0x3003_a073, // csrs mstatus, x7
        0xcd02_7057, // vsetivli x0, 4, e32, m1, ta, ma
    ];
    let end = [
        0x4250_22d7, // vmv.x.s x5, v5
        0x0052_8333, // add x6, x5, x5
        0x0010_0073, // ebreak
    ];
    let program = begin.iter().chain(words).chain(&end);
    let image: Vec<u8> = program.flat_map(|word| word.to_le_bytes()).collect();
    let mut memory = Memory::new(BASE, 4096);
    let place = memory.host_mut(BASE, image.len());
    place.expect("memory").copy_from_slice(&image);
    let mut hart = Hart::new(&CoreConfig::plain(), Mode::Timed)
        .with_scoreboard(&c908().core)
        .with_vectors(VectorUnit::new(128, true, Agnostic::Undisturbed));
    hart.set_pc(BASE);
    let limits = Limits {
        instructions: 100,
        cycles: u64::MAX,
    };
    match hart.run(&mut memory, &mut NoAccelerator::default(), limits) {
        Exit::Fault(fault) if fault.rule == "ebreak" => hart.cycle(),
        other => panic!("the program ended otherwise: {other:?}"),
    }
}

/// A masked multiply-add reads its destination, two operands and the mask, and waits for each.
#[test]
fn masked_instructions_wait_for_their_operands() {
    let divide = 0x8284_9257; // vfdiv.vv v4, v8, v9
    let multiply_add = |first: u32| 0xb060_12d7 | first << 15; // vfmacc.vv v5, vFIRST, v6, v0.t
    let independent = cycles(&[divide, multiply_add(7)]);
    let dependent = cycles(&[divide, multiply_add(4)]);
    assert!(independent < dependent, "{independent} {dependent}");
}
