//! Random PTX programs on both interpreters: `fuzz-ptx FIRST_SEED PROGRAMS`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example: it tells, and panics where it is called wrongly"
)]

#[allow(dead_code, reason = "tests use all of it")]
#[path = "../tests/suite/kernels.rs"]
mod kernels;
#[allow(dead_code, reason = "tests use all of it")]
#[path = "../tests/suite/second.rs"]
mod second;

use autocomp_cuda_sim::machine::Order;

fn main() {
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .map(|it| it.parse().unwrap())
        .collect();
    let [first, count] = numbers[..] else {
        return println!("fuzz-ptx FIRST_SEED PROGRAMS");
    };
    let mut different = 0;
    for seed in first..first + count {
        let (body, before, after) = second::program(seed);
        let x: Vec<u8> = before
            .iter()
            .flatten()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let right: Vec<u8> = after
            .iter()
            .flatten()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let y = kernels::run(
            &kernels::kernel_of(&body),
            (1, 32),
            &x,
            1024,
            Order::Forward,
        );
        if y.as_ref() != Ok(&right) {
            different += 1;
            println!("seed {seed}: {:?}", y.err());
        }
    }
    println!("{count} programs, {different} different");
}
