//! The rewriter from outside: through the trait that proposers see, and on
//! every kernel of the built-in problems; and its parts, one by one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chains;
mod damage;
mod depths;
mod macros;
mod plans;
mod problems;
mod schedules;
mod spellings;
mod values;

use autocomp_gemmini::{Dataflows, Elements, Features, GemminiConfig, LoopConvLayout};
use autocomp_gemmini_rewriter::{HardwareLimits, MachineCosts, RankingCosts};

const MACHINE: &str = include_str!("../../../../../../targets/gemmini-int8-16/machines/fpga.toml");

/// Returns the costs of Gemmini's default machine, as its file gives them.
fn ranking() -> RankingCosts {
    let mut machine: toml::Table = MACHINE.parse().unwrap();
    machine.remove("ranking").unwrap().try_into().unwrap()
}

/// Returns the limits of Gemmini's default configuration: int8, a 16x16 array, a scratchpad of
/// 256 KB, an accumulator of 64 KB, an L2 of 512 KB.
fn int8_16() -> HardwareLimits {
    let costs = MachineCosts {
        l2_bytes: 512 * 1024,
        behind_l2: 8,
        ranking: ranking(),
    };
    let accelerator = GemminiConfig {
        dim: 16,
        elements: Elements::Int8,
        mesh_out_bits: 20,
        dataflows: Dataflows::Both,
        spad_kib: 256,
        spad_banks: 4,
        acc_kib: 64,
        acc_banks: 2,
        dma_max_bytes: 64,
        counters: 8,
        loop_conv_layout: LoopConvLayout::Rectangular,
        features: Features {
            mvin_scale: true,
            mvin_acc_scale: false,
            max_pool: true,
            nonlinear_activations: true,
            training_convs: true,
            dw_convs: true,
            first_layer: true,
            normalizations: false,
            loop_conv: true,
            acc_read_small_width: true,
            acc_read_full_width: true,
            ex_read_from_acc: true,
            ex_write_to_spad: true,
        },
    };
    HardwareLimits { accelerator, costs }
}
