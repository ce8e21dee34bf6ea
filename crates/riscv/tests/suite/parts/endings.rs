//! How recorded blocks end.

use autocomp_riscv::inside::{Buffered, Buffering, Ending, recorded};

#[test]
fn an_ending_tells_what_comes_from_the_buffer() {
    let [even, odd] = [0x1000, 0x1002];
    for (buffered, first, last) in [
        (Buffered::Never, true, false),
        (Buffered::Always, false, true),
        (Buffered::AsFirst, false, false),
        (Buffered::AsFirst, true, true),
    ] {
        for (after, target) in [(even, odd), (odd, even)] {
            let ending = Ending::new([after, target], 3, 7).with_buffered(buffered);
            let read = recorded(&ending);
            for (taken, address) in [(false, after), (true, target)] {
                // Taken to an upper half from the buffer, or not.
                let before = Buffering::behind(first, true, odd);
                let next = read.buffering(before, taken);
                assert_eq!(next.0, Buffering::behind(last, taken, address).0);
                assert_eq!(next.taken(), u64::from(taken && last));
            }
        }
    }
}
