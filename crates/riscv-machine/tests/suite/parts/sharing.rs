//! Pages that the core and the accelerator share.

use autocomp_riscv_machine::Sharing;

#[test]
fn a_line_is_shared_whether_it_was_held_or_moved_first() {
    let mut sharing = Sharing::new();
    sharing.hold(0x8000_0fc0 >> 6);
    sharing.expect(0x8000_1000, 4096);
    assert!(!sharing.is_shared(), "the page before is held");
    sharing.expect(0x8000_0ff0, 17);
    assert!(
        sharing.is_shared(),
        "the range begins in the page that is held"
    );
    sharing.end_batch();
    assert!(!sharing.is_shared(), "the work is done");
    sharing.lose(0x8000_0fc0 >> 6);
    sharing.expect(0x8000_0fc0, 64);
    assert!(!sharing.is_shared(), "the line has been given up");
    sharing.hold(0x8000_0040 >> 6);
    assert!(sharing.is_shared(), "the page is being moved");
    sharing.end_batch();
    sharing.expect_anything();
    assert!(sharing.is_shared(), "a line is held");
}

#[test]
fn ranges_may_end_with_the_address_space_or_be_larger_than_any_memory() {
    let mut sharing = Sharing::new();
    sharing.expect(u64::MAX - 10, u64::MAX);
    sharing.expect(0, u64::MAX);
    sharing.hold(3);
    assert!(sharing.is_shared());
}
