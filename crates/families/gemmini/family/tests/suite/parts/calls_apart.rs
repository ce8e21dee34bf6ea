//! Which of several calls is the right one.

use autocomp_gemmini::Statistics;
use autocomp_gemmini_family::inside::{CallCounts, RightCall};
use autocomp_riscv::CoreStatistics;
use autocomp_riscv_machine::CallReport;

fn counts(commands: u64) -> CallCounts {
    let mut statistics = Statistics::default();
    statistics.commands[2] = commands;
    CallCounts {
        statistics,
        rows_touched: [Vec::new(), Vec::new()],
    }
}

#[test]
fn calls_agree_that_return_the_same_after_as_many_instructions_and_commands() {
    let report = |instructions, value, cycles| CallReport {
        cycles,
        issue_cycles: cycles,
        instructions,
        value,
        core: CoreStatistics::default(),
    };
    let right = RightCall {
        report: report(50, 7, 50),
        counts: counts(3),
        warnings: Vec::new(),
    };
    for (instructions, value, commands, agrees) in [
        (50, 7, 3, true),
        (51, 7, 3, false),
        (50, 8, 3, false),
        (50, 7, 4, false),
    ] {
        let timed = report(instructions, value, 1000);
        assert_eq!(right.agrees(&timed, &counts(commands)), agrees);
    }
}
