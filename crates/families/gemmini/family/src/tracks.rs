//! The tracks of timelines, from top to bottom.

use autocomp_eval::timeline::Track;

const fn track(place: u8, name: &'static str) -> Track {
    Track { place, name }
}

/// What each cycle is spent on.
pub const CAUSE: Track = track(0, "cause");
/// Operations of the array.
pub const ARRAY: Track = track(1, "array");
/// Lines that the core executes.
pub const CORE: Track = track(2, "core");
/// Fences and cache misses of the core.
pub const CORE_WAIT: Track = track(3, "core waits");
/// Moves in.
pub const LOAD: Track = track(4, "load");
/// Moves out.
pub const STORE: Track = track(5, "store");
/// Bytes of moves in at the port.
pub const PORT: Track = track(6, "port in");
/// Reads of moves in that wait behind the L2.
pub const OUTER: Track = track(7, "behind L2");
