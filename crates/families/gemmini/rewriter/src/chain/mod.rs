//! Chains of small products, as the core and the array compute them together,
//! written anew so that everything stays in the scratchpad.
//!
//! What a kernel computes is a graph of matrices. Each step changes it into one
//! that computes the same: matrices multiplied with each other first, terms
//! beside the chain split off, vectors batched, operands transposed once. Then
//! it is laid out in tiles, put into an order, and given rows of the scratchpad.

mod batch;
mod code;
mod likeness;
mod lower;
mod order;
mod place;
mod split;
mod substitute;
mod tiles;
mod transpose;
mod write;

use crate::costs::ChainCosts;
use crate::graph::{Chain, Graph};
use crate::limits::HardwareLimits;
use crate::schedule::Schedule;
use autocomp_gemmini::{Dataflows, GemminiConfig};
use lower::Lowering;
use order::{Taste, order};
use place::Banks;
use tiles::Lowered;
use write::{Pace, Text};

/// Steps of a chain that are taken at once, at most.
const STRIDES: usize = 3;
/// How much worse each further order of a graph is taken to be, so that others
/// are tried before all of its orders.
const RANK: f64 = 0.012;
/// Operations of the array that a kernel's text may hold.
const OPERATION_LIMIT: usize = 1500;

/// How a chain is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    /// Vectors lie in rows, not in columns.
    in_rows: bool,
    /// Matrices that follow each other are multiplied first.
    bypasses: bool,
    /// Steps of the chain that are taken at once.
    stride: usize,
    /// Terms beside the chain are values of their own.
    splits: bool,
    /// Vectors that are taken side by side.
    batch: usize,
    /// The first of them stays by itself.
    peels: bool,
    taste: Taste,
    pace: Pace,
}

impl Choice {
    fn parameters(&self) -> Vec<i64> {
        vec![
            self.in_rows.into(),
            self.bypasses.into(),
            self.stride as i64,
            self.splits.into(),
            self.batch as i64,
            self.peels.into(),
            self.taste.slack,
            self.taste.late.into(),
            self.pace.ahead as i64,
            self.pace.behind as i64,
            self.pace.merges.into(),
        ]
    }

    fn of(parameters: &[i64], dim: i64) -> Option<Self> {
        let [
            in_rows,
            bypasses,
            stride,
            splits,
            batch,
            peels,
            slack,
            late,
            ahead,
            behind,
            merges,
        ] = *parameters.first_chunk::<11>()?;
        let is_right = parameters.len() == 11
            && (1..=16).contains(&stride)
            && (1..=dim).contains(&batch)
            && (0..=64).contains(&slack)
            && (0..=1000).contains(&ahead)
            && (0..=1000).contains(&behind);
        is_right.then_some(Self {
            in_rows: in_rows != 0,
            bypasses: bypasses != 0,
            stride: stride as usize,
            splits: splits != 0,
            batch: batch as usize,
            peels: peels != 0,
            taste: Taste {
                slack,
                late: late != 0,
            },
            pace: Pace {
                ahead: ahead as usize,
                behind: behind as usize,
                merges: merges != 0,
            },
        })
    }

    fn text(&self) -> String {
        let mut text = "Keep all vectors and matrices in the scratchpad; the array adds up \
                        each sum in place"
            .to_owned();
        if self.in_rows {
            text.push_str(", vectors as rows");
        }
        text.push('.');
        if self.bypasses {
            text.push_str(" Matrices that follow each other are multiplied first.");
        }
        if 1 < self.stride {
            text.push_str(&format!(
                " Each vector of the chain follows from the one {} before it.",
                self.stride
            ));
        }
        if self.splits {
            text.push_str(" Terms beside the chain are computed ahead.");
        }
        if 1 < self.batch {
            text.push_str(&format!(
                " Up to {} vectors are taken side by side.",
                self.batch
            ));
        }
        text.push_str(&format!(
            " Moves in are issued {} sums ahead, moves out {} behind.",
            self.pace.ahead, self.pace.behind
        ));
        text
    }
}

/// Returns the graph that a choice leads to.
fn graph(chain: &Chain, choice: &Choice) -> Graph {
    let mut graph = chain.graph.clone();
    if choice.bypasses {
        graph = substitute::bypass(&graph);
    }
    if choice.splits {
        graph = split::split(&graph);
    }
    if 1 < choice.stride {
        graph = substitute::stride(&graph, choice.stride);
        if choice.splits {
            graph = split::split(&graph);
        }
    }
    if 1 < choice.batch {
        graph = batch::batch(&graph, choice.batch, choice.peels);
    }
    transpose::transpose(&graph, choice.in_rows)
}

fn lowered(chain: &Chain, choice: &Choice, config: &GemminiConfig) -> Option<(Graph, Lowered)> {
    let graph = graph(chain, choice);
    let dim = i64::from(config.dim);
    let widest = dim * i64::from(config.max_block_len());
    let lowered = Lowering::of(&graph, dim, widest, choice.in_rows)?;
    let operations: usize = lowered.groups.iter().map(|group| group.steps.len()).sum();
    (operations <= OPERATION_LIMIT).then_some((graph, lowered))
}

fn is_possible(config: &GemminiConfig) -> bool {
    config.dataflows == Dataflows::Both && config.features.ex_write_to_spad
}

/// Returns schedules of a chain, the most promising first.
pub fn schedules(chain: &Chain, limits: &HardwareLimits) -> Vec<Schedule> {
    let config = &limits.accelerator;
    if !is_possible(config) {
        return Vec::new();
    }
    let dim = i64::from(config.dim);
    let mut schedules = Vec::new();
    let mut seen: Vec<(Graph, bool)> = Vec::new();
    for choice in graphs(dim) {
        let Some((graph, lowered)) = lowered(chain, &choice, config) else {
            continue;
        };
        if seen.contains(&(graph.clone(), choice.in_rows)) {
            continue;
        }
        seen.push((graph, choice.in_rows));
        let costs = &limits.costs.ranking.chains;
        schedules.extend(orders(&lowered, &choice, (dim, costs)));
    }
    schedules.sort_by(|a, b| a.cycles.total_cmp(&b.cycles));
    schedules
}

/// Returns all choices that lead to different graphs, with any order.
fn graphs(dim: i64) -> Vec<Choice> {
    let mut found = Vec::new();
    let batches = [(1, false), (dim, false), (dim, true)];
    for in_rows in [false, true] {
        for bypasses in [false, true] {
            for stride in 1..=STRIDES {
                for splits in [false, true] {
                    for (batch, peels) in batches {
                        // Vectors in columns cannot lie side by side.
                        if !in_rows && 1 < batch {
                            continue;
                        }
                        found.push(Choice {
                            in_rows,
                            bypasses,
                            stride,
                            splits,
                            batch: batch as usize,
                            peels,
                            taste: Taste {
                                slack: 0,
                                late: false,
                            },
                            pace: Pace {
                                ahead: 0,
                                behind: 0,
                                merges: true,
                            },
                        });
                    }
                }
            }
        }
    }
    found
}

/// Returns schedules of one graph: the model knows too little of moves to tell
/// their paces apart, so others have a chance as well.
fn orders(lowered: &Lowered, choice: &Choice, machine: (i64, &ChainCosts)) -> Vec<Schedule> {
    let mut tastes: Vec<(i64, Taste)> = Vec::new();
    for slack in [0, 4, 12] {
        for late in [false, true] {
            let taste = Taste { slack, late };
            if let Some(order) = order(lowered, machine, taste) {
                tastes.push((order.cycles, taste));
            }
        }
    }
    tastes.sort_by_key(|(cycles, _)| *cycles);
    let mut paces = Vec::new();
    for behind in [3, 6] {
        for ahead in [4, 8, 2, 1, 16] {
            for merges in [true, false] {
                paces.push(Pace {
                    ahead,
                    behind,
                    merges,
                });
            }
        }
    }
    let mut found = Vec::new();
    for (place, (cycles, taste)) in tastes.iter().enumerate() {
        for (rank, pace) in paces.iter().enumerate() {
            let choice = Choice {
                taste: *taste,
                pace: *pace,
                ..*choice
            };
            found.push(Schedule {
                parameters: choice.parameters(),
                cycles: *cycles as f64 * (1.0 + RANK * (place + rank) as f64),
                text: choice.text(),
            });
        }
    }
    found
}

/// Writes a kernel with a schedule; `None` if the schedule is not for it.
pub fn write(chain: &Chain, parameters: &[i64], limits: &HardwareLimits) -> Option<String> {
    let config = &limits.accelerator;
    let dim = i64::from(config.dim);
    let choice = Choice::of(parameters, dim).filter(|_| is_possible(config))?;
    let (graph, lowered) = lowered(chain, &choice, config)?;
    let costs = &limits.costs.ranking.chains;
    let order = order(&lowered, (dim, costs), choice.taste)?;
    let text = Text {
        chain,
        graph: &graph,
        lowered: &lowered,
        order: &order,
        dim,
    };
    let banks = Banks {
        dim,
        count: config.spad_banks.into(),
        rows: config.spad_bank_rows().into(),
    };
    text.write(banks, choice.pace, &choice.text())
}
