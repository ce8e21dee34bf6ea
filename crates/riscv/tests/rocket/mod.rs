//! The core that tests and benchmarks run on.

use autocomp_riscv::{CacheConfig, CoreConfig};

/// Returns a core like the machines' with two L1 caches of this size.
pub fn core_config(sets: usize, ways: usize) -> CoreConfig {
    let cache = CacheConfig {
        sets,
        ways,
        miss_overhead: 1,
    };
    CoreConfig {
        load_latency: 2,
        subword_load_latency: 3,
        float_load_latency: 4,
        csr_latency: 3,
        indirect_link_latency: 2,
        float_single_latency: 4,
        float_double_latency: 6,
        float_short_latency: 4,
        float_to_integer_latency: 3,
        multiply_bits_per_cycle: 8,
        muldiv_overhead: 2,
        mispredict_penalty: 3,
        flush_penalty: 4,
        decode_redirect_penalty: 1,
        btb_entries: 28,
        bht_entries: 512,
        bht_history: 8,
        bht_history_bits: 3,
        ras_entries: 6,
        write_back_cycles: 8,
        l1i: cache.clone(),
        l1d: cache,
        replacement_seed: 1,
    }
}
