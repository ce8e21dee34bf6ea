//! Bytes behind the accelerator.

use autocomp_gemmini_family::inside::Behind;
use autocomp_gemmini_family::profile::MemoryTraffic;
use autocomp_gemmini_sim::MachineConfig;

#[test]
fn lines_read_and_written_move_at_the_same_time_and_dirty_ones_keep_trackers() {
    // A copy on the machine `rtl` takes 470,881 cycles, though all lines one after the
    // other would take 524,080.
    let copy = MemoryTraffic {
        lines_read: 32_759,
        lines_written: 32_751,
        ..MemoryTraffic::default()
    };
    let of = |name: &str| {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../../targets/gemmini-int8-16/machines"
        );
        let text = std::fs::read_to_string(format!("{folder}/{name}.toml")).expect("a file");
        let machine = MachineConfig::from_toml(&text).expect("a machine");
        Behind::of(&copy, &machine.timing.memory)
    };
    let rtl = of("rtl");
    assert_eq!(rtl.lines, 262_072);
    assert!(rtl.write_backs < rtl.lines && rtl.lines < 470_881);
    // Two cycles for the lookup, three to the way out, eight on it, 150 until the
    // write is acknowledged, ten at a time.
    assert_eq!(of("fpga").write_backs, 32_751 * 163 / 10);
    assert!(of("fpga-quick-writes").write_backs < rtl.lines);
}
