//! Instructions per second of the interpreter: functional, and timed as on either core. Of programs
//! made of vectors, what is told is their vector instructions per second, the scalar ones between
//! them executed too.

mod compiler_output;
mod programs;
#[path = "../../tests/rocket/mod.rs"]
mod rocket;

use autocomp_riscv::{
    Agnostic, BelowL1, Exit, Fault, Hart, Limits, LineAccess, Memory, Mode, Rocc, RoccCommand,
    RoccReply, ScoreboardConfig, VectorClass, VectorUnit,
};
use compiler_output::{COMPILED, DATA};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use programs::FLAT;
use rocket::core_config;

const BASE: u64 = 0x8000_0000;
const INSTRUCTIONS: u64 = 2_000_000;

/// Endless loops, as 32-bit words.
const PROGRAMS: [(&str, &[u32]); 3] = [
    // Sixteen dependent and independent ALU operations and a branch.
    (
        "alu",
        &[
            0x0010_0293, // addi t0, zero, 1
            0x0052_8333, // add t1, t0, t0
            0x0062_c3b3, // xor t2, t0, t1
            0x0073_6e33, // or t3, t1, t2
            0x0023_1e93, // slli t4, t1, 2
            0x01d3_8f33, // add t5, t2, t4
            0x00ff_7f93, // andi t6, t5, 15
            0x41f2_8533, // sub a0, t0, t6
            0x0015_0593, // addi a1, a0, 1
            0x00b5_0633, // add a2, a0, a1
            0x0036_5693, // srli a3, a2, 3
            0x00d6_4733, // xor a4, a2, a3
            0x0017_0793, // addi a5, a4, 1
            0x00f7_0833, // add a6, a4, a5
            0x0108_78b3, // and a7, a6, a6
            0x0018_8893, // addi a7, a7, 1
            0xfc1f_f06f, // j -64
        ],
    ),
    // The inner loop of a plain int8 matrix product.
    (
        "gemm",
        &[
            0x0000_0013, // nop
            0x0005_8613, // mv a2, a1
            0x0805_8693, // addi a3, a1, 128
            0x0006_0283, // lb t0, 0(a2)
            0x1006_0303, // lb t1, 256(a2)
            0x0262_83bb, // mulw t2, t0, t1
            0x0078_083b, // addw a6, a6, t2
            0x0016_0613, // addi a2, a2, 1
            0xfed6_16e3, // bne a2, a3, -20
            0x1105_a023, // sw a6, 256(a1)
            0xfddf_f06f, // j -36
        ],
    ),
    // Accelerator commands with their address arithmetic.
    (
        "commands",
        &[
            0x0015_0513, // addi a0, a0, 1
            0x0205_1593, // slli a1, a0, 32
            0x00c5_e5b3, // or a1, a1, a2
            0x00b5_307b, // custom-3 a0, a1
            0x0106_8693, // addi a3, a3, 16
            0x00b6_b07b, // custom-3 a3, a1
            0xfe9f_f06f, // j -24
        ],
    ),
];

fn bench(criterion: &mut Criterion) {
    let written = PROGRAMS.iter().map(|(name, words)| {
        let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        (*name, BASE, code)
    });
    let compiled = COMPILED.iter().map(|program| {
        let parcels = program.code.iter();
        let code = parcels.flat_map(|parcel| parcel.to_le_bytes()).collect();
        (program.name, BASE + 2 * program.start, code)
    });
    let flat = FLAT.iter().map(|(name, code)| (*name, BASE, code.to_vec()));
    let programs: Vec<(&str, u64, Vec<u8>)> = written.chain(compiled).chain(flat).collect();
    let mut group = criterion.benchmark_group("interpreter");
    group.sample_size(20);
    for (name, start, code) in programs {
        for (core, mut hart) in harts(name.starts_with("vectors/")) {
            let mut memory = Memory::new(BASE, 1 << 20);
            let data = memory.host_mut(DATA, 4096).expect("the data fit");
            for number in data.chunks_exact_mut(4) {
                number.copy_from_slice(&1.1f32.to_le_bytes());
            }
            let place = memory.host_mut(BASE, code.len());
            place.expect("the program fits").copy_from_slice(&code);
            hart.set_pc(start);
            hart.set_register(2, BASE + 0x8_0000);
            hart.set_register(11, DATA);
            let told = match name.starts_with("vectors/") {
                true => vector_instructions(hart.clone(), memory.clone()),
                false => INSTRUCTIONS,
            };
            group.throughput(Throughput::Elements(told));
            group.bench_function(format!("{name}/{core}"), |bencher| {
                bencher.iter(|| {
                    let limits = Limits {
                        instructions: hart.instructions() + INSTRUCTIONS,
                        cycles: u64::MAX,
                    };
                    let exit = hart.run(&mut memory, &mut Sink, limits);
                    assert_eq!(exit, Exit::Limit);
                });
            });
        }
    }
    group.finish();
}

/// Returns cores by name, with a vector unit if that is wanted.
fn harts(has_vectors: bool) -> Vec<(&'static str, Hart)> {
    let new = |mode| Hart::new(&core_config(64, 8), mode);
    let board: ScoreboardConfig = toml::from_str(include_str!("core.toml")).expect("a core");
    assert_eq!(board.check(), Ok(()));
    let timed = new(Mode::Timed).with_scoreboard(&board);
    let unit = |agnostic| VectorUnit::new(128, true, agnostic).with_alignment();
    if has_vectors {
        let functional = new(Mode::Functional).with_vectors(unit(Agnostic::Ones));
        let timed = timed.with_vectors(unit(Agnostic::Undisturbed));
        return vec![("Functional", functional), ("Scoreboard", timed)];
    }
    vec![
        ("Functional", new(Mode::Functional)),
        ("Timed", new(Mode::Timed)),
        ("Scoreboard", timed),
    ]
}

/// Returns how many of as many instructions as are measured are vector instructions, by a part of
/// the program behind its beginning.
fn vector_instructions(mut hart: Hart, mut memory: Memory) -> u64 {
    const PART: u64 = 100_000;
    let run_to = |instructions, hart: &mut Hart, memory: &mut Memory| {
        let limits = Limits {
            instructions,
            cycles: u64::MAX,
        };
        assert_eq!(hart.run(memory, &mut Sink, limits), Exit::Limit);
    };
    run_to(PART, &mut hart, &mut memory);
    let mut found = 0;
    let begin = hart.instructions();
    while hart.instructions() < begin + PART {
        let (before, mut pc) = (hart.instructions(), hart.pc());
        // One block, whose instructions lie one behind the other.
        run_to(before + 1, &mut hart, &mut memory);
        for _ in before..hart.instructions() {
            let word = memory.host(pc, 4).expect("an instruction");
            let word = word.try_into().map(u32::from_le_bytes).expect("four bytes");
            found += u64::from(VectorClass::of_instruction(word).is_some());
            pc += if word & 3 == 3 { 4 } else { 2 };
        }
    }
    found * INSTRUCTIONS / (hart.instructions() - begin)
}

/// Takes every command at once.
struct Sink;

impl Rocc for Sink {
    fn execute(&mut self, command: RoccCommand, _memory: &mut Memory) -> Result<RoccReply, Fault> {
        Ok(RoccReply {
            accepted: command.cycle,
            ..RoccReply::default()
        })
    }

    fn fence(&mut self, _pc: u64, cycle: u64, _memory: &mut Memory) -> Result<u64, Fault> {
        Ok(cycle)
    }

    fn cpu_access(&mut self, _: u64, _: u64, _: bool, _: u64) -> Result<(), Fault> {
        Ok(())
    }
}

impl BelowL1 for Sink {
    fn line_access(&mut self, _address: u64, _access: LineAccess, cycle: u64) -> u64 {
        cycle + 12
    }

    fn take_probes(&mut self, _probes: &mut Vec<(u64, bool)>) {}
}

criterion_group!(benches, bench);
criterion_main!(benches);
