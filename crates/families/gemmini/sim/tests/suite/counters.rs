//! What the event counters show, against what they showed on RTL.
//!
//! The program and the counts of hardware are data: `calibration/more`.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use autocomp_gemmini::Gemmini;
use autocomp_gemmini_sim::MachineConfig;
use autocomp_riscv::{Limits, Mode};
use autocomp_riscv_machine::{Machine, Program, run_loaded};
use std::path::Path;

/// Events whose name and signal of hardware differ, or that are known to begin
/// later here (27); `docs/counters.md` tells how.
const OTHERWISE: [u32; 11] = [20, 27, 29, 30, 31, 33, 35, 36, 37, 41, 43];

/// Events of the way to memory, which count less here where loads and stores meet.
const OF_MEMORY: [u32; 5] = [8, 9, 10, 18, 23];

/// Returns what the program printed, counted on the machine of the suite.
fn printed() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let elf = std::fs::read(root.join("calibration/more/elf/counters.elf")).unwrap();
    let machine = root.join("../../../../targets/gemmini-int8-16/machines/rtl.toml");
    let machine = std::fs::read_to_string(machine).unwrap();
    let config = MachineConfig::from_toml(&machine).unwrap();
    let program = Program::parse(&elf).unwrap();
    let accelerator = Gemmini::new(config.accelerator.clone(), Some(&config.timing)).unwrap();
    let mut machine = Machine::new(&config.core, accelerator, Mode::Timed);
    let limits = Limits {
        instructions: 1_000_000,
        cycles: 1_000_000,
    };
    let report = run_loaded(&program, &mut machine, limits).unwrap();
    String::from_utf8(report.stdout).unwrap()
}

#[test]
fn counters_show_what_those_of_hardware_show() {
    let counts = include_str!("../../calibration/more/counters.tsv");
    let printed = printed();
    let here: Vec<_> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("COUNT\t"))
        .collect();
    let there: Vec<_> = counts.lines().skip(1).collect();
    assert_eq!((here.len(), there.len()), (280, 280));
    let (mut compared, mut wrong) = (0, Vec::new());
    for (here, there) in here.iter().zip(there) {
        let (name, value) = here.rsplit_once('\t').unwrap();
        let (expected_name, expected) = there.rsplit_once('\t').unwrap();
        assert_eq!(name, expected_name);
        let (case, event) = name.split_once('\t').unwrap();
        let event: u32 = event.parse().unwrap();
        let meets = ["moves", "all"].contains(&case) && OF_MEMORY.contains(&event);
        if meets || OTHERWISE.contains(&event) {
            continue;
        }
        compared += 1;
        let (value, expected): (u64, u64) = (value.parse().unwrap(), expected.parse().unwrap());
        if value.abs_diff(expected) > 1 {
            wrong.push(format!("{name}: {value}, {expected} in hardware"));
        }
    }
    assert_eq!(compared, 193);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
