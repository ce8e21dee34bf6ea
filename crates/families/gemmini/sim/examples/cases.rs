//! Runs one program laid out like those of the calibration suite on a machine
//! and prints its counts and where the cycles went.
//!
//! `cargo run --release -p autocomp-gemmini-sim --features examples --example cases -- PROGRAM.elf MACHINE.toml`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example for developers"
)]

use autocomp_gemmini_sim::{MachineConfig, run_cases};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let elf = std::fs::read(&arguments[0]).unwrap();
    let machine =
        MachineConfig::from_toml(&std::fs::read_to_string(&arguments[1]).unwrap()).unwrap();
    let start = std::time::Instant::now();
    let cases = run_cases(&arguments[0], &elf, &machine).unwrap();
    let wall = start.elapsed();
    let mut total = 0;
    for case in &cases {
        println!("{:40} {:?} {:?}", case.name, case.counts, case.checked);
        total += case.counts.iter().map(|counts| counts.total).sum::<u64>();
    }
    println!(
        "{total} cycles in {wall:?}: {:.1} million per second",
        total as f64 / wall.as_secs_f64() / 1e6
    );
}
