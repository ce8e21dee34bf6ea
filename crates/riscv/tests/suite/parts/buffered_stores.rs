//! Stores that are still buffered.

use autocomp_riscv::inside::Store;

#[test]
fn a_buffered_store_stops_loads_of_its_own_bytes_only() {
    let store = Store::new(0x4014, 4, 100);
    // Issue, address and bytes of a load; whether it is replayed.
    for (issue, address, bytes, stopped) in [
        (101, 0x5014, 4, true),
        (102, 0x5014, 4, true),
        (103, 0x5014, 4, false),
        (101, 0x5010, 8, true),
        (101, 0x5010, 4, false),
        (101, 0x5017, 1, true),
        (101, 0x5018, 1, false),
    ] {
        assert_eq!(
            store.stops(issue, address, bytes),
            stopped,
            "{bytes} bytes from {address:#x} on in cycle {issue}"
        );
    }
}
