//! A core that the program does not have, as `docs/adding-a-target.md` says: data, and no Rust.

use crate::attacks::{PROBLEM, bench_of};
use autocomp_catalog::Catalog;
use autocomp_core::Outcome;
use autocomp_rvv::Machine;
use autocomp_rvv::calibration::{Measured, errors};
use std::path::PathBuf;

/// A sister of Saturn with half the registers and half the datapath, whose instructions were
/// measured.
const TARGET: &str = r#"
name = "sister"
family = "rvv"
language = "c"
description = "Saturn with registers of 256 bits and a datapath of 128"
inherits = "rvv-k230"
default_machine = "v256d128"

[roofline]
peak_macs_per_cycle = 4.0
bytes_per_cycle = 32.0
"#;

/// What its machine has in place of the other's, line by line.
const CHANGES: [(&str, &str); 4] = [
    ("vlen = 512", "vlen = 256"),
    ("datapath_bits = 256", "datapath_bits = 128"),
    // Reductions end with the lanes of a part: 2 and 5 cycles for each halving.
    ("plus = [6]", "plus = [4]"),
    ("plus = [12]", "plus = [7]"),
];

/// Cycles at LMUL 1, 2, 4 and 8 from public measurements of that core beside Shuttle
/// (camel-cdr/rvv-bench-results, MIT licence), elements of 32 bits.
const MEASURED: &str = r#"
target = "sister"
machine = "v256d128"
instruction = [
  { text = "vadd.vv", word = 0x030c0457, sew = 32, cycles = [2.0, 4.0, 8.0, 16.0] },
  { text = "vfmul.vv", word = 0x930c1457, sew = 32, cycles = [2.0, 4.0, 8.0, 16.0] },
  { text = "vmerge.vvm", word = 0x5d0c0457, sew = 32, cycles = [2.0, 4.0, 8.0, 16.0] },
  { text = "vmseq.vv", word = 0x630c0457, sew = 32, cycles = [3.0, 7.0, 15.0, 31.0] },
  { text = "vwmul.vv", word = 0xef0c2457, sew = 32, cycles = [4.0, 8.0, 16.0] },
  { text = "vnsrl.wi", word = 0xb300b457, sew = 32, cycles = [8.0, 16.0, 32.0] },
  { text = "vredsum.vs", word = 0x030c2457, sew = 32, cycles = [8.0, 12.0, 20.0, 37.0] },
  { text = "vfredusum.vs", word = 0x070c1457, sew = 32, cycles = [17.0, 27.0, 48.0, 92.0] },
  { text = "vfredosum.vs", word = 0x0f0c1457, sew = 32, cycles = [42.0, 83.0, 164.0, 330.0] },
  { text = "vrgather.vv", word = 0x330c0457, sew = 32, cycles = [14.0, 28.0, 56.0, 113.0] },
  { text = "vid.v", word = 0x5208a457, sew = 32, cycles = [3.0, 5.0, 9.0, 17.0] },
]
"#;

#[test]
fn another_core_needs_no_more_than_data() {
    let data = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sister");
    let folder = data.join("targets/sister");
    std::fs::create_dir_all(folder.join("machines")).expect("a folder");
    let mut machine =
        include_str!("../../../../../../targets/rvv-saturn/machines/v512d256.toml").to_owned();
    for (before, after) in CHANGES {
        assert!(machine.contains(before), "{before}");
        machine = machine.replace(before, after);
    }
    let architecture = "# A sister of Saturn\n";
    for (name, text) in [
        ("target.toml", TARGET),
        ("architecture.md", architecture),
        ("machines/v256d128.toml", &machine),
    ] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let mut catalog = Catalog::built_in().expect("built-in data");
    catalog.add_folder(&data).expect("the folder is read");
    let problem = catalog.problem(PROBLEM).expect("a problem");
    let kernel = problem.kernel("lanes").expect("a kernel");
    let cycles = |target: &str| {
        let found = bench_of(&catalog, PROBLEM, target).evaluate(kernel);
        let found = found.expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Ok, "{target}");
        found.cost().expect("a cost").value
    };
    assert!(cycles("rvv-saturn") < cycles("sister"));
    let machine = Machine::parse(&machine).expect("the machine is read");
    let measured: Measured = toml::from_str(MEASURED).expect("the table is read");
    let compared = measured.instructions(&machine);
    let (median, worst) = errors(&compared);
    assert!(
        median < 0.01 && worst < 0.06,
        "{median} {worst} {compared:?}"
    );
}
