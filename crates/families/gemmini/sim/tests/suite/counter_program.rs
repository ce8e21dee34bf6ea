//! A program that counts events of the accelerator as C programs do, with the
//! counter instruction and all eight counters.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../../../riscv-machine/tests/suite/programs/assemble.rs"]
#[allow(dead_code, reason = "these programs use some of it")]
mod assemble;

use assemble::*;
use autocomp_gemmini::timing::TimingStats;
use autocomp_gemmini::{Gemmini, Statistics};
use autocomp_gemmini_sim::MachineConfig;
use autocomp_riscv::{Limits, Mode};
use autocomp_riscv_machine::{Machine, Program};

const MACHINE: &str = include_str!("../../../../../../targets/gemmini-int8-16/machines/fpga.toml");
const STACK: u64 = BASE + 0x8000;
const DATA: u64 = BASE + 0x10_0000;
const RESULTS: u64 = BASE + 0x8_0000;
const ACC: u64 = 0x8000_0000;
const NONE: u64 = 0xffff_ffff;
const BANK: u64 = 4096;
const ONE: u64 = 0x3f80_0000 << 32;
const FENCE: u32 = 0x0ff0_000f;
/// Codes from here on are those of external values, as in C.
const INCREMENTAL: u64 = 44;

/// A command of the accelerator: function and both operands.
type Command = (u32, u64, u64);

fn custom(funct: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    let answers = u32::from(rd != ZERO);
    funct << 25 | rs2 << 20 | rs1 << 15 | answers << 14 | 3 << 12 | rd << 7 | 0x7b
}

fn tile(row: u64, cols: u64, rows: u64) -> u64 {
    rows << 48 | cols << 32 | row
}

fn config_ex(flags: u64) -> Command {
    (0, ONE | 1 << 16 | flags, 1 << 48)
}

const WEIGHT_STATIONARY: u64 = 1 << 2;
const B_TRANSPOSED: u64 = 1 << 9;

fn configs() -> Vec<Command> {
    let mut commands = vec![config_ex(WEIGHT_STATIONARY), (0, 2, ONE | 16)];
    commands.extend((0..3).map(|channel| (0, ONE | 16 << 16 | 1 << 8 | channel << 3 | 1, 64)));
    commands
}

fn mvin(at: u64, row: u64, cols: u64) -> Command {
    (2, DATA + at, tile(row, cols, 16))
}

fn mvout(at: u64, row: u64) -> Command {
    (3, DATA + at, tile(row, 16, 16))
}

fn pair(a: u64, b: u64, c: u64) -> [Command; 2] {
    [
        (6, tile(b, 16, 16), tile(c, 16, 16)),
        (4, tile(a, 16, 16), tile(NONE, 16, 16)),
    ]
}

/// Four products with operands of their own.
fn products(settings: &[Command]) -> Vec<Command> {
    let mut commands = configs();
    commands.extend_from_slice(settings);
    for block in 0..4 {
        commands.push(mvin(block * 0x1000, block * 64, 64));
        commands.push(mvin(0x8000 + block * 0x1000, BANK + block * 64, 64));
        for step in 0..4 {
            let row = block * 64 + step * 16;
            commands.extend(pair(row, BANK + row, ACC + block * 16));
        }
        commands.push(mvout(0x2_0000 + block * 0x100, ACC + block * 16));
    }
    commands
}

/// What one run found.
struct Counted {
    /// By code of the event, as in C.
    events: Vec<u64>,
    cycles: u64,
    timing: Option<TimingStats>,
    bytes: [u64; 2],
}

impl Counted {
    /// Sum of the events of several codes.
    fn sum(&self, codes: impl IntoIterator<Item = usize>) -> u64 {
        codes.into_iter().map(|code| self.events[code]).sum()
    }

    fn timing(&self) -> &TimingStats {
        self.timing.as_ref().unwrap()
    }
}

/// Runs `commands` once for each eight events, which are counted around them.
fn count(commands: &[Command], mode: Mode) -> Counted {
    let mut found = Counted {
        events: vec![0; 64],
        cycles: 0,
        timing: None,
        bytes: [0; 2],
    };
    for first in (0..64).step_by(8) {
        let configure = |index: u64| {
            let code = first + index;
            let external = INCREMENTAL < code;
            let code = if external { code - INCREMENTAL } else { code };
            let access = u64::from(external) << 31 | code << 12 | index << 4 | 8;
            (126, access, 0)
        };
        let mut before = vec![(126, 1, 0)];
        before.extend((0..8).map(configure));
        let reads: Vec<Command> = (0..8).map(|index| (126, index << 4, 0)).collect();
        let (machine, cycles, values) = run(&[&before, commands], &reads, mode);
        let (timing, statistics) = machine;
        assert!(first == 0 || cycles == found.cycles, "counting takes time");
        found.cycles = cycles;
        found.timing = timing;
        found.bytes = [statistics.dma_read_bytes, statistics.dma_written_bytes];
        found.events[first as usize..first as usize + 8].copy_from_slice(&values);
    }
    found
}

/// Runs commands, a fence, and then reads; returns statistics, cycles and what
/// was read.
fn run(
    parts: &[&[Command]],
    reads: &[Command],
    mode: Mode,
) -> ((Option<TimingStats>, Statistics), u64, Vec<u64>) {
    let mut code = Vec::new();
    let mut data = Vec::new();
    let mut command = |code: &mut Vec<u32>, (funct, rs1, rs2): Command, rd: u32| {
        data.extend_from_slice(&rs1.to_le_bytes());
        data.extend_from_slice(&rs2.to_le_bytes());
        code.extend([ld(T0, A0, 0), ld(T1, A0, 8), addi(A0, A0, 16)]);
        code.push(custom(funct, rd, T0, T1));
    };
    for part in parts {
        for &step in *part {
            // Accesses to counters always answer.
            let rd = if step.0 == 126 { T0 } else { ZERO };
            command(&mut code, step, rd);
        }
    }
    code.push(FENCE);
    for &read in reads {
        command(&mut code, read, T0);
        code.extend([sd(T0, A1, 0), addi(A1, A1, 8)]);
    }
    code.push(RET);
    assert!(code.len() <= 1024, "the code fits into its page");
    let config = MachineConfig::from_toml(MACHINE).unwrap();
    let timing = (mode == Mode::Timed).then_some(&config.timing);
    let gemmini = Gemmini::new(config.accelerator.clone(), timing).unwrap();
    let mut machine = Machine::new(&config.core, gemmini, mode);
    let program = elf(&code, &data, &[]);
    machine.load(&Program::parse(&program).unwrap()).unwrap();
    let limits = Limits {
        instructions: 1_000_000,
        cycles: 10_000_000,
    };
    let arguments = [BASE + 0x1000, RESULTS];
    let report = machine.call(BASE, &arguments, STACK, limits).unwrap();
    let results = machine.memory().host(RESULTS, reads.len() * 8).unwrap();
    let values = results
        .chunks_exact(8)
        .map(|value| u64::from_le_bytes(value.try_into().unwrap()))
        .collect();
    let gemmini = machine.accelerator();
    let timing = gemmini.timing().map(|engine| engine.stats().clone());
    let statistics = gemmini.functional().statistics().clone();
    ((timing, statistics), report.cycles, values)
}

#[test]
fn events_agree_with_what_the_timing_engine_says() {
    let counted = count(&products(&[]), Mode::Timed);
    let (events, timing, cycles) = (&counted.events, counted.timing(), counted.cycles);

    let moves_in = 8 * 16 * 64;
    let moves_out = 4 * 16 * 16;
    assert_eq!(counted.bytes, [moves_in, moves_out]);
    assert_eq!([events[48], events[49]], counted.bytes);

    // Rows that the array takes, and what keeps it from taking them. The first
    // cycle of an operation is not seen, and each takes 16 rows.
    let operations = timing.array_busy + timing.bank_conflict + timing.array_full;
    let seen = |cycles: u64| cycles - cycles / 16;
    assert_eq!(operations, timing.array_busy);
    assert_eq!((events[24], events[26]), (seen(operations), 0));
    // A is missing for preloads alone, B always, D for products alone; the
    // other operations are both.
    let alone = operations - 16 * 16;
    assert!((16..16 * 16).contains(&alone), "{alone}");
    assert_eq!(
        [events[35], events[36], events[37]],
        [alone, operations, alone].map(seen)
    );

    // Every controller is busy at some time, and none all the time.
    for (name, codes) in [
        ("load", [1, 4, 5, 7]),
        ("store", [2, 4, 6, 7]),
        ("execute", [3, 5, 6, 7]),
    ] {
        let busy = counted.sum(codes);
        assert!(0 < busy && busy < cycles, "{name}: {busy} of {cycles}");
    }
    assert!(events[24] <= counted.sum([3, 5, 6, 7]));
    assert!(counted.sum(1..=7) <= cycles);
    // Load and store controller only work for commands of the station.
    assert!((counted.sum([1, 2, 4, 5, 6, 7])..cycles).contains(&events[42]));

    // A row is at the controller, then at the reader, for a cycle at least.
    assert_eq!(events[9], 8 * 15 + events[10] - events[8]);
    assert_eq!(events[12], 4 * 15 + events[14] - events[11]);
    assert!((timing.read_packets..cycles).contains(&events[18]));
    assert!((timing.write_beats..cycles).contains(&events[21]));
    // Each packet takes its beats, and some cycles on the way.
    assert!(events[50] > timing.read_packets * 10);
    assert!(events[51] > timing.write_packets * 10);

    // Each block has a page of A and one of B; C lies in one page.
    assert_eq!(events[16], events[17]);
    assert!((9..=18).contains(&events[17]), "{}", events[17]);

    // What this program or this machine has not: pooling, misses of
    // translations, operands in the accumulator, the unit that makes columns
    // of images, a loop, a transposed operand.
    for code in [0, 13, 15, 19, 22, 25, 32, 33, 34, 38, 39, 40, 43, 44] {
        assert_eq!(events[code], 0, "{code}");
    }
    // Nothing is in the station after the fence.
    assert_eq!([events[45], events[46], events[47]], [0; 3]);
    // Codes beyond the last one.
    assert_eq!(counted.sum(52..64), counted.sum([48, 49, 50, 51]));
}

#[test]
fn what_a_program_does_shows_in_the_event_for_it() {
    let plain = count(&products(&[]), Mode::Timed);
    let transposed = count(
        &products(&[config_ex(WEIGHT_STATIONARY | B_TRANSPOSED)]),
        Mode::Timed,
    );
    // Three commands in three cycles at least, of which the first is seen at
    // the end of its own.
    assert!(transposed.events[44] >= 16 * 2, "{}", transposed.events[44]);
    assert!(transposed.events[24] > plain.events[24]);

    let output_stationary = count(&products(&[config_ex(0)]), Mode::Timed);
    assert!(output_stationary.events[25] >= 16);

    // Moves out that take the largest of two by two.
    let pooled: u64 = 2 << 4 | 2 << 6 | 8 << 24 | 2 << 32 | 2 << 40 | 4 << 48 | 4 << 56;
    let mut commands = configs();
    commands.push(mvin(0, ACC, 16));
    commands.push((0, 2 | pooled, ONE | 16));
    commands.push(mvout(0x2_0000, ACC));
    commands.push((0, 2, ONE | 16));
    let pooled = count(&commands, Mode::Timed);
    let busy = pooled.sum([2, 4, 6, 7]);
    assert!((busy..pooled.cycles).contains(&pooled.events[13]));
    assert!((16..=busy).contains(&pooled.events[12]), "16 pixels");

    // One bank for both operands takes twice the time, but waits for nothing.
    let mut commands = configs();
    commands.extend([mvin(0, 0, 64), mvin(0x1000, 64, 64), (0, 2, ONE | 16)]);
    commands.extend((0..8).flat_map(|step| pair(step % 4 * 16, 64, ACC)));
    let shared = count(&commands, Mode::Timed);
    let timing = shared.timing();
    let cycles = timing.array_busy + timing.bank_conflict + timing.array_full;
    assert_eq!(cycles, 16 + 7 * 32 + 16);
    // The first cycle of an operation is not seen, and each takes 16 rows.
    assert_eq!(shared.events[24], cycles - timing.array_busy / 16);

    // A load that has to wait for an entry.
    let mut commands = configs();
    commands.extend((0..24).map(|load| mvin(load * 0x400, load * 64, 64)));
    let full = count(&commands, Mode::Timed);
    assert!(full.events[41] > plain.events[41]);
    assert!(full.events[41] < full.events[42]);
}

#[test]
fn a_loop_is_active_while_it_makes_commands() {
    let mut commands = configs();
    commands.extend([
        (9, 0, 4 << 32 | 4 << 16 | 4),
        (10, DATA, DATA + 0x8000),
        (11, 0, DATA + 0x2_0000),
        (12, 64, 64),
        (13, 64, 64),
        (8, 0, 0),
    ]);
    let counted = count(&commands, Mode::Timed);
    // At most one command per cycle, of which the array alone gets 128.
    let issued: u64 = counted.timing().issued.iter().sum();
    assert!(issued > 128);
    assert!((issued - 8..counted.cycles).contains(&counted.events[43]));
}

#[test]
fn without_time_only_bytes_count() {
    let counted = count(&products(&[]), Mode::Functional);
    assert_eq!([counted.events[48], counted.events[49]], counted.bytes);
    assert_eq!(counted.sum(0..48) + counted.sum([50, 51]), 0);
}
