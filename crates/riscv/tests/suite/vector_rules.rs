//! Rules of vector instructions that random programs do not reach.

use crate::interpreter::Nothing;
use crate::rocket::core_config;
use autocomp_riscv::{Agnostic, Exit, FirstLoads, Hart, Limits, Memory, Mode, VectorUnit};

const BASE: u64 = 0x8000_0000;
const BYTES: usize = 8192;

fn vsetivli(vtype: u32, vl: u32) -> u32 {
    3 << 30 | vtype << 20 | vl << 15 | 7 << 12 | 0x57
}

/// `vmv.v.i`.
fn set(vd: u32, value: u32) -> u32 {
    0x17 << 26 | 1 << 25 | value << 15 | 3 << 12 | vd << 7 | 0x57
}

/// `vadd.vi`, masked or not.
fn add(vd: u32, vs2: u32, value: u32, masked: bool) -> u32 {
    u32::from(!masked) << 25 | vs2 << 20 | value << 15 | 3 << 12 | vd << 7 | 0x57
}

/// `vle8ff.v` from the address in `x10`.
fn load_first(vd: u32) -> u32 {
    1 << 25 | 16 << 20 | 10 << 15 | vd << 7 | 0x07
}

fn csrw(csr: u32, value: u32) -> u32 {
    csr << 20 | value << 15 | 5 << 12 | 0x73
}

/// Runs instructions and then `ebreak`; returns the hart and the rule that ended the run.
fn run(unit: Option<VectorUnit>, x10: u64, words: &[u32]) -> (Hart, &'static str) {
    let mut memory = Memory::new(BASE, BYTES);
    let code: Vec<u8> = words
        .iter()
        .chain(&[0x0010_0073])
        .flat_map(|it| it.to_le_bytes())
        .collect();
    memory
        .host_mut(BASE, code.len())
        .expect("the code fits")
        .copy_from_slice(&code);
    let mut hart = Hart::new(&core_config(64, 4), Mode::Functional);
    if let Some(unit) = unit {
        hart = hart.with_vectors(unit);
    }
    hart.set_pc(BASE);
    hart.set_register(10, x10);
    let limits = Limits {
        instructions: 1000,
        cycles: u64::MAX,
    };
    match hart.run(&mut memory, &mut Nothing, limits) {
        Exit::Fault(fault) => (hart, fault.rule),
        other => panic!("{other:?}"),
    }
}

fn unit(agnostic: Agnostic) -> Option<VectorUnit> {
    Some(VectorUnit::new(128, false, agnostic))
}

fn register(hart: &Hart, number: usize) -> [u8; 16] {
    let registers = hart.vectors().expect("there is a unit").registers();
    registers[16 * number..16 * (number + 1)]
        .try_into()
        .expect("sixteen bytes")
}

#[test]
fn agnostic_elements_are_poisoned_where_that_is_wanted() {
    // Three bytes; the mask has the second one only.
    for (vtype, agnostic, [masked, tail]) in [
        (0, Agnostic::Ones, [7, 7]),
        (0x40, Agnostic::Ones, [7, 0xff]),
        (0x80, Agnostic::Ones, [0xff, 7]),
        (0xc0, Agnostic::Ones, [0xff, 0xff]),
        (0xc0, Agnostic::Undisturbed, [7, 7]),
    ] {
        let words = [
            vsetivli(0, 16),
            set(0, 0),
            set(1, 7),
            vsetivli(0, 1),
            set(0, 2),
            vsetivli(vtype, 3),
            add(1, 1, 3, true),
        ];
        let (hart, rule) = run(unit(agnostic), 0, &words);
        assert_eq!(rule, "ebreak");
        let mut expected = [tail; 16];
        expected[..3].copy_from_slice(&[masked, 10, masked]);
        assert_eq!(register(&hart, 1), expected, "{vtype:#x}, {agnostic:?}");
    }
}

#[test]
fn an_instruction_begins_at_vstart_and_clears_it() {
    let words = [
        vsetivli(0, 4),
        set(1, 1),
        csrw(8, 2),
        add(1, 1, 4, false),
        add(1, 1, 1, false),
    ];
    let (hart, _) = run(unit(Agnostic::Undisturbed), 0, &words);
    assert_eq!(register(&hart, 1)[..5], [2, 2, 6, 6, 0]);
}

#[test]
fn a_load_that_may_end_early_ends_where_memory_does() {
    let end = BASE + BYTES as u64;
    let vl = |x10| {
        // csrr x11, vl
        let words = [
            vsetivli(0, 16),
            load_first(2),
            0xc20 << 20 | 2 << 12 | 11 << 7 | 0x73,
        ];
        let (hart, rule) = run(unit(Agnostic::Undisturbed), x10, &words);
        (hart.register(11), rule)
    };
    assert_eq!(vl(end - 16), (16, "ebreak"));
    assert_eq!(vl(end - 5), (5, "ebreak"));
    assert_eq!(vl(end), (0, "unmapped"));
}

#[test]
fn elements_behind_a_load_that_ended_early_are_anything() {
    // 16 bytes, tails undisturbed.
    let words = [vsetivli(0, 16), set(2, 3), load_first(2)];
    let loaded = |agnostic, first_loads| {
        let unit = unit(agnostic).map(|it| it.with_first_loads(first_loads));
        let (hart, rule) = run(unit, BASE, &words);
        assert_eq!(rule, "ebreak");
        register(&hart, 2)
    };
    let whole = loaded(Agnostic::Ones, FirstLoads::Whole);
    assert_ne!(whole[8..], [3; 8]);
    for (agnostic, first_loads, behind) in [
        (Agnostic::Undisturbed, FirstLoads::Half, &[3; 8][..]),
        (Agnostic::Ones, FirstLoads::Half, &[0xff; 8]),
        (Agnostic::Ones, FirstLoads::HalfBehindWhole, &whole[8..]),
    ] {
        let found = loaded(agnostic, first_loads);
        assert_eq!(found[..8], whole[..8]);
        assert_eq!(&found[8..], behind, "{first_loads:?}");
    }
}

#[test]
fn what_is_reserved_or_missing_is_illegal() {
    let reserved = [
        // vsetvli with an element wider than a part of a register allows, then an operation.
        vec![vsetivli(3 << 3 | 5, 4), set(1, 0)],
        // A group of two that begins at an odd register.
        vec![vsetivli(1, 4), set(1, 0)],
        // The mask is overwritten.
        vec![vsetivli(0, 4), add(0, 1, 1, true)],
        // vmv1r.v without a configuration.
        vec![0x27 << 26 | 1 << 25 | 3 << 12 | 1 << 7 | 0x57],
        // vfadd.vv while `frm` holds 5.
        vec![
            vsetivli(2 << 3, 4),
            csrw(2, 5),
            1 << 25 | 1 << 12 | 1 << 7 | 0x57,
        ],
        // vfadd.vv of 16 bits, which this unit has not.
        vec![vsetivli(1 << 3, 4), 1 << 25 | 1 << 12 | 1 << 7 | 0x57],
    ];
    for words in reserved {
        let (_, rule) = run(unit(Agnostic::Undisturbed), 0, &words);
        assert_eq!(rule, "illegal-instruction", "{words:x?}");
    }
    let (_, rule) = run(None, 0, &[vsetivli(0, 4)]);
    assert_eq!(rule, "illegal-instruction");
}

/// `vfredosum.vs` (3) or `vfredusum.vs` (1) of `v4` and the first element of `v8` into `v12`.
fn sum(operation: u32, is_masked: bool) -> u32 {
    operation << 26 | u32::from(!is_masked) << 25 | 4 << 20 | 8 << 15 | 1 << 12 | 12 << 7 | 0x57
}

/// Whether all elements are summed up at once or one by one below a mask makes no difference.
#[test]
fn sums_are_the_same_with_and_without_a_mask_of_all() {
    let numbers = [
        [0x3dcc_cccd, 0x3f80_0000, 0xc149_999a, 0x4b18_9680],
        [0x3f80_0000, 0x4000_0000, 0x4040_0000, 0x4080_0000],
        [0x3f80_0000, 0xbf80_0000, 0x8000_0000, 0x0000_0000],
        [0x7f7f_ffff, 0x7f7f_ffff, 0x7f80_0000, 0x3f80_0000],
        [0x0000_0001, 0x8000_0001, 0x0080_0000, 0x0000_0003],
        [0x7fa0_0000, 0x3f80_0000, 0x7fc0_0000, 0x3f80_0000],
        [0x7f80_0000, 0xff80_0000, 0x3f80_0000, 0x4040_0000],
    ];
    let mut different = 0;
    for row in numbers {
        for (agnostic, operation, vl) in [
            (Agnostic::Undisturbed, 3, 4),
            (Agnostic::Ones, 3, 3),
            (Agnostic::Undisturbed, 1, 4),
            (Agnostic::Ones, 1, 4),
        ] {
            let [masked, whole] = [true, false].map(|is_masked| {
                let mut memory = Memory::new(BASE, BYTES);
                let words = [
                    // A mask of ones, four numbers, and the first of them once more.
                    vsetivli(0xd0, 4),
                    set(0, 31),
                    0x0205_e207 | 11 << 15,
                    0x0205_e407 | 11 << 15,
                    vsetivli(0xd0, vl),
                    sum(operation, is_masked),
                    0x0010_2573,
                    0x0010_0073,
                ];
                let bytes = |words: &[u32]| -> Vec<u8> {
                    words.iter().flat_map(|it| it.to_le_bytes()).collect()
                };
                let code = bytes(&words);
                memory
                    .host_mut(BASE, code.len())
                    .expect("the code fits")
                    .copy_from_slice(&code);
                memory
                    .host_mut(BASE + 4096, 16)
                    .expect("the numbers fit")
                    .copy_from_slice(&bytes(&row));
                let unit = unit(agnostic).expect("a unit");
                let mut hart = Hart::new(&core_config(64, 4), Mode::Functional).with_vectors(unit);
                hart.set_pc(BASE);
                hart.set_register(11, BASE + 4096);
                let limits = Limits {
                    instructions: 1000,
                    cycles: u64::MAX,
                };
                let exit = hart.run(&mut memory, &mut Nothing, limits);
                assert!(
                    matches!(&exit, Exit::Fault(it) if it.rule.contains("ebreak")),
                    "{exit:?}"
                );
                (register(&hart, 12), hart.register(10))
            });
            assert_eq!(whole, masked, "{row:x?} {operation}");
            different += usize::from(whole.0 != [0xff; 16]);
        }
    }
    assert_eq!(different, 4 * numbers.len());
}
