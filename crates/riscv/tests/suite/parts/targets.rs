//! The branch target buffer.

use autocomp_riscv::inside::{PAGE_SHIFT, SLOTS, Targets, Transfer};

fn add(targets: &mut Targets, last_half: u64) {
    targets.add(last_half, last_half + 0x40, Transfer::Branch);
}

fn holds(targets: &mut Targets, last_half: u64) -> bool {
    targets.find(last_half).is_some()
}

#[test]
fn the_tree_names_the_part_that_was_used_less_recently() {
    for (entries, used, expected) in [
        (4, &[0, 1, 2, 3][..], 0),
        (4, &[0, 1, 2, 3, 0], 2),
        (3, &[2, 0], 2),
        (3, &[0, 2], 1),
        // Halves of sixteen and twelve; twelve are eight and four.
        (28, &[0, 16], 8),
        (28, &[16, 0], 24),
        (28, &[16, 24, 0], 20),
        (1, &[0], 0),
    ] {
        let mut targets = Targets::new(entries);
        for &idx in used {
            targets.touch(idx);
        }
        let named = targets.least_recent();
        assert_eq!(named, expected, "{entries} entries, used {used:?}");
    }
}

#[test]
fn a_group_known_twice_is_found_once_more() {
    let mut targets = Targets::new(28);
    add(&mut targets, 0x1002);
    add(&mut targets, 0x1002);
    assert!(!targets.knows(0x1002));
    assert_eq!(targets.find(0x1000).unwrap().target, 0x1042);
    assert!(!holds(&mut targets, 0x1000));
}

#[test]
fn halves_of_a_group_share_an_entry() {
    let mut targets = Targets::new(28);
    add(&mut targets, 0x1002);
    let place = targets.find(0x1000).unwrap();
    assert_eq!(place.last_half, 0x1002);
    targets.replace(place.idx, 0x1000, 0x2000, Transfer::Jump);
    assert!(targets.knows(0x1000) && !targets.knows(0x1002));
}

#[test]
fn entries_go_with_their_page() {
    let mut targets = Targets::new(28);
    let page = 1 << PAGE_SHIFT;
    for number in 1..=6 {
        add(&mut targets, number * page);
    }
    assert!(holds(&mut targets, page));
    add(&mut targets, 7 * page);
    assert!(!holds(&mut targets, page));
    assert!((2..=7).all(|number| holds(&mut targets, number * page)));
}

#[test]
fn more_groups_than_entries_push_each_other_out() {
    let mut targets = Targets::new(4);
    for group in 0..8 {
        add(&mut targets, 0x1000 + 4 * group);
        // Groups of other slots and of the same one.
        add(&mut targets, 0x1000 + 4 * group + 4 * SLOTS as u64);
    }
    let known = (0..8)
        .flat_map(|group| [0x1000 + 4 * group, 0x1000 + 4 * group + 4 * SLOTS as u64])
        .filter(|half| targets.find(*half).is_some())
        .count();
    assert_eq!(known, 4);
}
