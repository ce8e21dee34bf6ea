//! How busy units, ways to memory and the core are in a recorded call.

use super::sequence::Sequence;
use crate::profile::UnitCycles;
use autocomp_gemmini::timing::Unit;
use autocomp_riscv_machine::CallReport;

/// Units with a section of the reservation station each.
pub(super) const UNITS: [(&str, Unit); 3] = [
    ("array", Unit::Execute),
    ("load", Unit::Load),
    ("store", Unit::Store),
];

/// Returns the units with a section of the reservation station each.
pub(super) fn busy_units(sequence: &Sequence<'_>, start: u64, end: u64) -> Vec<UnitCycles> {
    let cycles = (end - start).max(1) as f64;
    let unit = |(name, unit)| {
        let busy_cycles = sequence.busy(unit, start, end);
        let (held, commands) = sequence.held(unit);
        UnitCycles {
            unit: name,
            busy_cycles,
            occupancy: busy_cycles as f64 / cycles,
            commands,
            mean_entries: Some(held as f64 / cycles),
        }
    };
    UNITS.into_iter().map(unit).collect()
}

/// Returns `ways` to memory and the core.
pub fn other_units(report: &CallReport, ways: [(&'static str, u64, u64); 4]) -> Vec<UnitCycles> {
    let cycles = report.cycles.max(1) as f64;
    let mut units = Vec::new();
    for (unit, busy_cycles, commands) in ways {
        // Beats under way when the call ended or began count once more.
        let busy_cycles = busy_cycles.min(report.cycles);
        units.push(UnitCycles {
            unit,
            busy_cycles,
            occupancy: busy_cycles as f64 / cycles,
            commands,
            mean_entries: None,
        });
    }
    let waited = report.core.accelerator_wait_cycles + report.core.fence_wait_cycles;
    let busy_cycles = report.issue_cycles.saturating_sub(waited);
    units.push(UnitCycles {
        unit: "core",
        busy_cycles,
        occupancy: busy_cycles as f64 / cycles,
        commands: report.instructions,
        mean_entries: None,
    });
    units
}
