//! Runs a calibration suite and prints the errors.
//!
//! `cargo run --release -p autocomp-gemmini-sim --features examples --example calibrate -- [FILTER] [COUNTS] [EXTRA LATENCY]`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example for developers"
)]

use autocomp_gemmini_sim::{CalibrationGroup, CalibrationSuite, MachineConfig, calibrate};
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let filter = arguments.next().unwrap_or_default();
    let counts = arguments.next().unwrap_or("cycles.tsv".into());
    let latency: u32 = arguments.next().map_or(0, |text| text.parse().unwrap());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("calibration/gemmini-rtl");
    let mut suite = CalibrationSuite {
        programs: Vec::new(),
        counts: std::fs::read_to_string(folder.join(counts)).unwrap(),
    };
    let mut names: Vec<_> = std::fs::read_dir(folder.join("elf"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    for path in names {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.contains(&filter) {
            suite.programs.push((name, std::fs::read(path).unwrap()));
        }
    }
    let machine = root.join("../../../../targets/gemmini-int8-16/machines/rtl.toml");
    let mut machine = MachineConfig::from_toml(&std::fs::read_to_string(machine).unwrap()).unwrap();
    machine.timing.memory.outer_latency += latency;
    let report = calibrate(&suite, &machine).unwrap();
    print("kernels", &report.kernels);
    print("micro", &report.micro);
}

fn print(name: &str, group: &CalibrationGroup) {
    for row in &group.rows {
        println!(
            "{:18} {:36} {:8} {:8} {:+7.1}% {:8} {:8} {}",
            row.elf,
            row.case,
            row.rtl_cycles,
            row.sim_cycles,
            row.error * 100.0,
            row.rtl_issue_cycles,
            row.sim_issue_cycles,
            row.checked
                .map_or("", |right| if right { "ok" } else { "WRONG" })
        );
    }
    println!(
        "{name}: {} cases, median {:.2} %, max {:.2} %, order {:.2} %",
        group.cases,
        group.median_abs_error * 100.0,
        group.max_abs_error * 100.0,
        group.pair_order * 100.0
    );
}
