//! What things cost by this model, to be told to who writes kernels.

use super::classes::{self, Cost};
use super::machine::Machine;
use crate::decode::{Bin, Num, Un};

/// Returns what things cost on a machine: what, and how much.
#[must_use]
pub fn rates(machine: &Machine) -> Vec<[String; 2]> {
    let cycles_of_lanes = |count: f64, lanes: f64| count * 32.0 / lanes;
    let in_cycle = |bytes_per_ns: f64| {
        let of_sm = bytes_per_ns * 1000.0 / machine.clock_mhz / f64::from(machine.sms);
        format!("{bytes_per_ns:.0} bytes in a ns for all SMs, {of_sm:.1} in a cycle for each")
    };
    let (caches, atomics, latencies) = (&machine.caches, &machine.atomics, &machine.latencies);
    let function = |cost: Cost| {
        let longest = (cost.issue / 4.0)
            .max(cycles_of_lanes(cost.special, machine.special_lanes))
            .max(cycles_of_lanes(cost.alu, machine.alu_lanes))
            .max(cycles_of_lanes(cost.int, machine.int_lanes));
        format!(
            "{:.0} instructions, {longest:.1} cycles of the SM, there after {:.0}",
            cost.issue, cost.latency
        )
    };
    let row = |what: &str, much: String| [what.to_owned(), much];
    vec![
        row(
            "instructions of a warp",
            "4 in a cycle, one for each partition".to_owned(),
        ),
        row(
            "lanes in a cycle",
            format!(
                "{} multiply-adds in single precision, {} in double, {} integer products, {} integer additions, comparisons, minima, shifts and operations of logic, {} special functions and conversions",
                machine.fp32_lanes,
                machine.fp64_lanes,
                machine.int_lanes,
                machine.alu_lanes,
                machine.special_lanes
            ),
        ),
        row(
            "matrix units",
            format!("{} multiply-adds of halves in a cycle", machine.tensor_macs),
        ),
        row(
            "shared memory",
            format!(
                "128 bytes in a cycle, there after {} cycles",
                machine.shared_latency
            ),
        ),
        row(
            "L1",
            format!(
                "{} bytes and {} lines of 128 bytes in a cycle, with the banks of shared memory; there after {} cycles",
                machine.l1_bytes_per_cycle, caches.lines_per_cycle, machine.l1_latency
            ),
        ),
        row(
            "L2, reads",
            format!(
                "{}; there after {} cycles; a single sector takes the time of two",
                in_cycle(machine.l2_bytes_per_ns),
                machine.l2_latency
            ),
        ),
        row(
            "L2, writes",
            format!(
                "{}; a sector that is written in part takes the time of two",
                in_cycle(machine.l2_write_bytes_per_ns())
            ),
        ),
        row(
            "memory",
            format!(
                "{}; there after {} cycles",
                in_cycle(machine.dram_bytes_per_ns),
                machine.dram_latency
            ),
        ),
        row(
            "shuffle",
            format!(
                "1 instruction and 1 cycle of shared memory, there after {} cycles",
                latencies.shuffle
            ),
        ),
        row(
            "vote",
            format!("1 instruction, there after {} cycles", latencies.vote),
        ),
        row(
            "`__reduce_add_sync` and the like",
            format!(
                "{} cycles of the SM, there after {}",
                cycles_of_lanes(latencies.reduction().int, machine.int_lanes),
                latencies.reduction
            ),
        ),
        row(
            "`__syncthreads()`",
            format!(
                "{} cycles and {} for each warp of the block, after the last of them has come",
                machine.barrier.cycles, machine.barrier.cycles_of_warp
            ),
        ),
        row(
            "`__threadfence()`",
            format!("{} cycles of waiting", machine.l2_latency),
        ),
        row(
            "atomic operations on global memory",
            format!(
                "{:.0} in a ns on words far apart; {} ns each on words of one line, {} ns each if they add floats",
                1.0 / atomics.sector_ns,
                atomics.word_ns,
                atomics.float_word_ns
            ),
        ),
        row(
            "atomic operations on shared memory",
            format!(
                "integers of 32 bits a cycle for each thread that shares a word; floats and 64 bits in turns, one thread of each word in each, {} instructions and {} cycles of waiting a turn",
                classes::INSTRUCTIONS_OF_TURN,
                classes::turn_cycles(machine)
            ),
        ),
        row(
            "division of floats",
            function(latencies.binary(Bin::Div, Num::F32)),
        ),
        row(
            "`/` and `%` of 32-bit integers by what is no constant",
            function(latencies.binary(Bin::Rem, Num::U32)),
        ),
        row("`sqrtf`", function(latencies.unary(Un::Sqrt, Num::F32))),
        row(
            "`__expf`, `exp2f`, `__logf`, `rsqrtf`",
            function(latencies.unary(Un::Ex2, Num::F32)),
        ),
        row(
            "a launch",
            format!("{} ns however little it does", machine.launch_ns),
        ),
        row(
            "a block",
            format!(
                "{} ns from one to the next, all SMs together",
                machine.block_ns
            ),
        ),
    ]
}
