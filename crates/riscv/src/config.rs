//! Parameters of the core.

use serde::{Deserialize, Serialize};

/// Parameters of the scalar core and its L1 caches.
///
/// Times are in core cycles. "Latency" is the number of cycles until a
/// dependent instruction can issue; 1 means back to back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreConfig {
    /// Latency of `ld` and `lw`.
    pub load_latency: u64,
    /// Latency of loads of bytes and halfwords, which are aligned a stage later.
    pub subword_load_latency: u64,
    /// Latency of floating-point loads.
    pub float_load_latency: u64,
    /// Latency of CSR reads.
    pub csr_latency: u64,
    /// Latency of the return address that an indirect call writes.
    pub indirect_link_latency: u64,
    /// Latency of a single-precision addition, multiplication or both fused.
    pub float_single_latency: u64,
    /// The same in double precision.
    pub float_double_latency: u64,
    /// Latency of operations whose floating-point result needs no adder:
    /// conversions, moves from integer registers, sign and minimum.
    pub float_short_latency: u64,
    /// Latency of operations with an integer result.
    pub float_to_integer_latency: u64,
    /// Bits of the first operand that the multiplier consumes per cycle.
    pub multiply_bits_per_cycle: u64,
    /// Cycles of the multiplier and divider besides their iterations.
    pub muldiv_overhead: u64,
    /// Cycles lost by a mispredicted branch or jump (resolved in the memory stage).
    pub mispredict_penalty: u64,
    /// Cycles lost when write-back restarts the pipeline: CSR writes with side
    /// effects, replays, traps.
    pub flush_penalty: u64,
    /// Cycles lost by a taken branch or jump that is found only when decoded.
    pub decode_redirect_penalty: u64,
    /// Entries of the branch target buffer.
    pub btb_entries: usize,
    /// One-bit counters of the branch history table; a power of two, at most 65536.
    pub bht_entries: usize,
    /// Branch outcomes remembered in the global history, at most 16.
    pub bht_history: u32,
    /// Bits to which the history is hashed.
    pub bht_history_bits: u32,
    /// Entries of the return address stack.
    pub ras_entries: usize,
    /// Cycles for which a dirty line that must go delays the one that replaces it.
    pub write_back_cycles: u64,
    /// The instruction cache.
    pub l1i: CacheConfig,
    /// The data cache.
    pub l1d: CacheConfig,
    /// State of the shift registers of the caches' random replacement after
    /// reset (RTL: 1); 0 counts as 1.
    pub replacement_seed: u16,
}

impl CoreConfig {
    /// Returns a core without caches to speak of in which everything takes a cycle: for harts
    /// whose time another model keeps.
    #[must_use]
    pub fn plain() -> Self {
        let cache = CacheConfig {
            sets: 1,
            ways: 1,
            miss_overhead: 0,
        };
        Self {
            load_latency: 1,
            subword_load_latency: 1,
            float_load_latency: 1,
            csr_latency: 1,
            indirect_link_latency: 1,
            float_single_latency: 1,
            float_double_latency: 1,
            float_short_latency: 1,
            float_to_integer_latency: 1,
            multiply_bits_per_cycle: 64,
            muldiv_overhead: 0,
            mispredict_penalty: 0,
            flush_penalty: 0,
            decode_redirect_penalty: 0,
            btb_entries: 0,
            bht_entries: 1,
            bht_history: 0,
            bht_history_bits: 0,
            ras_entries: 0,
            write_back_cycles: 0,
            l1i: cache.clone(),
            l1d: cache,
            replacement_seed: 1,
        }
    }
}

/// Geometry of one L1 cache with lines of 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheConfig {
    /// Number of sets; a power of two.
    pub sets: usize,
    /// Lines per set.
    pub ways: usize,
    /// Cycles that a miss costs besides the access below the cache.
    pub miss_overhead: u64,
}
