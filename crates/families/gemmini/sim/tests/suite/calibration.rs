//! Pins how far the simulator is from the counts of the calibration suite.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail")]

use autocomp_gemmini_sim::{
    CalibrationGroup, CalibrationReport, CalibrationRow, CalibrationSuite, MachineConfig,
    calibrate, parse_counts,
};
use std::path::Path;

fn measure(counts: &str, extra_latency: u32) -> CalibrationReport {
    measure_suite("gemmini-rtl", counts, "rtl", extra_latency)
}

fn measure_suite(
    suite: &str,
    counts: &str,
    machine: &str,
    extra_latency: u32,
) -> CalibrationReport {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("calibration").join(suite);
    let mut suite = CalibrationSuite {
        programs: Vec::new(),
        counts: std::fs::read_to_string(folder.join(counts)).unwrap(),
    };
    for entry in std::fs::read_dir(folder.join("elf")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        suite.programs.push((name, std::fs::read(path).unwrap()));
    }
    suite.programs.sort();
    let mut machine = machine_of(machine);
    machine.timing.memory.outer_latency += extra_latency;
    calibrate(&suite, &machine).unwrap()
}

fn machine_of(name: &str) -> MachineConfig {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(format!(
        "../../../../targets/gemmini-int8-16/machines/{name}.toml"
    ));
    MachineConfig::from_toml(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn worst(report: &CalibrationReport) -> String {
    let rows = report.kernels.rows.iter().chain(&report.micro.rows);
    worst_of(rows.collect())
}

fn worst_of(mut rows: Vec<&CalibrationRow>) -> String {
    rows.sort_by(|a, b| b.error.abs().total_cmp(&a.error.abs()));
    let line = |row: &&CalibrationRow| {
        format!(
            "{} {}: {} for {}",
            row.elf, row.case, row.sim_cycles, row.rtl_cycles
        )
    };
    rows.iter()
        .take(10)
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// How many cases are off by more than `limit`.
fn beyond(group: &CalibrationGroup, limit: f64) -> usize {
    let rows = group.rows.iter();
    rows.filter(|row| row.error.abs() > limit).count()
}

#[test]
fn kernels_and_small_cases_stay_close_to_hardware() {
    let report = measure("cycles.tsv", 0);
    let worst = worst(&report);
    assert_eq!((report.kernels.cases, report.micro.cases), (51, 328));
    assert!(report.kernels.median_abs_error < 0.001, "{worst}");
    assert!(report.kernels.max_abs_error < 0.012, "{worst}");
    assert!(report.kernels.pair_order > 0.9995, "{worst}");
    assert!(report.micro.median_abs_error < 0.0015, "{worst}");
    assert!(report.micro.max_abs_error < 0.10, "{worst}");
    assert!(report.micro.pair_order > 0.999, "{worst}");
    for row in &report.micro.rows {
        let transfers = ["branch_", "jump_", "loop_", "call_"];
        if transfers.iter().any(|kind| row.case.starts_with(kind)) {
            assert!(row.error.abs() < 0.06, "{}: {:.3}", row.case, row.error);
        }
    }
    let wrong = |row: &CalibrationRow| row.checked == Some(false);
    assert!(
        !report.kernels.rows.iter().any(wrong),
        "a kernel computed a wrong result"
    );
}

#[test]
fn slower_memory_stays_close_to_hardware() {
    let report = measure("cycles-mem40.tsv", 40);
    let worst = worst(&report);
    assert_eq!((report.kernels.cases, report.micro.cases), (14, 222));
    assert!(report.kernels.median_abs_error < 0.001, "{worst}");
    assert!(report.kernels.max_abs_error < 0.003, "{worst}");
    assert!(report.kernels.pair_order > 0.9995, "{worst}");
    assert!(report.micro.median_abs_error < 0.004, "{worst}");
    assert!(report.micro.max_abs_error < 0.06, "{worst}");
}

#[test]
fn cases_beside_the_suite_stay_close_to_hardware() {
    let report = measure_suite("more", "cycles.tsv", "rtl", 0);
    let worst = worst(&report);
    assert_eq!(report.micro.cases, 720);
    assert!(report.micro.median_abs_error < 0.001, "{worst}");
    assert!(report.micro.pair_order > 0.996, "{worst}");
    assert!(beyond(&report.micro, 0.05) <= 7, "{worst}");
    assert!(beyond(&report.micro, 0.10) <= 2, "{worst}");
    assert_eq!(beyond(&report.micro, 0.19), 0, "{worst}");
    // The core beside moves of the accelerator, to the same lines too.
    let shares = |row: &&CalibrationRow| row.elf == "core_share.elf";
    let off = report.micro.rows.iter().filter(shares);
    assert_eq!(
        off.filter(|row| row.error.abs() > 0.06).count(),
        0,
        "{worst}"
    );
    // Convolution loops, and pooled stores with and without padding.
    let of_conv = |row: &&CalibrationRow| {
        row.elf == "conv.elf" || row.elf == "stores.elf" && row.case.starts_with("pool")
    };
    let loops: Vec<_> = report.micro.rows.iter().filter(of_conv).collect();
    let far = |limit: f64| loops.iter().filter(|row| row.error.abs() > limit).count();
    assert_eq!((loops.len(), far(0.03)), (87, 0), "{worst}");
    assert!(far(0.005) <= 4, "{worst}");
    // Results that the next command reads, and accesses to counters.
    let waits = |row: &&CalibrationRow| row.elf == "hazards.elf" || row.elf == "counters.elf";
    let waits: Vec<_> = report.micro.rows.iter().filter(waits).collect();
    let off = waits.iter().filter(|row| row.error.abs() > 0.04).count();
    assert_eq!((waits.len(), off), (102, 0), "{worst}");
    // Floating point is met to the cycle, but for lines of code that are thrown out.
    let is_float = |row: &&CalibrationRow| row.elf == "float.elf";
    let floats = report.micro.rows.iter().filter(is_float);
    let off = floats.filter(|row| row.rtl_cycles.abs_diff(row.sim_cycles) > 2);
    assert!(off.count() <= 2, "{worst}");
}

/// What a table of counts may be off by.
struct Limits {
    suite: &'static str,
    counts: &'static str,
    extra_latency: u32,
    /// In first repetitions, with cold code and data, of kernels and of small cases: how
    /// many there are, medians, largest errors, how many are more than 5 % off, and the
    /// least share of pairs in order.
    cases: [usize; 2],
    medians: [f64; 2],
    largest: [f64; 2],
    far: [usize; 2],
    order: [f64; 2],
    /// Of all cases together, warm and cold: the cycles that they are off by, added up, and
    /// how many are met to the cycle.
    off: [u64; 2],
    exact: [usize; 2],
}

impl Limits {
    fn measure(&self) -> CalibrationReport {
        measure_suite(self.suite, self.counts, "rtl", self.extra_latency)
    }
}

#[test]
fn cold_runs_stay_close_to_hardware() {
    for limits in TABLES {
        let cold = limits.measure().cold;
        for (idx, group) in [cold.kernels, cold.micro].iter().enumerate() {
            let worst = worst_of(group.rows.iter().collect());
            let name = format!("{} {} {worst}", limits.suite, limits.counts);
            assert_eq!(group.cases, limits.cases[idx], "{name}");
            assert!(group.median_abs_error <= limits.medians[idx], "{name}");
            assert!(group.max_abs_error < limits.largest[idx], "{name}");
            assert!(beyond(group, 0.05) <= limits.far[idx], "{name}");
            assert!(group.pair_order >= limits.order[idx], "{name}");
        }
    }
}

const TABLES: [Limits; 7] = [
    Limits {
        suite: "gemmini-rtl",
        counts: "cycles.tsv",
        extra_latency: 0,
        cases: [51, 328],
        medians: [0.0025, 0.0005],
        largest: [0.02, 0.21],
        far: [0, 8],
        order: [0.999, 0.998],
        off: [867, 3034],
        exact: [189, 194],
    },
    Limits {
        suite: "gemmini-rtl",
        counts: "cycles-mem40.tsv",
        extra_latency: 40,
        cases: [14, 222],
        medians: [0.004, 0.0025],
        largest: [0.02, 0.34],
        far: [0, 9],
        order: [0.999, 0.996],
        off: [362, 1400],
        exact: [106, 105],
    },
    Limits {
        suite: "more",
        counts: "cycles.tsv",
        extra_latency: 0,
        cases: [0, 720],
        medians: [0.0, 0.0005],
        largest: [0.001, 0.2],
        far: [0, 18],
        order: [1.0, 0.998],
        off: [1456, 2878],
        exact: [506, 392],
    },
    Limits {
        suite: "held-out",
        counts: "cycles.tsv",
        extra_latency: 0,
        cases: [171, 207],
        medians: [0.005, 0.004],
        largest: [0.05, 0.2],
        far: [0, 15],
        order: [0.999, 0.994],
        // Two cycles more than before where a queue of moves is full: small sequences of moves
        // that were 24 % and 20 % too short are 3 % and 4 % too long in return.
        off: [5952, 12129],
        exact: [127, 81],
    },
    Limits {
        suite: "held-out",
        counts: "cycles-mem40.tsv",
        extra_latency: 40,
        cases: [53, 84],
        medians: [0.004, 0.005],
        largest: [0.095, 0.16],
        far: [1, 5],
        order: [0.9935, 0.993],
        off: [1388, 3447],
        exact: [47, 33],
    },
    Limits {
        suite: "held-out-2",
        counts: "cycles.tsv",
        extra_latency: 0,
        cases: [93, 50],
        medians: [0.0035, 0.0055],
        largest: [0.085, 0.06],
        far: [2, 1],
        order: [0.999, 0.998],
        off: [4915, 8693],
        exact: [47, 17],
    },
    Limits {
        suite: "held-out-2",
        counts: "cycles-mem40.tsv",
        extra_latency: 40,
        cases: [0, 50],
        medians: [0.0, 0.008],
        largest: [0.001, 0.06],
        far: [0, 1],
        order: [1.0, 0.997],
        off: [192, 694],
        exact: [29, 16],
    },
];

// Blind, that is before anything was changed for them: 139 kernels 0.21 % in the median,
// 7.7 % at worst, 5 beyond 5 % and 11 beyond 3 %; small cases 0.14 %, 14.4 %, 5.
#[test]
fn held_out_programs_stay_close_to_hardware() {
    let report = measure_suite("held-out", "cycles.tsv", "rtl", 0);
    let worst = worst(&report);
    let (kernels, micro) = (&report.kernels, &report.micro);
    assert_eq!((kernels.cases, micro.cases), (171, 207));
    assert!(kernels.median_abs_error < 0.002, "{worst}");
    assert!(kernels.max_abs_error < 0.035, "{worst}");
    assert_eq!(beyond(kernels, 0.05), 0, "{worst}");
    assert!(beyond(kernels, 0.03) <= 1, "{worst}");
    assert!(kernels.pair_order > 0.998, "{worst}");
    assert!(micro.median_abs_error < 0.002, "{worst}");
    assert!(micro.max_abs_error < 0.06, "{worst}");
    assert!(beyond(micro, 0.05) <= 1, "{worst}");
    assert!(micro.pair_order > 0.999, "{worst}");
}

#[test]
fn held_out_programs_with_slower_memory_stay_close_to_hardware() {
    let report = measure_suite("held-out", "cycles-mem40.tsv", "rtl", 40);
    let worst = worst(&report);
    assert_eq!((report.kernels.cases, report.micro.cases), (53, 84));
    assert!(report.kernels.median_abs_error < 0.003, "{worst}");
    assert!(report.kernels.max_abs_error < 0.035, "{worst}");
    assert!(report.kernels.pair_order > 0.996, "{worst}");
    assert!(report.micro.median_abs_error < 0.004, "{worst}");
    assert!(report.micro.max_abs_error < 0.08, "{worst}");
}

// Blind: 70 kernels 0.06 % in the median, 11.9 % at worst, two beyond 3 %; small cases
// 0.00 %, 6.0 %, two beyond 5 %. All pairs in order. The 23 of `kern_stranger` came after
// these: 0.35 %, 1.3 %, cold 0.35 %, 1.3 %, and nothing was changed for them.
#[test]
fn programs_held_out_later_stay_close_to_hardware() {
    let report = measure_suite("held-out-2", "cycles.tsv", "rtl", 0);
    let worst = worst(&report);
    let (kernels, micro) = (&report.kernels, &report.micro);
    assert_eq!((kernels.cases, micro.cases), (93, 50));
    assert!(kernels.median_abs_error < 0.0016, "{worst}");
    let by_strangers = |row: &&CalibrationRow| row.elf == "kern_stranger.elf";
    let off = kernels.rows.iter().filter(by_strangers);
    assert_eq!(
        off.filter(|row| row.error.abs() > 0.015).count(),
        0,
        "{worst}"
    );
    assert!(kernels.max_abs_error < 0.045, "{worst}");
    assert!(beyond(kernels, 0.032) <= 2, "{worst}");
    assert!(beyond(kernels, 0.02) <= 3, "{worst}");
    assert!(kernels.pair_order > 0.999, "{worst}");
    assert!(micro.median_abs_error < 0.001, "{worst}");
    assert!(micro.max_abs_error < 0.035, "{worst}");
    assert!(micro.pair_order > 0.999, "{worst}");
}

#[test]
fn programs_held_out_later_with_slower_memory_stay_close_to_hardware() {
    let report = measure_suite("held-out-2", "cycles-mem40.tsv", "rtl", 40);
    let worst = worst(&report);
    assert_eq!(report.micro.cases, 50);
    assert!(report.micro.median_abs_error < 0.001, "{worst}");
    assert!(report.micro.max_abs_error < 0.04, "{worst}");
}

#[test]
fn published_counts_of_two_boards_are_met() {
    for (counts, machine, cases) in [
        ("cycles.tsv", "fpga", 6),
        ("cycles-quick-writes.tsv", "fpga-quick-writes", 2),
    ] {
        let report = measure_suite("published", counts, machine, 0);
        let worst = worst(&report);
        assert_eq!(report.kernels.cases, cases);
        assert!(report.kernels.median_abs_error < 0.01, "{worst}");
        assert!(report.kernels.max_abs_error < 0.02, "{worst}");
    }
}

/// A mechanism that moves many cases by a cycle or few by many hardly changes medians and
/// largest errors, but it changes this. The limits are what is reached today; whoever raises
/// one has to say what is nearer to hardware in return.
#[test]
fn all_cases_together_are_no_further_from_hardware_than_they_were() {
    for limits in TABLES {
        let (suite, counts) = (limits.suite, limits.counts);
        let report = limits.measure();
        let rows = |groups: [&CalibrationGroup; 2]| groups.map(|it| it.rows.clone()).concat();
        let warm = rows([&report.kernels, &report.micro]);
        let cold = rows([&report.cold.kernels, &report.cold.micro]);
        let off = [&warm, &cold].map(|rows| rows.iter().map(distance).sum::<u64>());
        let exact = [&warm, &cold].map(|rows| rows.iter().filter(|it| distance(it) == 0).count());
        for call in 0..2 {
            assert!(
                off[call] <= limits.off[call] && limits.exact[call] <= exact[call],
                "{suite} {counts}, warm and cold: off by {off:?} cycles, {exact:?} exact"
            );
        }
    }
}

fn distance(row: &CalibrationRow) -> u64 {
    row.sim_cycles.abs_diff(row.rtl_cycles)
}

#[test]
fn the_same_suite_gives_the_same_counts() {
    assert_eq!(
        measure("cycles-mem40.tsv", 7),
        measure("cycles-mem40.tsv", 7)
    );
}

#[test]
fn tables_that_cannot_be_read_name_the_line() {
    let header = "elf\tcase\trep\tissue_cycles\ttotal_cycles\n";
    let problem = |table: String| parse_counts(&table).unwrap_err().to_string();
    assert_eq!(
        problem("elf\tcase\n".into()),
        "counts, line 1: no column `rep`"
    );
    let row = format!("{header}a.elf\tb\t0\t1\t2\na.elf\tb\t1\tx\t2\n");
    assert_eq!(problem(row), "counts, line 3: `x` is no number");
    assert_eq!(
        problem(format!("{header}a.elf\tb\t3\t1\t2\n")),
        "counts, line 2: repetition 3 of 3"
    );
    assert_eq!(
        problem(format!("{header}a.elf\tb\n")),
        "counts, line 2: only 2 fields"
    );
    assert_eq!(
        problem(format!("{header}a.elf\tb\t0\t1\t2\na.elf\tb\t1\t1\t2\n")),
        "counts of a.elf, case b: repetition 1 or 2 is missing"
    );
}

#[test]
fn a_comparison_of_nothing_is_an_error() {
    let suite = CalibrationSuite {
        programs: Vec::new(),
        counts: "elf\tcase\trep\tissue_cycles\ttotal_cycles\n".into(),
    };
    let error = calibrate(&suite, &machine_of("rtl"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("nothing to compare: 0 programs"),
        "{error}"
    );
}

/// A program of another machine's stops on this one, and the others are compared.
#[test]
fn programs_that_stop_are_told_and_the_rest_is_compared() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("calibration/gemmini-rtl");
    let counts = std::fs::read_to_string(folder.join("cycles.tsv")).unwrap();
    let of = |names: &[&str]| CalibrationSuite {
        programs: names
            .iter()
            .map(|name| {
                let bytes = std::fs::read(folder.join("elf").join(name)).unwrap();
                ((*name).to_owned(), bytes)
            })
            .collect(),
        counts: counts.clone(),
    };
    let both = calibrate(
        &of(&["kern_lconv.elf", "micro_grid.elf"]),
        &machine_of("fpga"),
    )
    .unwrap();
    let [(elf, problem)] = &both.stopped[..] else {
        panic!("{:?}", both.stopped);
    };
    assert!(
        elf == "kern_lconv.elf" && problem.contains("stride is 0"),
        "{elf}: {problem}"
    );
    assert!(0 < both.micro.cases && both.kernels.cases == 0);
    let error = calibrate(&of(&["kern_lconv.elf"]), &machine_of("fpga")).unwrap_err();
    assert!(
        error.to_string().contains("did not run to its end"),
        "{error}"
    );
}
