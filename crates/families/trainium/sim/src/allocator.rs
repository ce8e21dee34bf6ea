//! Memory that an evaluation leaves for the next one.

use std::sync::Once;

/// The largest block whose return glibc's allocator adapts to, bytes, with room for its own header
/// (malloc(3), `M_MMAP_THRESHOLD`).
const LARGEST: usize = (32 << 20) - (64 << 10);

/// Lets the C library keep what evaluations give back, instead of returning it to the system and
/// asking for it again: with long traces, new pages are a tenth of an evaluation.
///
/// glibc keeps twice as much as the largest block that a process has given back, which is some
/// megabytes in the traces' tables by themselves. A block that is never touched costs nothing.
/// Other libraries are left as they are.
pub(crate) fn keep_memory() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGEST))));
}
