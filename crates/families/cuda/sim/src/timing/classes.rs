//! What a step costs in the pipes of an SM. The compiler of the device makes other instructions
//! of the steps than they are: moves vanish, addresses are folded, divisions become rows of
//! instructions. The counts here stand for what it usually makes.

use super::machine::Machine;
use super::tables::Latencies;
use crate::decode::{AtomicOp, Bin, CarryOp, Num, Op, Tri, Un};
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
/// Instructions of a turn of an atomic operation that shared memory does not have: a load, the
/// operation, a store that finds whether another was first (`ATOMS.CAST.SPIN`), and a branch.
pub(super) const INSTRUCTIONS_OF_TURN: f64 = 4.0;

/// Returns of how many words numbers are made: the device computes with integers of 32 bits.
fn words(num: Num) -> f64 {
    f64::from(num.bytes().div_ceil(4))
}

impl Latencies {
    pub(super) fn shuffle(&self) -> Cost {
        Cost {
            issue: 1.0,
            latency: self.shuffle,
            ..NOTHING
        }
    }

    pub(super) fn vote(&self) -> Cost {
        Cost {
            issue: 1.0,
            alu: 1.0,
            latency: self.vote,
            ..NOTHING
        }
    }

    /// 16 lanes of an SM in a cycle (CUDA C++ programming guide, throughput of arithmetic
    /// instructions, warp reductions).
    pub(super) fn reduction(&self) -> Cost {
        Cost {
            issue: 1.0,
            int: 4.0,
            latency: self.reduction,
            ..NOTHING
        }
    }

    /// One turn of an atomic operation that shared memory does not have.
    pub(super) fn turn(&self) -> Cost {
        Cost {
            issue: INSTRUCTIONS_OF_TURN,
            alu: 1.0,
            latency: self.turn,
            ..NOTHING
        }
    }

    fn plain(&self, issue: f64) -> Cost {
        Cost {
            issue,
            latency: self.plain * issue.max(1.0),
            ..NOTHING
        }
    }

    fn fma(&self, count: f64) -> Cost {
        Cost {
            fma: count,
            ..self.plain(count)
        }
    }

    pub(super) fn alu(&self, count: f64) -> Cost {
        Cost {
            alu: count,
            ..self.plain(count)
        }
    }

    fn add(&self, count: f64) -> Cost {
        Cost {
            add: count,
            ..self.plain(count)
        }
    }

    fn int(&self, count: f64) -> Cost {
        Cost {
            int: count,
            ..self.plain(count)
        }
    }

    fn special(&self, count: f64, beside: f64) -> Cost {
        Cost {
            issue: count + beside,
            special: count,
            fma: beside,
            latency: self.special + self.beside_special * beside,
            ..NOTHING
        }
    }

    fn double(&self, count: f64) -> Cost {
        Cost {
            double: count,
            latency: self.double,
            ..self.plain(count)
        }
    }

    /// Returns what a step costs.
    pub(crate) fn cost(&self, op: &Op) -> Cost {
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
                ..self.plain(3.0)
            },
            // As without a carry, for each word (`IADD3.X`, `IMAD` with a carry).
            Op::Carry { op, num, .. } => match op {
                CarryOp::Add | CarryOp::Sub => self.add(words(*num)),
                // A product, and a sum that takes and leaves a carry.
                CarryOp::MadLow | CarryOp::MadHigh => Cost {
                    int: words(*num) * words(*num),
                    add: words(*num),
                    ..self.plain(words(*num) * words(*num) + words(*num))
                },
            },
            Op::Bin {
                op: Bin::DivByReciprocal,
                flush: true,
                ..
            } => self.special(1.0, 1.0),
            Op::Bin { op, num, .. } => self.binary(*op, *num),
            // Where subnormals count as zeros, nothing stands beside `MUFU`.
            Op::Un {
                op: Un::Ex2 | Un::Lg2 | Un::Rsqrt,
                num: Num::F32,
                flush: true,
                ..
            } => self.special(1.0, 0.0),
            Op::Un { op, num, .. } => self.unary(*op, *num),
            Op::Tri { op, num, .. } => match (op, num) {
                (_, Num::F64) => self.double(1.0),
                (Tri::Mad, Num::F32 | Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => {
                    self.fma(1.0)
                }
                (Tri::Mad | Tri::MadHi, num) if num.bytes() == 8 => self.int(4.0),
                (Tri::MadRelu, _) => self.fma(1.0),
                (Tri::Mad | Tri::Dp4a(..) | Tri::Dp2a(..), _) => self.int(1.0),
                // Each factor is cut to 24 bits first.
                (Tri::Mad24 | Tri::Mad24Hi, _) => Cost {
                    alu: 2.0,
                    int: 1.0,
                    ..self.plain(3.0)
                },
                (Tri::Bfe, num) => self.alu(2.0 * words(*num)),
                (_, num) => self.alu(words(*num)),
            },
            Op::MulWide { .. } | Op::MadWide { .. } => self.int(1.0),
            Op::Bfi { is_double, .. } => self.alu(if *is_double { 4.0 } else { 2.0 }),
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
                    latency: self.conversion,
                    ..NOTHING
                },
                // 256 in 256 cycles of an SM (H100, `op i2f_then_f2i` of micro.tsv).
                true => Cost {
                    issue: 1.0,
                    special: 0.5,
                    latency: self.conversion,
                    ..NOTHING
                },
                // The smaller and the larger one of two.
                false if *saturate => self.alu(2.0 * words(*from).max(words(*to))),
                // 64 lanes from 8 and 16 bits (CUDA C++ programming guide); a register holds the lower
                // half of what it held, and widening an index is folded into what uses it.
                false if to.bytes() == 1 || from.bytes() < to.bytes().min(4) => self.alu(1.0),
                false => self.plain(0.5),
            },
            Op::CvtPair { .. } | Op::CvtTf32 { .. } => self.plain(1.0),
            // The exponent, and its comparison.
            Op::Testp { num, .. } => self.alu(2.0 * words(*num)),
            Op::Setp { num: Num::F64, .. } => self.double(1.0),
            Op::Setp { num, .. } | Op::Set { num, .. } => self.alu(words(*num)),
            Op::SelectWord { .. } | Op::JoinPredicates { .. } => self.alu(1.0),
            Op::SelectDouble { .. } => self.alu(2.0),
            Op::Mma { shape, types, .. } | Op::WmmaMma { shape, types, .. } => {
                let [m, n, k] = shape.map(f64::from);
                // A matrix unit takes half as many of twice the width.
                let width = f64::from(types[0].bits()) / 16.0;
                Cost {
                    tensor: m * n * k * width,
                    latency: self.matrix * (m * n * k * width / 2048.0).max(1.0),
                    ..self.plain(1.0)
                }
            }
            Op::Shuffle { .. } => self.shuffle(),
            // Nothing is documented; a published microbenchmark has it at 0.5 of an SM in a cycle,
            // as warp reductions beside it.
            Op::Match { .. } => Cost {
                latency: self.shuffle,
                ..self.reduction()
            },
            Op::Vote { .. } => self.vote(),
            Op::Reduce { .. } => self.reduction(),
            Op::Load { d, .. } if 1 < d.len() => self.plain(1.0),
            Op::Barrier { .. } => Cost {
                latency: self.barrier,
                ..self.plain(1.0)
            },
            _ => self.plain(1.0),
        }
    }

    pub(super) fn binary(&self, op: Bin, num: Num) -> Cost {
        match (op, num) {
            // 4.3 cycles of an SM (H100, `op fdiv` of micro.tsv).
            (Bin::Div, Num::F32) => Cost {
                latency: self.division,
                ..self.special(1.0, 16.0)
            },
            // `MUFU.RCP` and a product; a subnormal divisor is found, and scaled before and behind.
            (Bin::DivByReciprocal, _) => self.special(1.0, 4.0),
            (Bin::Div, Num::F64) => self.double(12.0),
            (Bin::Div | Bin::Rem, num) if num.bytes() == 8 => Cost {
                special: 2.0,
                ..self.int(60.0)
            },
            (Bin::Div | Bin::Rem, _) => Cost {
                special: 2.0,
                ..self.int(18.0)
            },
            (_, Num::F64) => self.double(1.0),
            (Bin::Min | Bin::Max | Bin::MinNan | Bin::MaxNan, Num::F32) => self.alu(1.0),
            (_, Num::F32 | Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => self.fma(1.0),
            (Bin::Mul | Bin::MulHi, num) if num.bytes() == 8 => self.int(4.0),
            (Bin::Mul | Bin::MulHi, _) => self.int(1.0),
            (Bin::Add | Bin::Sub, num) => self.add(words(num)),
            // A comparison and a choice.
            (Bin::Min | Bin::Max, num) if num.bytes() == 8 => self.alu(4.0),
            (_, num) => self.alu(words(num)),
        }
    }

    pub(super) fn unary(&self, op: Un, num: Num) -> Cost {
        match (op, num) {
            (_, Num::F64) => self.double(8.0),
            (Un::Neg | Un::Abs, num) if num.is_float() => NOTHING,
            // 3 cycles of an SM (H100, `op sqrtf` of micro.tsv).
            (Un::Sqrt, _) => Cost {
                latency: self.square_root,
                ..self.special(1.0, 11.0)
            },
            (Un::Rcp, _) => self.special(1.0, 6.0),
            (Un::Ex2 | Un::Lg2 | Un::Rsqrt, Num::F32) => self.special(1.0, 2.0),
            (Un::Sin | Un::Cos, _) => self.special(1.0, 1.0),
            // One for each half, and a permutation that puts them together: `MUFU.TANH.F16` twice and
            // `PRMT` in what the vendor's compiler makes of `tanh.approx.f16x2`.
            (Un::Tanh | Un::Ex2, Num::F16x2 | Num::Bf16x2) => Cost {
                issue: 3.0,
                alu: 1.0,
                ..self.special(2.0, 0.0)
            },
            (Un::Tanh | Un::Ex2 | Un::Lg2, _) => self.special(1.0, 0.0),
            (Un::Popc | Un::Clz | Un::Brev | Un::Bfind | Un::BfindShift, num) => {
                self.special(words(num), 0.0)
            }
            (Un::Abs, num) => self.alu(words(num) * words(num)),
            (_, num) => self.alu(words(num)),
        }
    }
}

/// Returns the cycles of one turn for the warp that takes it: two ways to shared memory, and what
/// is done between and behind them.
pub(super) fn turn_cycles(machine: &Machine) -> f64 {
    2.0 * machine.shared_latency + machine.latencies.turn
}

/// Returns the cycles between two stores to one word that succeed, of all warps that try: each
/// has loaded the word after the store before, and computed.
pub(super) fn cycles_between_stores(machine: &Machine) -> f64 {
    machine.shared_latency + machine.latencies.turn
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
