//! What a machine's file says of costs by which schedules are ranked.

use serde::Deserialize;

/// Costs by which schedules are ranked: the section `[ranking]` of a machine's file. They are
/// fitted to kernels on that machine, where nothing else is said, and decide no verdict and no
/// cost of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankingCosts {
    /// Bytes that the accelerator's port takes in a cycle over long runs, of those that a beat
    /// has.
    pub port_bytes_per_cycle: f64,
    /// Cycles for a line that throws a clean one out of the L2: how long a tracker of the L2 is
    /// busy with it, over the number of trackers.
    pub clean_line_cycles: f64,
    /// The same for a line that throws out a dirty one.
    pub dirty_line_cycles: f64,
    /// Share, 0 to 1, of the lines moved in again that the L2 does not hold any more.
    pub lost_share: f64,
    /// Share, 0 to 1, of the cycles of units other than the busiest one that adds to the total:
    /// they do not overlap wholly.
    pub hindrance_share: f64,
    /// Cycles between one call of a hardware loop and the next, for convolutions and additions.
    pub call_cycles: f64,
    /// Costs of matrix products alone.
    pub products: ProductCosts,
    /// Costs of chains of small products.
    pub chains: ChainCosts,
}

/// Costs of matrix products on the hardware's loop. Factors are of the cycles of the array.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductCosts {
    /// For products whose weights serve a single row of tiles.
    pub single_row_factor: f64,
    /// For products whose weights the array transposes as it takes them.
    pub turned_factor: f64,
    /// For products whose operands share a bank.
    pub shared_bank_factor: f64,
    /// For each dimension that blocks do not divide.
    pub uneven_factor: f64,
    /// Cycles between one block of results and the next.
    pub block_cycles: f64,
    /// Cycles between one slice of depth and the next.
    pub slice_cycles: f64,
}

/// Costs of chains of small products, whose operations are sent one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainCosts {
    /// Cycles from a group's last operation to the first that takes its result, beside those
    /// that rows take through the array.
    pub result_cycles: i64,
    /// Operations between the last one of a group and one that takes its result with others':
    /// the array waits only for results that begin where an operand begins.
    pub operations_apart: usize,
    /// The same, if the array has waited for that result, or a later one, in between.
    pub operations_apart_settled: usize,
    /// Cycles until the first move has come in.
    pub first_load_cycles: i64,
    /// Cycles of each further move, beside one for each of its rows.
    pub load_cycles: i64,
    /// Rows that a move takes as long as at least.
    pub least_load_rows: i64,
    /// Cycles from the array's last result to the end of the kernel.
    pub last_store_cycles: i64,
}
