//! No program makes the simulator panic or run on, whatever its words are: on each machine, with
//! registers of any length, with time and without.

use crate::vectors::Numbers;
use crate::{c908, x60};
use autocomp_riscv::{FirstLoads, Hart, Limits, Memory, Mode, Region, RegionAccess, VectorClass};
use autocomp_riscv_machine::NoAccelerator;
use autocomp_rvv::Machine;
use std::collections::BTreeSet;

const BASE: u64 = 0x8000_0000;
const BYTES: usize = 0x1_0000;
/// Most instructions of a run.
const INSTRUCTIONS: u64 = 600;
/// Opcodes of scalar instructions and of those that access memory.
const OPCODES: [u32; 14] = [
    0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x3b, 0x73, 0x07, 0x27, 0x53,
];

fn saturn() -> Machine {
    let text = include_str!("../../../../../../targets/rvv-saturn/machines/v512d256.toml");
    Machine::parse(text).expect("the machine can be read")
}

fn one_of<T: Copy>(numbers: &mut Numbers, list: &[T]) -> T {
    list[(numbers.next() % list.len() as u64) as usize]
}

/// Returns a random word that is often a legal vector instruction.
fn word(numbers: &mut Numbers) -> u32 {
    let bits = numbers.next() as u32;
    match numbers.next() % 16 {
        // `vsetvli`, `vsetivli` and `vsetvl`, mostly with a type that there is.
        0..2 => bits & 0x0fff_8f80 & !(0x7 << 28) | 0x7057,
        2 => bits & 0x0fff_8f80 | 0xc000_7057,
        3 => bits & 0x01ff_8f80 | 0x8000_7057,
        // Loads and stores of elements, by strides, by indices, of segments, of whole registers.
        4..8 => {
            let width = one_of(numbers, &[0, 5, 6, 7]);
            let opcode = one_of(numbers, &[0x07, 0x27]);
            let kind = match numbers.next() % 4 {
                0 => bits & 0xe000_0000 | one_of(numbers, &[0, 8, 11, 16]) << 20,
                1 => bits & 0xe1f0_0000,
                _ => bits & 0x0df0_0000 & !(1 << 28),
            };
            kind | bits & 0x020f_8f80 | width << 12 | opcode
        }
        // Those of one operand are told apart by the place of the other.
        8 => {
            let which = one_of(numbers, &[0x10, 0x12, 0x13, 0x14]);
            let one = which << 26 | one_of(numbers, &[1, 2]) << 12 | 0x57;
            // `vs1`: any, or one that there is of masks.
            match numbers.next() % 2 {
                0 => bits & 0x03ff_8f80 | one,
                _ => bits & 0x03f0_0f80 | one_of(numbers, &[0, 1, 2, 3, 16, 17]) << 15 | one,
            }
        }
        9..14 => bits & !0x707f | one_of(numbers, &[0, 1, 2, 3, 4, 5, 6]) << 12 | 0x57,
        _ => bits & !0x7f | one_of(numbers, &OPCODES),
    }
}

/// Returns an address in memory, aligned or not, or another number.
fn value(numbers: &mut Numbers) -> u64 {
    let bits = numbers.next();
    match numbers.next() % 8 {
        0..4 => BASE + bits % (BYTES as u64 / 8) * 8,
        4 => BASE + bits % (BYTES as u64 + 64),
        5 => bits % 64,
        6 => 0u64.wrapping_sub(bits % 64),
        _ => bits,
    }
}

/// Runs a random program on a machine in one way. Returns the classes of the vector instructions
/// that it has executed, if time was kept.
fn run(machine: &Machine, seed: u64) -> BTreeSet<VectorClass> {
    let mut numbers = Numbers(seed);
    let mut machine = machine.clone();
    // The unit may be another one than the model's: registers of other lengths are tested so.
    let [own, of_model] = [0; 2].map(|_| one_of(&mut numbers, &[128, 256, 512, 1024]));
    if one_of(&mut numbers, &[false, true, true, true])
        && let Some(model) = machine.core.vector.as_mut()
    {
        model.vlen = of_model;
    }
    let vlen = match numbers.next() % 4 {
        0 => own,
        _ => machine.vlen(),
    };
    let mode = one_of(&mut numbers, &[Mode::Functional, Mode::Timed, Mode::Timed]);
    let loads = [
        FirstLoads::Whole,
        FirstLoads::Half,
        FirstLoads::HalfBehindWhole,
    ];
    let mut hart = machine.hart(mode, vlen, one_of(&mut numbers, &loads));
    hart.note_causes(BASE);

    let mut words = vec![
        0x0000_63b7, // lui x7, 6
        0x6003_8393, // addi x7, x7, 0x600
        0x3003_a073, // csrs mstatus, x7
    ];
    if one_of(&mut numbers, &[true, false]) {
        words.push(0x305f_9073); // csrw mtvec, x31
    }
    // vsetvli x8, x9, and a type that there is
    let lmul = one_of(&mut numbers, &[0, 1, 2, 3, 5, 6, 7]);
    let kinds = (numbers.next() as u32 % 4) << 3 | (numbers.next() as u32 % 4) << 6;
    words.push((lmul | kinds) << 20 | 9 << 15 | 0x7457);
    let count = 1 + numbers.next() % 120;
    words.extend((0..count).map(|_| word(&mut numbers)));
    let image: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();

    let mut memory = Memory::new(BASE, BYTES);
    let end = BASE + BYTES as u64 - image.len() as u64;
    for at in [BASE, end] {
        let place = memory.host_mut(at, image.len()).expect("memory");
        place.copy_from_slice(&image);
    }
    for (name, range, access) in [
        ("guard", 0x8000..0x9800, RegionAccess::None),
        ("C", 0x8800..0x9000, RegionAccess::NoteWrites),
    ] {
        let range = BASE + range.start..BASE + range.end;
        memory.add_region(Region {
            name: name.into(),
            range,
            access,
        });
    }
    memory.watch(BASE + 0xa000..BASE + 0xb000);
    memory.hook(BASE + 0xc000);
    for number in 1..32 {
        hart.set_register(number, value(&mut numbers));
        hart.set_float_register(number, value(&mut numbers));
    }
    hart.set_register(31, BASE + 4 * (numbers.next() % 64));
    for start in [BASE, end, BASE + 4 * (numbers.next() % words.len() as u64)] {
        hart.set_pc(start);
        let before = hart.instructions();
        let limits = Limits {
            instructions: before + INSTRUCTIONS,
            cycles: u64::MAX,
        };
        for _ in 0..10 {
            let _ = hart.run(&mut memory, &mut NoAccelerator::default(), limits);
        }
        assert!(
            hart.instructions() <= before + INSTRUCTIONS + 64,
            "seed {seed}"
        );
        assert_eq!(hart.register(0), 0, "seed {seed}");
    }
    executed(&hart, &memory)
}

fn executed(hart: &Hart, memory: &Memory) -> BTreeSet<VectorClass> {
    let executed = hart
        .causes()
        .into_iter()
        .filter(|(_, spent)| spent.count > 0);
    let words = executed.filter_map(|(pc, _)| memory.host(pc, 4)?.try_into().ok());
    words
        .filter_map(|bytes| VectorClass::of_instruction(u32::from_le_bytes(bytes)))
        .collect()
}

fn run_all(seeds: std::ops::Range<u64>) {
    let machines = [c908(), x60(), saturn()];
    let mut found = BTreeSet::new();
    for seed in seeds {
        let machine = &machines[(seed % 3) as usize];
        match std::panic::catch_unwind(|| run(machine, seed)) {
            Ok(classes) => found.extend(classes),
            Err(_) => panic!("seed {seed}"),
        }
    }
    assert_eq!(found.len(), VectorClass::COUNT, "{found:?}");
}

#[test]
fn any_words_end_without_a_panic() {
    run_all(0..1500);
}

#[test]
#[ignore = "takes long: run by hand behind changes of instructions or of the model of time"]
fn many_more_words_end_without_a_panic() {
    run_all(1 << 32..(1 << 32) + 300_000);
}
