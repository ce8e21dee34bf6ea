//! Constants of the memory system as plain data.
//!
//! "RTL" marks values that were read from the memory system's source; "fitted" values that
//! were chosen to meet counts measured on it.

use serde::{Deserialize, Serialize};

/// Memory system below the L1 caches, seen from the accelerator's port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryConfig {
    /// Capacity of the L2 in KiB.
    pub l2_kib: u32,
    /// Ways of the L2.
    pub l2_ways: u32,
    /// Misses in flight (RTL: the L2's transaction trackers that serve
    /// requests).
    pub l2_mshrs: u32,
    /// Cycles from a request at the port to its first beat, L2 hit (RTL).
    pub hit_latency: u32,
    /// The same on an L2 miss that throws nothing out, if memory answers in the cycle
    /// after the request and the beat did not have to wait for the rest of the line
    /// (RTL).
    pub miss_latency: u32,
    /// Latency of everything behind the L2 in cycles.
    pub outer_latency: u32,
    /// Cycles from the last byte of a dirty line leaving the L2 to the
    /// acknowledgement of its write. The line's tracker is busy until then
    /// (RTL: the L2's trackers wait for the acknowledgement of a release).
    pub outer_write_latency: u32,
    /// Bytes per cycle behind the L2 in each direction. Requests share a direction
    /// with the dirty lines that are written (RTL).
    pub outer_bytes_per_cycle: u32,
    /// Cycles from a request to its first beat if the L1 has to hand over a
    /// dirty line (fitted).
    pub probe_dirty_latency: u32,
    /// Cycles between such lines (fitted).
    pub probe_dirty_occupancy: u32,
    /// Cycles from a request to its first beat if the L1 has to give up a
    /// clean line that it holds alone (fitted).
    pub probe_clean_latency: u32,
    /// Cycles between such lines (RTL: Rocket's data cache takes a probe, looks
    /// it up for two cycles and notes the line's new state).
    pub probe_clean_occupancy: u32,
    /// Cycles from a core's L1 miss to the line being usable, L2 hit (fitted).
    pub core_hit_latency: u32,
    /// Cycles from a core's write to a line that it holds shared to owning it.
    pub core_upgrade_latency: u32,
}
