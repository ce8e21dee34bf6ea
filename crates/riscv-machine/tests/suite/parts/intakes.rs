//! Room that is left for requests.

use autocomp_riscv_machine::inside::{Left, ROOM_SEEN};

#[test]
fn a_beat_is_seen_to_be_gone_so_many_cycles_later() {
    // Cycle and beats of each request, cycle of the look, and beats not seen to be gone.
    for (taken, look, unseen) in [
        (&[(10, 1)][..], 10, 1),
        (&[(10, 1)], 10 + ROOM_SEEN - 1, 1),
        (&[(10, 1)], 10 + ROOM_SEEN, 0),
        (&[(10, 4)], 10 + ROOM_SEEN, 3),
        (&[(10, 4)], 13 + ROOM_SEEN, 0),
        (&[(10, 1), (11, 1), (13, 1)], 12 + ROOM_SEEN, 1),
        (&[(10, 1), (11, 1), (13, 1)], 11 + ROOM_SEEN, 1),
        (&[(10, 1), (11, 1), (13, 1)], 10 + ROOM_SEEN, 2),
        (&[(10, 4), (1 << 40, 1)], (1 << 40) + 1, 1),
    ] {
        let mut left = Left::default();
        for &(cycle, beats) in taken {
            left.note(cycle, beats);
        }
        let first = (0..).find(|beats| left.at_most(*beats) <= look);
        assert_eq!(first, Some(unseen), "{taken:?} at {look}");
    }
}
