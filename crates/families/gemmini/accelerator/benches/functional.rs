//! Speed of the functional model: multiplications and commands per second.
#![allow(
    missing_docs,
    reason = "criterion's macros make undocumented functions"
)]

#[path = "../tests/driver/instances.rs"]
mod instances;

use autocomp_gemmini::{Functional, GemminiConfig, InstructionSet};
use autocomp_riscv::{Memory, RoccCommand};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use instances::{fp32_4, int8_16, int8_32};
use std::hint::black_box;

const BASE: u64 = 0x8000_0000;

fn command(funct: u8, rs1: u64, rs2: u64) -> RoccCommand {
    RoccCommand {
        custom: 3,
        funct,
        rs1,
        rs2,
        wants_reply: false,
        pc: BASE + u64::from(funct) * 4,
        cycle: 0,
    }
}

fn tile(row: u32, cols: u64, rows: u64) -> u64 {
    rows << 48 | cols << 32 | u64::from(row)
}

fn one() -> u64 {
    u64::from(1.0f32.to_bits()) << 32
}

struct Bench {
    functional: Functional,
    memory: Memory,
}

impl Bench {
    fn new(config: GemminiConfig, set: InstructionSet) -> Self {
        let dim = u64::from(config.dim);
        let mut bench = Self {
            functional: Functional::new(config),
            memory: Memory::new(BASE, 1 << 20),
        };
        assert!(bench.functional.use_instructions(set));
        bench.run(command(0, one() | 1 << 16 | 4, 1 << 48));
        for channel in 0..3 {
            bench.run(command(0, one() | dim << 16 | channel << 3 | 1, 512));
        }
        bench.run(command(0, 2, one() | 512));
        for row in (0..512).step_by(dim as usize) {
            bench.run(command(2, BASE, tile(row, dim, dim)));
            bench.run(command(2, BASE, tile(4096 + row, dim, dim)));
            bench.run(command(2, 0, tile(0x8000_0000 | row & 255, dim, dim)));
        }
        bench
    }

    fn run(&mut self, command: RoccCommand) {
        self.functional
            .execute(&command, &mut self.memory)
            .expect("the benchmark is legal");
    }

    /// Sixteen pairs of preload and compute.
    fn pairs(&mut self, new_weights: bool) {
        let dim = self.functional.config().dim;
        let size = u64::from(dim);
        let none = tile(u32::MAX, size, size);
        for at in 0..16 {
            let c = tile(0xc000_0000 | ((at * dim) & 255), size, size);
            let a = tile(at * dim % 512, size, size);
            let weights = tile(4096 + at * dim % 512, size, size);
            let (weights, compute) = if new_weights { (weights, 4) } else { (none, 5) };
            self.run(command(6, weights, c));
            self.run(command(compute, a, none));
        }
    }
}

fn array(c: &mut Criterion) {
    for (name, config) in [
        ("int8-16", int8_16()),
        ("int8-32", int8_32()),
        ("fp32-4", fp32_4()),
    ] {
        for set in InstructionSet::available() {
            let mut group = c.benchmark_group(format!("array {name} {}", set.name()));
            let size = u64::from(config.dim);
            group.throughput(Throughput::Elements(16 * size * size * size));
            let mut bench = Bench::new(config.clone(), set);
            group.bench_function("pairs with new weights (MAC)", |b| {
                b.iter(|| bench.pairs(true));
            });
            group.bench_function("pairs with kept weights (MAC)", |b| {
                b.iter(|| bench.pairs(false));
            });
            group.finish();
        }
    }
}

fn moves(c: &mut Criterion) {
    let mut group = c.benchmark_group("moves");
    let mut bench = Bench::new(int8_16(), InstructionSet::detect());
    group.throughput(Throughput::Elements(16));
    group.bench_function("mvin 16x16 (commands)", |b| {
        b.iter(|| {
            (0..16).for_each(|at| {
                bench.run(command(2, BASE + u64::from(at) * 16, tile(at * 16, 16, 16)))
            })
        });
    });
    group.bench_function("mvin 16x64 (commands)", |b| {
        b.iter(|| {
            (0..16).for_each(|at| {
                bench.run(command(2, BASE + u64::from(at) * 64, tile(at * 64, 64, 16)))
            })
        });
    });
    group.bench_function("mvin zero accumulator 16x16 (commands)", |b| {
        b.iter(|| {
            (0..16).for_each(|at| bench.run(command(2, 0, tile(0x8000_0000 | (at * 16), 16, 16))))
        });
    });
    let out = BASE + (1 << 19);
    group.bench_function("mvout accumulator 16x16 (commands)", |b| {
        b.iter(|| {
            for at in 0..16 {
                bench.run(command(
                    3,
                    out + u64::from(at) * 16,
                    tile(0x8000_0000 | (at * 16), 16, 16),
                ));
            }
        });
    });
    bench.run(command(0, 2, u64::from(0.125f32.to_bits()) << 32 | 512));
    group.bench_function("mvout accumulator 16x64 scaled (commands)", |b| {
        b.iter(|| {
            for at in 0..16 {
                bench.run(command(
                    3,
                    out + u64::from(at) * 64,
                    tile(0x8000_0000 | (at * 4), 64, 16),
                ));
            }
        });
    });
    group.bench_function("config_ld (commands)", |b| {
        b.iter(|| {
            (0..16).for_each(|_| bench.run(black_box(command(0, one() | 16 << 16 | 1, 512))))
        });
    });
    group.finish();
}

criterion_group!(benches, array, moves);
criterion_main!(benches);
