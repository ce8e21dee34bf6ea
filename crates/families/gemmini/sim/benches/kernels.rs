//! Simulated cycles per second on programs of the calibration suite, with
//! function and timing; scalar code that makes and checks the data included.

#![allow(missing_docs, reason = "made by the benchmark's macros")]
#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

use autocomp_gemmini::{Checks, Gemmini, Severity};
use autocomp_gemmini_sim::MachineConfig;
use autocomp_riscv::{Limits, Mode};
use autocomp_riscv_machine::{ProgramReport, run_program};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::path::Path;

fn simulate(elf: &[u8], machine: &MachineConfig) -> ProgramReport {
    let gemmini = machine.accelerator.clone();
    let mut accelerator = Gemmini::new(gemmini, Some(&machine.timing)).unwrap();
    accelerator.functional_mut().set_checks(Checks {
        uninitialized: Severity::Off,
        races: Severity::Off,
        hazards: Severity::Off,
    });
    let limits = Limits {
        instructions: u64::MAX,
        cycles: u64::MAX,
    };
    run_program(elf, &machine.core, accelerator, Mode::Timed, limits).unwrap()
}

fn kernels(criterion: &mut Criterion) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let machine = root.join("../../../../targets/gemmini-int8-16/machines/rtl.toml");
    let machine = MachineConfig::from_toml(&std::fs::read_to_string(machine).unwrap()).unwrap();
    let mut group = criterion.benchmark_group("kernels");
    for elf in ["kern_large1.elf", "kern_large2.elf", "kern_mid3.elf"] {
        let bytes = std::fs::read(root.join("calibration/gemmini-rtl/elf").join(elf)).unwrap();
        let run = || simulate(&bytes, &machine);
        group.throughput(Throughput::Elements(run().cycles));
        group.bench_function(elf, |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
