//! Zba, Zbb, Zbs and Zfh: who has them, and what random programs against QEMU 7.2 cannot check.

use crate::interpreter::Nothing;
use crate::rocket::core_config;
use autocomp_riscv::{Exit, Extensions, Hart, Limits, Memory, Mode};

const BASE: u64 = 0x8000_0000;

/// Runs one instruction and `ebreak`; returns `x10` and the rule that ended the run.
fn run(extensions: Extensions, word: u32, x11: u64) -> (u64, &'static str) {
    let mut memory = Memory::new(BASE, 4096);
    let code = [word, 0x0010_0073].map(u32::to_le_bytes).concat();
    memory
        .host_mut(BASE, code.len())
        .expect("the code fits")
        .copy_from_slice(&code);
    let mut hart = Hart::new(&core_config(64, 4), Mode::Functional).with_extensions(extensions);
    hart.set_pc(BASE);
    hart.set_register(11, x11);
    let limits = Limits {
        instructions: 10,
        cycles: u64::MAX,
    };
    match hart.run(&mut memory, &mut Nothing, limits) {
        Exit::Fault(fault) => (hart.register(10), fault.rule),
        other => panic!("{other:?}"),
    }
}

const ALL: Extensions = Extensions {
    bits: true,
    half: true,
};

#[test]
fn extensions_are_illegal_without_being_asked_for() {
    // sh1add, clz, bset, fmv.x.h, flh.
    for word in [
        0x20b5_a533,
        0x6005_9513,
        0x28b5_9533,
        0xe405_0553,
        0x0005_9507,
    ] {
        let (_, rule) = run(Extensions::default(), word, BASE);
        assert_eq!(rule, "illegal-instruction", "{word:08x}");
        assert_eq!(run(ALL, word, BASE).1, "ebreak", "{word:08x}");
    }
}

#[test]
fn trailing_zeros_of_words_end_with_the_word() {
    let ctzw = 0x6015_951b;
    assert_eq!(run(ALL, ctzw, 1 << 33), (32, "ebreak"));
    assert_eq!(run(ALL, ctzw, 0x7000), (12, "ebreak"));
}
