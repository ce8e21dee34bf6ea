//! What things cost by this model, as figures of texts for who writes kernels.

use super::classes::{self, Cost};
use super::machine::Machine;
use crate::decode::{Bin, Num, Un};

/// Returns what things cost on a machine, by the names that texts have for the figures.
#[must_use]
pub fn rates(machine: &Machine) -> Vec<(String, String)> {
    let (atomics, latencies) = (&machine.atomics, &machine.latencies);
    let cycles_of_lanes = |count: f64, lanes: f64| count * 32.0 / lanes;
    let plain = [
        ("fp32_lanes", machine.fp32_lanes),
        ("fp64_lanes", machine.fp64_lanes),
        ("int_lanes", machine.int_lanes),
        ("alu_lanes", machine.alu_lanes),
        ("special_lanes", machine.special_lanes),
        ("tensor_macs", machine.tensor_macs),
        ("shared_latency", machine.shared_latency),
        ("l1_bytes", machine.l1_bytes_per_cycle),
        ("l1_lines", machine.caches.lines_per_cycle),
        ("l1_latency", machine.l1_latency),
        ("l2_latency", machine.l2_latency),
        ("dram_latency", machine.dram_latency),
        ("shuffle_latency", latencies.shuffle),
        ("vote_latency", latencies.vote),
        (
            "reduction_cycles",
            cycles_of_lanes(latencies.reduction().int, machine.int_lanes),
        ),
        ("reduction_latency", latencies.reduction),
        ("barrier_cycles", machine.barrier.cycles),
        ("barrier_cycles_of_warp", machine.barrier.cycles_of_warp),
        ("word_ns", atomics.word_ns),
        ("float_word_ns", atomics.float_word_ns),
        ("turn_instructions", classes::INSTRUCTIONS_OF_TURN),
        ("turn_cycles", classes::turn_cycles(machine)),
        ("store_cycles", classes::cycles_between_stores(machine)),
        ("launch_ns", machine.launch_ns),
        ("block_ns", machine.block_ns),
    ];
    let figure = |name: &str, value: f64| (name.to_owned(), value.to_string());
    let mut figures: Vec<_> = plain.map(|(name, value)| figure(name, value)).into();
    let in_ns = 1.0 / atomics.sector_ns;
    figures.push(("atomics_in_ns".to_owned(), format!("{in_ns:.0}")));
    for (name, bytes_per_ns) in [
        ("l2_read", machine.l2_bytes_per_ns),
        ("l2_write", machine.l2_write_bytes_per_ns()),
        ("dram", machine.dram_bytes_per_ns),
    ] {
        let of_sm = bytes_per_ns * 1000.0 / machine.clock_mhz / f64::from(machine.sms);
        figures.push((format!("{name}_bytes"), format!("{bytes_per_ns:.0}")));
        figures.push((format!("{name}_bytes_of_sm"), format!("{of_sm:.1}")));
    }
    for (name, cost) in [
        ("division", latencies.binary(Bin::Div, Num::F32)),
        (
            "reciprocal",
            latencies.binary(Bin::DivByReciprocal, Num::F32),
        ),
        ("remainder", latencies.binary(Bin::Rem, Num::U32)),
        ("square_root", latencies.unary(Un::Sqrt, Num::F32)),
        ("exponential", latencies.unary(Un::Ex2, Num::F32)),
    ] {
        let cycles = longest(cost, machine);
        figures.push((format!("{name}_instructions"), format!("{:.0}", cost.issue)));
        figures.push((format!("{name}_cycles"), format!("{cycles:.1}")));
        figures.push((format!("{name}_latency"), format!("{:.0}", cost.latency)));
    }
    figures
}

/// Returns the cycles that an SM needs for the instructions of a function.
fn longest(cost: Cost, machine: &Machine) -> f64 {
    let cycles = |count: f64, lanes: f64| count * 32.0 / lanes;
    (cost.issue / 4.0)
        .max(cycles(cost.special, machine.special_lanes))
        .max(cycles(cost.alu, machine.alu_lanes))
        .max(cycles(cost.int, machine.int_lanes))
}
