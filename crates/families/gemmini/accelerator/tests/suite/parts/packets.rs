//! Packets that a read is made of.

use autocomp_gemmini::inside::best_packet;

#[test]
fn packets_cover_most_bytes_and_are_small() {
    assert_eq!(best_packet(0, 64, 16, 64), (64, 64, 0));
    assert_eq!(best_packet(0, 16, 16, 64), (16, 16, 0));
    assert_eq!(best_packet(0, 48, 16, 64), (64, 48, 0));
    assert_eq!(best_packet(16, 64, 16, 64), (64, 48, 16));
    assert_eq!(best_packet(48, 64, 16, 64), (16, 16, 48 & 15));
    assert_eq!(best_packet(8, 16, 16, 64), (32, 16, 8));
    assert_eq!(best_packet(60, 16, 16, 64), (16, 4, 12));
}
