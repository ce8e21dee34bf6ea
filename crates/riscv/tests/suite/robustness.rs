//! Nothing that a program does may panic, and what is said of it holds.

use crate::rocket;

use autocomp_riscv::{
    BelowL1, Fault, Hart, Limits, LineAccess, Memory, Mode, Operation, Region, RegionAccess, Rocc,
    RoccCommand, RoccReply, decode,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rocket::core_config;

const BASE: u64 = 0x8000_0000;
const BYTES: usize = 0x1_0000;

/// Opcodes of all 32-bit instructions, so that random words are often legal.
const OPCODES: [u32; 20] = [
    0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x1b, 0x33, 0x3b, 0x0f, 0x73, 0x2f, 0x7b, 0x07,
    0x27, 0x43, 0x4f, 0x53,
];

fn instruction() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (any::<u32>(), prop::sample::select(OPCODES.to_vec()))
            .prop_map(|(bits, opcode)| bits & !0x7f | opcode),
    ]
}

/// Addresses in, around and far from memory, aligned and not.
fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (0..BYTES as u64 + 64).prop_map(|offset| BASE + offset),
        (0..BYTES as u64 / 8).prop_map(|offset| BASE + 8 * offset),
        Just(0),
        Just(u64::MAX),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn decoding_any_word_gives_registers_in_range(bits in instruction(), pc in any::<u64>()) {
        let decoded = decode(bits, pc);
        prop_assert_eq!(decoded.length, if bits & 3 == 3 { 4 } else { 2 });
        let instruction = decoded.instruction;
        prop_assert!(instruction.rd <= 32 && instruction.rs1 < 32 && instruction.rs2 < 32);
        // No instruction waits for x0: the bit is that of the floating-point unit.
        prop_assert_eq!(instruction.uses & 1 == 1, instruction.uses >> 32 != 0);
        if instruction.operation == Operation::Illegal {
            prop_assert_eq!(instruction.uses, 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn executing_any_bytes_ends_without_a_panic(
        words in prop::collection::vec(instruction(), 1..200),
        registers in prop::collection::vec(value(), 31),
        entry in 0u64..64,
        handler in prop::option::of(0u64..400),
        replies in any::<u64>(),
    ) {
        for mode in [Mode::Functional, Mode::Timed] {
            let mut memory = Memory::new(BASE, BYTES);
            // csrw mtvec, x31
            let prologue = if handler.is_some() { 0x305f_9073 } else { words[0] };
            let bytes: Vec<u8> = [prologue]
                .iter()
                .chain(&words)
                .flat_map(|word| word.to_le_bytes())
                .collect();
            memory.host_mut(BASE, bytes.len()).unwrap().copy_from_slice(&bytes);
            // The same at the end of memory, so that fetching runs off it.
            let end = BASE + BYTES as u64 - bytes.len() as u64;
            memory.host_mut(end, bytes.len()).unwrap().copy_from_slice(&bytes);
            let region = |name: &str, range, access| Region { name: name.into(), range, access };
            let range = BASE + 0x8000..BASE + 0x9800;
            memory.add_region(region("guard", range, RegionAccess::None));
            let range = BASE + 0x8800..BASE + 0x9000;
            memory.add_region(region("C", range, RegionAccess::NoteWrites));
            memory.watch(BASE + 0xa000..BASE + 0xb000);
            memory.hook(BASE + 0xc000);
            let mut hart = Hart::new(&core_config(4, 2), mode);
            for (idx, register) in registers.iter().enumerate() {
                hart.set_register(idx + 1, *register);
                hart.set_float_register(idx, *register);
            }
            let mut coprocessor = Arbitrary(replies | 1);
            for start in [BASE, BASE + 2 * entry, end + 2 * entry] {
                hart.set_pc(start);
                if let Some(handler) = handler {
                    hart.set_register(31, BASE + 4 * handler);
                }
                let limits = Limits { instructions: hart.instructions() + 3000, cycles: u64::MAX };
                let before = hart.instructions();
                for _ in 0..20 {
                    hart.run(&mut memory, &mut coprocessor, limits);
                }
                prop_assert!(hart.instructions() <= before + 3000 + 64);
                prop_assert_eq!(hart.register(0), 0);
            }
        }
    }

    #[test]
    fn functional_and_timed_runs_compute_the_same(
        words in prop::collection::vec(instruction(), 1..120),
        registers in prop::collection::vec(value(), 31),
    ) {
        let run = |mode| {
            let mut memory = Memory::new(BASE, BYTES);
            let mut bytes: Vec<u8> = words
                .iter()
                // Counters are what differs.
                .filter(|word| *word & 0x7f != 0x73)
                .flat_map(|word| word.to_le_bytes())
                .collect();
            bytes.extend_from_slice(&0x0010_0073u32.to_le_bytes());
            memory.host_mut(BASE, bytes.len()).unwrap().copy_from_slice(&bytes);
            let mut hart = Hart::new(&core_config(4, 2), mode);
            for (idx, register) in registers.iter().enumerate() {
                hart.set_register(idx + 1, *register);
                hart.set_float_register(idx, *register);
            }
            hart.set_pc(BASE);
            let limits = Limits { instructions: 2000, cycles: u64::MAX };
            let exit = hart.run(&mut memory, &mut Arbitrary(1), limits);
            let integers: Vec<u64> = (0..32).map(|number| hart.register(number)).collect();
            let floats: Vec<u64> = (0..32).map(|number| hart.float_register(number)).collect();
            let bytes = memory.host(BASE, BYTES).unwrap().to_vec();
            (exit, hart.pc(), hart.instructions(), hart.float_status(), integers, floats, bytes)
        };
        prop_assert_eq!(run(Mode::Functional), run(Mode::Timed));
    }
}

/// Runs `words`, which are write-protected, with `fill` in every other page behind them,
/// where a device has written it. Returns all that can be told from outside, and whether
/// the core stands alone and has read no clock.
fn run_beside_device(
    words: &[u32],
    registers: &[u64],
    mode: Mode,
    fill: u8,
) -> ((String, Vec<u8>), bool) {
    let mut memory = Memory::new(BASE, BYTES);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend_from_slice(&0x0010_0073u32.to_le_bytes());
    let host = memory.host_mut(BASE, bytes.len());
    host.expect("it is memory").copy_from_slice(&bytes);
    memory.add_region(Region {
        name: "code".into(),
        range: BASE..BASE + 0x1000,
        access: RegionAccess::Read,
    });
    memory.note_origins();
    let pages: Vec<u64> = (BASE..BASE + BYTES as u64).step_by(0x1000).collect();
    for page in pages.iter().skip(1).step_by(2) {
        let host = memory.host_mut(*page, 0x1000);
        host.expect("it is memory").fill(fill);
        memory.note_device_write(*page, 0x1000);
    }
    let mut hart = Hart::new(&core_config(4, 2), mode);
    for (idx, register) in registers.iter().enumerate() {
        hart.set_register(idx + 1, *register);
        hart.set_float_register(idx, *register);
    }
    hart.set_pc(BASE);
    let limits = Limits {
        instructions: 2000,
        cycles: u64::MAX,
    };
    let exit = hart.run(&mut memory, &mut Arbitrary(1), limits);
    let registers: Vec<_> = (0..32)
        .map(|number| (hart.register(number), hart.float_register(number)))
        .collect();
    let others: Vec<u8> = pages
        .iter()
        .step_by(2)
        .flat_map(|page| memory.host(*page, 0x1000).expect("it is memory").to_vec())
        .collect();
    let seen = format!(
        "{exit:?} {:x} {} {} {registers:x?}",
        hart.pc(),
        hart.instructions(),
        hart.cycle(),
    );
    let alone = memory.core_stands_alone() && !hart.has_read_counters();
    ((seen, others), alone)
}

#[test]
fn a_core_that_stands_alone_does_the_same_whatever_devices_have_written() {
    // Loads, stores and atomics, most of them aligned, among what computes.
    let access = (
        any::<u32>(),
        prop::sample::select(vec![0x03, 0x07, 0x2f, 0x23, 0x27, 0x13, 0x33, 0x53]),
    );
    let access = access.prop_map(|(bits, opcode): (u32, u32)| match opcode {
        0x03 | 0x07 => bits & !0x0070_007f | opcode,
        0x23 | 0x27 => bits & !0x0000_03ff | opcode,
        0x2f if bits >> 31 == 0 => bits & !0xf9f0_407f | 0x1000_2000 | opcode, // lr
        0x2f => bits & !0xf800_407f | 0x0800_2000 | opcode,                    // amoswap
        _ => bits & !0x7f | opcode,
    });
    let programs = (
        prop::collection::vec(access, 1..12),
        prop::collection::vec((0..BYTES as u64 / 8).prop_map(|word| BASE + 8 * word), 31),
    );
    let mut runner = TestRunner::deterministic();
    let (mut standing, mut differing) = (0, 0);
    for _ in 0..600 {
        let program = programs.new_tree(&mut runner).expect("a program");
        let (words, registers) = program.current();
        let (_, alone) = run_beside_device(&words, &registers, Mode::Functional, 0);
        let [one, other] =
            [0, 0xa5].map(|fill| run_beside_device(&words, &registers, Mode::Timed, fill).0);
        if alone {
            assert_eq!(one, other, "{words:x?}");
        }
        standing += usize::from(alone);
        differing += usize::from(one != other);
    }
    assert!(50 < standing && 50 < differing, "{standing} {differing}");
}

#[test]
fn clocks_that_hide_time_count_the_instructions_since_registers_were_cleared() {
    // Nothing, then cycle, time and instret to x5, x6 and x7, 0 to minstret, that to x9.
    let nops = [0x0000_0013_u32; 2000];
    let clocks = [
        0xc000_22f3,
        0xc010_2373,
        0xc020_23f3,
        0xb020_1073,
        0xb020_24f3,
    ];
    let words = [&nops[..], &clocks].concat();
    let clocks = |mode, is_hidden| {
        let mut memory = Memory::new(BASE, BYTES);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let host = memory.host_mut(BASE, bytes.len());
        host.expect("it is memory").copy_from_slice(&bytes);
        let mut hart = Hart::new(&core_config(4, 2), mode);
        hart.set_time_hidden(is_hidden);
        [(); 2].map(|()| {
            hart.reset_registers();
            hart.set_pc(BASE);
            let limits = Limits {
                instructions: hart.instructions() + words.len() as u64,
                cycles: u64::MAX,
            };
            let _ = hart.run(&mut memory, &mut Arbitrary(1), limits);
            [5, 6, 7, 9].map(|number| hart.register(number))
        })
    };
    for mode in [Mode::Functional, Mode::Timed] {
        assert_eq!(clocks(mode, true), [[2000, 2, 2002, 0]; 2], "{mode:?}");
        let [first, second] = clocks(mode, false);
        assert!(first < second, "{mode:?} {first:?} {second:?}");
        assert_eq!([first[2], second[2]], [2002, 4007]);
    }
}

/// Answers by a random sequence; with seed 1, always the same.
struct Arbitrary(u64);

impl Arbitrary {
    fn next(&mut self) -> u64 {
        if self.0 != 1 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
        }
        self.0
    }
}

impl Rocc for Arbitrary {
    fn execute(&mut self, command: RoccCommand, _memory: &mut Memory) -> Result<RoccReply, Fault> {
        let value = self.next();
        let accepted = command.cycle + value % 7;
        Ok(RoccReply {
            value,
            accepted,
            value_ready: accepted + value % 5,
            shares_lines: false,
        })
    }

    fn fence(&mut self, _pc: u64, cycle: u64, _memory: &mut Memory) -> Result<u64, Fault> {
        Ok(cycle + self.next() % 100)
    }

    fn cpu_access(&mut self, _: u64, _: u64, _: bool, _: u64) -> Result<(), Fault> {
        Ok(())
    }
}

impl BelowL1 for Arbitrary {
    fn line_access(&mut self, _address: u64, _access: LineAccess, cycle: u64) -> u64 {
        cycle + self.next() % 50
    }

    fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>) {
        let random = self.next();
        probes.push((BASE + random % BYTES as u64, random & 1 == 1));
    }
}
