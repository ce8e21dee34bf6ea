//! Which calls sent the same commands.

use autocomp_gemmini::Statistics;
use autocomp_gemmini_family::inside::CallCounts;

fn counts(commands: u64, digest: u64) -> CallCounts {
    let mut statistics = Statistics::default();
    statistics.digest = digest;
    statistics.commands[2] = commands;
    CallCounts {
        statistics,
        rows_touched: [Vec::new(), Vec::new()],
    }
}

#[test]
fn calls_agree_that_send_as_many_commands_with_the_same_operands() {
    for (commands, digest, agrees) in [(3, 9, true), (4, 9, false), (3, 8, false)] {
        assert_eq!(counts(3, 9).agrees(&counts(commands, digest)), agrees);
    }
}
