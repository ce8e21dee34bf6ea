//! What a step costs in the pipes of an SM. The compiler of the device makes other instructions
//! of the steps than they are: moves vanish, addresses are folded, divisions become rows of
//! instructions. The counts here stand for what it usually makes.

use super::machine::Machine;
use crate::decode::{AtomicOp, Bin, Num, Op, Tri, Un};
use crate::ptx::Space;

/// What a step costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// Instructions that are issued.
    pub(crate) issue: f64,
    /// Of these, those of the pipes for multiply-adds.
    pub(crate) fma: f64,
    /// Those of the pipe for logic, shifts, comparisons and minima.
    pub(crate) alu: f64,
    /// Those of the pipe for integer products.
    pub(crate) int: f64,
    /// Additions of integers, which the compiler gives to that of the two that has room.
    pub(crate) add: f64,
    /// Those of the special unit.
    pub(crate) special: f64,
    /// Those in double precision.
    pub(crate) double: f64,
    /// Multiply-adds of the matrix units, of a whole warp, as halves.
    pub(crate) tensor: f64,
    /// Cycles until the result is there, but for loads.
    pub(crate) latency: f64,
}

/// A step that costs nothing.
pub(super) const NOTHING: Cost = Cost {
    issue: 0.0,
    fma: 0.0,
    alu: 0.0,
    int: 0.0,
    add: 0.0,
    special: 0.0,
    double: 0.0,
    tensor: 0.0,
    latency: 0.0,
};
pub(super) const SHUFFLE: Cost = Cost {
    issue: 1.0,
    latency: 24.0,
    ..NOTHING
};
pub(super) const VOTE: Cost = Cost {
    issue: 1.0,
    alu: 1.0,
    latency: 12.0,
    ..NOTHING
};
/// 16 lanes of an SM in a cycle (CUDA C++ programming guide, throughput of arithmetic
/// instructions, warp reductions).
pub(super) const REDUCE: Cost = Cost {
    issue: 1.0,
    int: 4.0,
    latency: 12.0,
    ..NOTHING
};

fn plain(issue: f64) -> Cost {
    Cost {
        issue,
        // H100, `op ffma`, `fadd` and `imad` of micro.tsv.
        latency: 4.4 * issue.max(1.0),
        ..NOTHING
    }
}

fn fma(count: f64) -> Cost {
    Cost {
        fma: count,
        ..plain(count)
    }
}

pub(super) fn alu(count: f64) -> Cost {
    Cost {
        alu: count,
        ..plain(count)
    }
}

fn add(count: f64) -> Cost {
    Cost {
        add: count,
        ..plain(count)
    }
}

fn int(count: f64) -> Cost {
    Cost {
        int: count,
        ..plain(count)
    }
}

fn special(count: f64, beside: f64) -> Cost {
    Cost {
        issue: count + beside,
        special: count,
        fma: beside,
        latency: 20.0 + 4.0 * beside,
        ..NOTHING
    }
}

fn double(count: f64) -> Cost {
    Cost {
        double: count,
        // H100, `op dfma` of micro.tsv.
        latency: 8.2,
        ..plain(count)
    }
}

/// Returns of how many words numbers are made: the device computes with integers of 32 bits.
fn words(num: Num) -> f64 {
    f64::from(num.bytes().div_ceil(4))
}

/// Returns what a step costs.
pub(crate) fn cost(op: &Op) -> Cost {
    match op {
        Op::Nop
        | Op::MovWord { .. }
        | Op::MovDouble { .. }
        | Op::MovPredicate { .. }
        | Op::Pack { .. }
        | Op::Unpack { .. }
        | Op::Load {
            space: Space::Param,
            ..
        } => Cost {
            latency: 0.0,
            ..NOTHING
        },
        // The sum, whether it goes beyond, and a choice.
        Op::Bin {
            num: Num::S32,
            saturate: true,
            ..
        } => Cost {
            alu: 2.0,
            add: 1.0,
            ..plain(3.0)
        },
        Op::Bin { op, num, .. } => binary(*op, *num),
        Op::Un { op, num, .. } => unary(*op, *num),
        Op::Tri { op, num, .. } => match (op, num) {
            (_, Num::F64) => double(1.0),
            (Tri::Mad, Num::F32 | Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => fma(1.0),
            (Tri::Mad | Tri::MadHi, num) if num.bytes() == 8 => int(4.0),
            (Tri::MadRelu, _) => fma(1.0),
            (Tri::Mad | Tri::Dp4a(..) | Tri::Dp2a(..), _) => int(1.0),
            // Each factor is cut to 24 bits first.
            (Tri::Mad24 | Tri::Mad24Hi, _) => Cost {
                alu: 2.0,
                int: 1.0,
                ..plain(3.0)
            },
            (Tri::Bfe, num) => alu(2.0 * words(*num)),
            (_, num) => alu(words(*num)),
        },
        Op::MulWide { .. } | Op::MadWide { .. } => int(1.0),
        Op::Bfi { is_double, .. } => alu(if *is_double { 4.0 } else { 2.0 }),
        Op::Cvt {
            to, from, saturate, ..
        } => match to.is_float() || from.is_float() {
            // 16 lanes of those of 64 bits, where the units for double precision have as many:
            // 2 where these have 2 (CUDA C++ programming guide, throughput of arithmetic
            // instructions).
            true if to.bytes() == 8 || from.bytes() == 8 => Cost {
                issue: 1.0,
                special: 1.0,
                double: 1.0,
                latency: 8.0,
                ..NOTHING
            },
            // 256 in 256 cycles of an SM (H100, `op i2f_then_f2i` of micro.tsv).
            true => Cost {
                issue: 1.0,
                special: 0.5,
                latency: 8.0,
                ..NOTHING
            },
            // The smaller and the larger one of two.
            false if *saturate => alu(2.0 * words(*from).max(words(*to))),
            // 64 lanes from 8 and 16 bits (CUDA C++ programming guide); a register holds the lower
            // half of what it held, and widening an index is folded into what uses it.
            false if to.bytes() == 1 || from.bytes() < to.bytes().min(4) => alu(1.0),
            false => plain(0.5),
        },
        Op::CvtPair { .. } | Op::CvtTf32 { .. } => plain(1.0),
        // The exponent, and its comparison.
        Op::Testp { num, .. } => alu(2.0 * words(*num)),
        Op::Setp { num: Num::F64, .. } => double(1.0),
        Op::Setp { num, .. } | Op::Set { num, .. } => alu(words(*num)),
        Op::SelectWord { .. } | Op::JoinPredicates { .. } => alu(1.0),
        Op::SelectDouble { .. } => alu(2.0),
        Op::Mma { shape, types, .. } | Op::WmmaMma { shape, types, .. } => {
            let [m, n, k] = shape.map(f64::from);
            // A matrix unit takes half as many of twice the width.
            let width = f64::from(types[0].bits()) / 16.0;
            Cost {
                tensor: m * n * k * width,
                // 24.5 cycles for 16 x 8 x 16 (H100, `op hmma_16816_f32` of micro.tsv).
                latency: 24.5 * (m * n * k * width / 2048.0).max(1.0),
                ..plain(1.0)
            }
        }
        Op::Shuffle { .. } => SHUFFLE,
        // Nothing is documented; a published microbenchmark has it at 0.5 of an SM in a cycle,
        // as warp reductions beside it.
        Op::Match { .. } => Cost {
            latency: SHUFFLE.latency,
            ..REDUCE
        },
        Op::Vote { .. } => VOTE,
        Op::Reduce { .. } => REDUCE,
        Op::Load { d, .. } if 1 < d.len() => plain(1.0),
        Op::Barrier { .. } => Cost {
            latency: 20.0,
            ..plain(1.0)
        },
        _ => plain(1.0),
    }
}

pub(super) fn binary(op: Bin, num: Num) -> Cost {
    match (op, num) {
        // 4.3 cycles of an SM, 58 until it is there (H100, `op fdiv` of micro.tsv).
        (Bin::Div, Num::F32) => Cost {
            latency: 58.0,
            ..special(1.0, 16.0)
        },
        (Bin::Div, Num::F64) => double(12.0),
        (Bin::Div | Bin::Rem, num) if num.bytes() == 8 => Cost {
            special: 2.0,
            ..int(60.0)
        },
        (Bin::Div | Bin::Rem, _) => Cost {
            special: 2.0,
            ..int(18.0)
        },
        (_, Num::F64) => double(1.0),
        (Bin::Min | Bin::Max | Bin::MinNan | Bin::MaxNan, Num::F32) => alu(1.0),
        (_, Num::F32 | Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => fma(1.0),
        (Bin::Mul | Bin::MulHi, num) if num.bytes() == 8 => int(4.0),
        (Bin::Mul | Bin::MulHi, _) => int(1.0),
        (Bin::Add | Bin::Sub, num) => add(words(num)),
        // A comparison and a choice.
        (Bin::Min | Bin::Max, num) if num.bytes() == 8 => alu(4.0),
        (_, num) => alu(words(num)),
    }
}

pub(super) fn unary(op: Un, num: Num) -> Cost {
    match (op, num) {
        (_, Num::F64) => double(8.0),
        (Un::Neg | Un::Abs, num) if num.is_float() => NOTHING,
        // 3 cycles of an SM, 56 until it is there (H100, `op sqrtf` of micro.tsv).
        (Un::Sqrt, _) => Cost {
            latency: 56.0,
            ..special(1.0, 11.0)
        },
        (Un::Rcp, _) => special(1.0, 6.0),
        (Un::Ex2 | Un::Lg2 | Un::Rsqrt, Num::F32) => special(1.0, 2.0),
        (Un::Sin | Un::Cos, _) => special(1.0, 1.0),
        // One for each half, and a permutation that puts them together: `MUFU.TANH.F16` twice and
        // `PRMT` in what the vendor's compiler makes of `tanh.approx.f16x2`.
        (Un::Tanh | Un::Ex2, Num::F16x2 | Num::Bf16x2) => Cost {
            issue: 3.0,
            alu: 1.0,
            ..special(2.0, 0.0)
        },
        (Un::Tanh | Un::Ex2 | Un::Lg2, _) => special(1.0, 0.0),
        (Un::Popc | Un::Clz | Un::Brev | Un::Bfind | Un::BfindShift, num) => {
            special(words(num), 0.0)
        }
        (Un::Abs, num) => alu(words(num) * words(num)),
        (_, num) => alu(words(num)),
    }
}

/// One turn of an atomic operation that shared memory does not have: a load, the operation, a
/// store that finds whether another was first (`ATOMS.CAST.SPIN`), and a branch.
pub(super) const TURN: Cost = Cost {
    issue: 4.0,
    alu: 1.0,
    latency: 13.2,
    ..NOTHING
};

/// Returns the cycles of one turn for the warp that takes it: two ways to shared memory, and what
/// is done between and behind them.
pub(super) fn turn_cycles(machine: &Machine) -> f64 {
    2.0 * machine.shared_latency + TURN.latency
}

/// Returns whether a step is an atomic operation that shared memory does not have: it has those
/// on integers of 32 bits, exchanges, and compare-and-swap.
pub(super) fn takes_turns(op: &Op) -> bool {
    match op {
        Op::Atomic { op, num, .. } => {
            !matches!(op, AtomicOp::Exch | AtomicOp::Cas) && (num.is_float() || num.bytes() == 8)
        }
        _ => false,
    }
}
