//! Units other than the array.

use autocomp_gemmini_family::inside::other_units;
use autocomp_riscv::CoreStatistics;
use autocomp_riscv_machine::CallReport;

#[test]
fn no_way_is_busy_for_longer_than_the_call_and_the_core_not_while_it_waits() {
    let report = CallReport {
        cycles: 100,
        issue_cycles: 90,
        instructions: 30,
        spills: 0,
        value: 0,
        core: CoreStatistics {
            accelerator_wait_cycles: 20,
            fence_wait_cycles: 30,
            ..CoreStatistics::default()
        },
    };
    let ways = [
        ("in", 101, 7),
        ("out", 100, 8),
        ("outer", 25, 9),
        ("back", 0, 0),
    ];
    let units = other_units(&report, ways);
    let found: Vec<_> = units
        .iter()
        .map(|it| (it.unit, it.busy_cycles, it.occupancy, it.commands))
        .collect();
    let expected = [
        ("in", 100, 1.0, 7),
        ("out", 100, 1.0, 8),
        ("outer", 25, 0.25, 9),
        ("back", 0, 0.0, 0),
        ("core", 40, 0.4, 30),
    ];
    assert_eq!(found, expected);
}
