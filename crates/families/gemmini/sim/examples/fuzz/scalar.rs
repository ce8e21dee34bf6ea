//! Random instructions: decoded, as whole programs, and talking to a host.

use super::random::{Digest, Random};
use autocomp_gemmini::{Checks, Gemmini, Severity};
use autocomp_gemmini_sim::MachineConfig;
use autocomp_riscv::{Limits, Mode, decode};
use autocomp_riscv_machine::{MEMORY_BASE, Machine, Program, ProgramEnd, run_loaded};
use std::collections::BTreeMap;

/// Descriptions of the machines that are fuzzed, one per accelerator.
pub const MACHINES: [&str; 3] = [
    include_str!("../../../../../../targets/gemmini-int8-16/machines/rtl.toml"),
    include_str!("../../../../../../targets/gemmini-int8-32/machines/fpga.toml"),
    include_str!("../../../../../../targets/gemmini-fp32-4/machines/fpga.toml"),
];

const MEMORY_BYTES: usize = 1 << 20;
const LIMITS: Limits = Limits {
    instructions: 20_000,
    cycles: 1 << 40,
};

/// Opcodes of all instructions of 32 bits.
const OPCODES: [u32; 20] = [
    0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x1b, 0x33, 0x3b, 0x0f, 0x73, 0x2f, 0x7b, 0x07,
    0x27, 0x43, 0x4f, 0x53,
];

fn word(random: &mut Random) -> u32 {
    let bits = random.bits() as u32;
    match random.below(8) {
        0 => bits,
        // Two short instructions.
        1 => bits & !0x0001_0001 | 0x0000_0001,
        // A register as address, with a small offset: mostly in memory.
        2 | 3 => bits & 0x01f0_7f80 | random.pick(&[8, 9, 18]) << 15 | random.pick(&[0x03, 0x23]),
        _ => bits & !0x7f | random.pick(&OPCODES),
    }
}

fn address(random: &mut Random) -> u64 {
    let offset = random.below(MEMORY_BYTES as u64 + 64);
    match random.below(8) {
        0 => random.bits(),
        1 => MEMORY_BASE + offset,
        2 => random.below(5).wrapping_neg(),
        _ => MEMORY_BASE + (offset & !63),
    }
}

/// Decodes a thousand words.
pub fn decode_words(seed: u64) -> Digest {
    let mut random = Random::new("decode", seed);
    let mut digest = Digest::new();
    for _ in 0..1000 {
        let bits = word(&mut random);
        let decoded = decode(bits, random.bits());
        assert_eq!(decoded.length, if bits & 3 == 3 { 4 } else { 2 });
        let found = decoded.instruction;
        assert!(found.rd <= 32 && found.rs1 < 32 && found.rs2 < 32);
        digest.add(u64::from(found.rd) << 8 ^ found.immediate as u64 ^ found.uses);
    }
    digest
}

/// Runs a program of random instructions on a whole machine.
pub fn run_program(seed: u64) -> Digest {
    let mut random = Random::new("program", seed);
    let count = 1 + random.below(300);
    let words: Vec<u32> = (0..count).map(|_| word(&mut random)).collect();
    run_words(&words, &mut random, BTreeMap::new())
}

/// Runs a program that stores random commands to `tohost`.
pub fn talk_to_host(seed: u64) -> Digest {
    let mut random = Random::new("htif", seed);
    let mut words = Vec::new();
    for _ in 0..1 + random.below(20) {
        // x8: tohost, x9: a system call in memory, x18: a command.
        let any = random.below(32) as u32;
        let source = random.pick(&[9, 9, 18, any]);
        let width = random.pick(&[3, 3, 3, 2, 1, 0]);
        let offset = random.pick(&[0, 0, 0, 4, 8]);
        words.push(source << 20 | 8 << 15 | width << 12 | offset << 7 | 0x23);
        // The number of the call, its arguments, the command and its device.
        let value = random.pick(&[57, 63, 64, 80, 93, 214, 1, 2, 0x7f]);
        words.push(value << 20 | 5 << 7 | 0x13);
        let slot = random.below(4) as u32 * 8;
        words.push(5 << 20 | 9 << 15 | 3 << 12 | slot << 7 | 0x23);
        if random.one_in(4) {
            words.push(word(&mut random));
        }
    }
    let tohost = MEMORY_BASE + 0x2000 + random.below(2) * random.below(0x1000);
    let symbols = BTreeMap::from([
        ("tohost".to_owned(), tohost),
        (
            "fromhost".to_owned(),
            tohost.wrapping_add(random.below(3) * 64),
        ),
    ]);
    run_words(&words, &mut random, symbols)
}

fn run_words(words: &[u32], random: &mut Random, symbols: BTreeMap<String, u64>) -> Digest {
    let text = random.pick(&MACHINES);
    let config = MachineConfig::from_toml(text).expect("the machine is valid");
    let timed = !random.one_in(4);
    let mode = if timed { Mode::Timed } else { Mode::Functional };
    let mut accelerator = Gemmini::new(config.accelerator.clone(), timed.then_some(&config.timing))
        .expect("the instance is valid");
    accelerator.functional_mut().set_checks(Checks {
        uninitialized: Severity::Warn,
        races: Severity::Warn,
        hazards: Severity::Warn,
    });
    let mut machine = Machine::with_memory(&config.core, accelerator, mode, MEMORY_BYTES);
    let mut code = prologue(random, symbols.get("tohost").copied());
    code.extend_from_slice(words);
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let program = Program::from_bytes(MEMORY_BASE, bytes, symbols);
    let report = run_loaded(&program, &mut machine, LIMITS).expect("the program fits");
    // A run ends at the first jump behind the limit.
    assert!(report.instructions <= LIMITS.instructions + 64);
    let mut digest = Digest::new();
    digest.add(report.instructions);
    digest.add(report.cycles);
    digest.bytes(&report.stdout);
    match report.end {
        ProgramEnd::Exited(code) => digest.add(code),
        ProgramEnd::Fault(fault) => digest.bytes(fault.to_string().as_bytes()),
        ProgramEnd::Limit(spin) => digest.add(spin.first),
    }
    for number in 0..32 {
        digest.add(machine.hart().register(number));
        digest.add(machine.hart().float_register(number));
    }
    digest
}

/// Returns code that fills the integer registers, `x8` with `tohost` if there
/// is one, and perhaps sets a trap handler.
fn prologue(random: &mut Random, tohost: Option<u64>) -> Vec<u32> {
    let values: Vec<u64> = (0..32).map(|_| address(random)).collect();
    let handler = random.one_in(2);
    let mut code = Vec::new();
    // The table lies behind a jump; x31 is its address.
    let table_words = 64;
    // auipc x31, 0
    code.push(31 << 7 | 0x17);
    let jump = 4 + 4 * table_words;
    code.push((jump >> 1 & 0x3ff) << 21 | (jump >> 11 & 1) << 20 | 0x6f);
    for (number, value) in values.iter().enumerate() {
        let value = match (number, tohost) {
            (8, Some(tohost)) => tohost,
            (9, Some(_)) => MEMORY_BASE + 0x4000,
            (18, Some(_)) => {
                let device = random.below(3) << 56 | random.below(3) << 48;
                device | random.below(0x10_0000)
            }
            _ => *value,
        };
        code.push(value as u32);
        code.push((value >> 32) as u32);
    }
    for number in 1..31 {
        // ld: the table begins 8 bytes behind the first instruction.
        code.push((8 + 8 * number) << 20 | 31 << 15 | 3 << 12 | number << 7 | 0x03);
    }
    if handler {
        // addi x31, x31, somewhere; csrw mtvec, x31
        code.push((random.below(1024) as u32 & !3) << 20 | 31 << 15 | 31 << 7 | 0x13);
        code.push(0x305f_9073);
    }
    code
}
