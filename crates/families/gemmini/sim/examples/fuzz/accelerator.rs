//! Random accelerator commands, with timing, mostly near what is legal.

use super::random::{Digest, Random};
use super::scalar::MACHINES;
use autocomp_gemmini::{Checks, Gemmini, GemminiConfig, InstructionSet, Severity};
use autocomp_gemmini_sim::MachineConfig;
use autocomp_riscv::{BelowL1, Fault, LineAccess, Memory, Rocc, RoccCommand, RoccReply};

const BASE: u64 = 0x8000_0000;
const MEMORY_BYTES: usize = 1 << 20;
const ONE: u64 = 0x3f80_0000;

/// Sends a stream of commands until one is refused, and some more behind it.
pub fn run_commands(seed: u64) -> Digest {
    let mut random = Random::new("commands", seed);
    let text = random.pick(&MACHINES);
    let machine = MachineConfig::from_toml(text).expect("the machine is valid");
    let mut config = machine.accelerator.clone();
    config.features.normalizations = random.one_in(2);
    let mut gemmini =
        Gemmini::new(config.clone(), Some(&machine.timing)).expect("the instance is valid");
    if random.one_in(4) {
        let portable = InstructionSet::Portable;
        assert!(gemmini.functional_mut().use_instructions(portable));
    }
    let severity = random.pick(&[Severity::Warn, Severity::Warn, Severity::Fault]);
    gemmini.functional_mut().set_checks(Checks {
        uninitialized: severity,
        races: severity,
        hazards: severity,
    });
    let mut memory = Memory::new(BASE, MEMORY_BYTES);
    fill(&mut memory, &mut random);
    // Without checks that know what rows hold it must do the same at the same time.
    let mut bare = (severity == Severity::Warn).then(|| Bare::new(&config, &machine));
    let mut digest = Digest::new();
    let mut cycle = random.below(1000);
    let mut send = |funct: u8, rs1: u64, rs2: u64, wants_reply: bool, pc: u64| {
        let command = RoccCommand {
            custom: 3,
            funct,
            rs1,
            rs2,
            wants_reply,
            pc,
            cycle,
        };
        let executed = gemmini.execute(command, &mut memory);
        if let Some(bare) = &mut bare {
            bare.execute(command, &executed);
        }
        match executed {
            Ok(reply) => {
                assert!(reply.accepted >= cycle, "taken before it was there");
                assert!(reply.accepted - cycle < 1 << 32, "never taken");
                cycle = reply.accepted + 1;
                digest.add(reply.accepted ^ reply.value ^ reply.value_ready);
            }
            Err(fault) => digest.bytes(fault.message.as_bytes()),
        }
        if pc.is_multiple_of(28) {
            let access =
                [LineAccess::Read, LineAccess::WriteBack, LineAccess::Write][pc as usize % 3];
            let line = BASE + (rs1 ^ rs2) % MEMORY_BYTES as u64 / 64 * 64;
            let done = gemmini.line_access(line, access, cycle);
            assert!(done >= cycle);
            let mut probes = Vec::new();
            gemmini.take_probes(&mut probes);
            if let Some(bare) = &mut bare {
                let mut same = Vec::new();
                let other = bare.gemmini.line_access(line, access, cycle);
                bare.gemmini.take_probes(&mut same);
                assert_eq!((other, &same), (done, &probes));
            }
            digest.add(done + probes.len() as u64);
        }
        if pc.is_multiple_of(200) {
            if let Ok(idle) = gemmini.fence(pc, cycle, &mut memory) {
                assert!(
                    idle >= cycle && idle - cycle < 1 << 32,
                    "a fence without end"
                );
                if let Some(bare) = &mut bare {
                    bare.fence(pc, cycle, idle);
                }
                cycle = idle + 1;
            }
            digest.add(cycle);
        }
        let _ = gemmini.cpu_access(rs1, 8, pc.is_multiple_of(8), pc);
    };
    let mut pc = 0;
    for (funct, rs1, rs2) in settings(&config, &mut random) {
        pc += 4;
        send(funct, rs1, rs2, false, pc);
    }
    for _ in 0..random.below(120) {
        for (funct, rs1, rs2) in step(&config, &mut random) {
            pc += 4;
            send(funct, rs1, rs2, funct == 126 || random.one_in(300), pc);
        }
    }
    if let Ok(idle) = gemmini.fence(pc, cycle, &mut memory) {
        assert!(
            idle >= cycle && idle - cycle < 1 << 32,
            "a fence without end"
        );
        if let Some(bare) = &mut bare {
            bare.fence(pc, cycle, idle);
        }
        digest.add(idle);
    }
    digest.bytes(memory.host(BASE, MEMORY_BYTES).expect("all of memory"));
    digest.add(gemmini.functional().warnings().len() as u64);
    digest
}

/// An accelerator without values beside one that has them.
struct Bare {
    gemmini: Gemmini,
    memory: Memory,
}

impl Bare {
    fn new(config: &GemminiConfig, machine: &MachineConfig) -> Self {
        let gemmini = Gemmini::new(config.clone(), Some(&machine.timing));
        let mut gemmini = gemmini.expect("the instance is valid");
        gemmini.functional_mut().leave_out_values();
        let memory = Memory::new(BASE, MEMORY_BYTES);
        Self { gemmini, memory }
    }

    /// Executes what the other one has executed.
    fn execute(&mut self, command: RoccCommand, other: &Result<RoccReply, Fault>) {
        let executed = self.gemmini.execute(command, &mut self.memory);
        match (&executed, other) {
            (Ok(reply), Ok(other)) => assert_eq!(
                (reply.accepted, reply.value_ready),
                (other.accepted, other.value_ready)
            ),
            (Err(fault), Err(other)) => assert_eq!(fault, other),
            _ => panic!("{executed:?} instead of {other:?}"),
        }
    }

    fn fence(&mut self, pc: u64, cycle: u64, idle: u64) {
        let done = self.gemmini.fence(pc, cycle, &mut self.memory);
        assert_eq!(done, Ok(idle));
    }
}

fn fill(memory: &mut Memory, random: &mut Random) {
    let bytes = memory.host_mut(BASE, 1 << 16).expect("it lies in memory");
    for piece in bytes.chunks_mut(8) {
        piece.copy_from_slice(&random.bits().to_le_bytes());
    }
}

type Command = (u8, u64, u64);

/// Configuration as a program would begin with.
fn settings(config: &GemminiConfig, random: &mut Random) -> Vec<Command> {
    let dataflow = random.below(2) << 2;
    let mut commands = vec![(0, ONE << 32 | 1 << 16 | dataflow, 1 << 48)];
    for channel in 0..3 {
        let stride = random.pick(&[0, 16, 64, 100, 256]);
        let block = u64::from(config.dim) << 16;
        commands.push((0, ONE << 32 | block | 1 << 8 | channel << 3 | 1, stride));
    }
    commands.push((0, 2, ONE << 32 | random.pick(&[16, 64, 256])));
    commands
}

/// One command, or several that belong together.
fn step(config: &GemminiConfig, random: &mut Random) -> Vec<Command> {
    let dram = |random: &mut Random| match random.below(12) {
        0 => 0,
        1 => random.bits(),
        2 => BASE + random.below(MEMORY_BYTES as u64 + 32),
        _ => BASE + random.below(0xf_0000) / 16 * 16,
    };
    let small = |random: &mut Random, end: u64| match random.below(24) {
        0 => random.below(1 << 16),
        1 => 0,
        _ => 1 + random.below(end),
    };
    let dim = u64::from(config.dim);
    match random.below(16) {
        0..=3 => {
            let target = tile(config, random, 4 * dim);
            vec![(random.pick(&[1, 2, 14]), dram(random), target)]
        }
        4..=5 => {
            let source = tile(config, random, dim);
            vec![(3, dram(random), source)]
        }
        6..=10 => {
            let stationary = tile(config, random, dim);
            let result = tile(config, random, dim);
            let (a, d) = (tile(config, random, dim), tile(config, random, dim));
            vec![(6, stationary, result), (random.pick(&[4, 4, 5]), a, d)]
        }
        11 => {
            let noise = random.bits();
            let kind = random.below(4);
            let rest = random.pick(&[0, noise, noise & 0xffff_ffff, ONE << 32 | noise & 0xff_03ff]);
            vec![(
                0,
                rest & !3 | kind,
                random.pick(&[64, noise, ONE << 32 | 64]),
            )]
        }
        12 => matmul_loop(random, &dram, &small),
        13 => conv_loop(random, &dram, &small),
        14 => vec![(126, random.bits() & 0x8003_f07f, 0)],
        _ => {
            let any = random.below(128) as u8;
            let funct = random.pick(&[7, 22, any]);
            vec![(funct, random.bits() & 1, random.bits())]
        }
    }
}

fn tile(config: &GemminiConfig, random: &mut Random, widest: u64) -> u64 {
    let dim = u64::from(config.dim);
    let row = |random: &mut Random, rows: u32| {
        let row = random.below(u64::from(rows));
        if random.one_in(3) {
            row
        } else {
            row / dim * dim % (16 * dim)
        }
    };
    let at = match random.below(10) {
        0 => u64::from(u32::MAX),
        1 => random.bits() & 0xffff_ffff,
        2..=4 => {
            let flags = random.pick(&[0x8000_0000, 0xc000_0000, 0xa000_0000]);
            flags | row(random, config.acc_rows())
        }
        _ => row(random, config.spad_rows()),
    };
    let size = |random: &mut Random, end: u64| match random.below(16) {
        0 => random.below(1 << 16),
        1..=4 => 1 + random.below(end),
        _ => dim,
    };
    let cols = size(random, widest);
    let rows = size(random, dim);
    rows << 48 | cols << 32 | at
}

fn matmul_loop(
    random: &mut Random,
    dram: &impl Fn(&mut Random) -> u64,
    small: &impl Fn(&mut Random, u64) -> u64,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let three = |random: &mut Random, end| {
        small(random, end) << 32 | small(random, end) << 16 | small(random, end)
    };
    let pads = if random.one_in(2) {
        0
    } else {
        three(random, 4)
    };
    commands.push((9, pads, three(random, 6)));
    for funct in [10, 11] {
        commands.push((funct, dram(random), dram(random)));
    }
    for funct in [12, 13] {
        commands.push((funct, small(random, 300), small(random, 300)));
    }
    commands.push((8, random.below(32), random.below(8)));
    commands
}

fn conv_loop(
    random: &mut Random,
    dram: &impl Fn(&mut Random) -> u64,
    small: &impl Fn(&mut Random, u64) -> u64,
) -> Vec<Command> {
    let mut commands = Vec::new();
    for funct in 16..=19 {
        let mut four = || {
            (0..4).fold(0, |packed, at| {
                let value = if random.one_in(2) {
                    1
                } else {
                    small(random, 8)
                };
                packed | value << (16 * at)
            })
        };
        commands.push((funct, four(), four()));
    }
    for funct in 20..=21 {
        commands.push((funct, dram(random), dram(random)));
    }
    commands.push((15, random.below(4), random.below(128)));
    commands
}
