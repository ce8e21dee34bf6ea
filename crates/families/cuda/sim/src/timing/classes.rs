//! What a step costs in the pipes of an SM. The compiler of the device makes other instructions
//! of the steps than they are: moves vanish, addresses are folded, divisions become rows of
//! instructions. The counts here stand for what it usually makes.

use super::machine::Machine;
use crate::decode::{AtomicOp, Bin, Kernel, Num, Op, Reg, Tri, Un};
use crate::ptx::Space;
use std::collections::HashSet;

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
        Op::Bin { op, num, .. } => binary(*op, *num),
        Op::Un { op, num, .. } => unary(*op, *num),
        Op::Tri { op, num, .. } => match (op, num) {
            (_, Num::F64) => double(1.0),
            (Tri::Mad, Num::F32 | Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => fma(1.0),
            (Tri::Mad | Tri::MadHi, num) if num.bytes() == 8 => int(4.0),
            (Tri::Mad | Tri::Dp4a(..), _) => int(1.0),
            (Tri::Bfe, _) => alu(2.0),
            _ => alu(1.0),
        },
        Op::MulWide { .. } | Op::MadWide { .. } => int(1.0),
        Op::Bfi { .. } => alu(2.0),
        Op::Cvt { to, from, .. } => match to.is_float() || from.is_float() {
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
            // Widening an index is folded into what uses it.
            false => plain(0.5),
        },
        Op::CvtPair { .. } | Op::CvtTf32 { .. } => plain(1.0),
        Op::Setp { num: Num::F64, .. } => double(1.0),
        Op::Setp { .. }
        | Op::Set { .. }
        | Op::SelectWord { .. }
        | Op::SelectDouble { .. }
        | Op::JoinPredicates { .. } => alu(1.0),
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
        // Half of the additions of addresses are folded into what uses them.
        (Bin::Add | Bin::Sub, _) => add(1.0),
        _ => alu(1.0),
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
        (Un::Popc | Un::Clz | Un::Brev | Un::Bfind, _) => special(1.0, 0.0),
        _ => alu(1.0),
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

/// Returns of each step whether it adds the constant one to a word of shared memory atomically,
/// with no use of what it held: the vendor's compiler has an instruction that counts the threads
/// of a warp (`ATOMS.POPC.INC`).
pub(crate) fn counters(kernel: &Kernel) -> Vec<bool> {
    let ones = kernel.word_constants.iter().filter(|it| it.1 == 1);
    let mut ones: Vec<u32> = ones.map(|it| it.0).collect();
    let uses = uses(kernel);
    // Registers that hold nothing but one.
    for step in &kernel.steps {
        if let Op::MovWord { d, a } = &step.op
            && ones.contains(a)
            && uses.iter().filter(|it| it.1.contains(d)).count() == 1
        {
            ones.push(*d);
        }
    }
    let is_unused = |d: u32| !uses.iter().any(|it| it.0.contains(&d));
    kernel
        .steps
        .iter()
        .map(|step| match &step.op {
            Op::Atomic {
                op: AtomicOp::Add,
                num: Num::U32 | Num::S32,
                d,
                b,
                ..
            } => ones.contains(b) && d.is_none_or(is_unused),
            _ => false,
        })
        .collect()
}

/// Returns of each step whether it is an atomic operation and what the word held is looked at.
pub(crate) fn looks(kernel: &Kernel) -> Vec<bool> {
    let read: HashSet<u32> = uses(kernel).into_iter().flat_map(|it| it.0).collect();
    (0..kernel.steps.len())
        .map(|at| match &kernel.steps[at].op {
            Op::Atomic { d: Some(_), .. } => {
                registers(kernel, at).1.iter().any(|it| read.contains(it))
            }
            _ => false,
        })
        .collect()
}

/// Steps before a pack of halves among which the unpack may stand that makes it a plain move.
const NEAR: usize = 64;

/// Returns whether a step puts halves or bytes together that no register holds in this order.
pub(crate) fn is_shuffled(kernel: &Kernel, at: usize) -> bool {
    let Op::Pack { parts, bits, .. } = &kernel.steps[at].op else {
        return false;
    };
    if *bits / parts.len().max(1) as u32 >= 32 {
        return false;
    }
    let is_same = |op: &Op| {
        let Op::Unpack { parts: others, .. } = op else {
            return false;
        };
        let others = others.iter().copied();
        others.eq(parts.iter().map(|it| Some(*it)))
    };
    let before = &kernel.steps[at.saturating_sub(NEAR)..at];
    // What is converted, loaded or computed as halves is put together as it is made.
    let is_moved = |part: &u32| {
        before.iter().rev().find_map(|step| match &step.op {
            Op::Unpack { parts, .. } if parts.contains(&Some(*part)) => Some(true),
            Op::Cvt {
                d: Reg::Word(d), ..
            }
            | Op::MovWord { d, .. }
                if d == part =>
            {
                Some(false)
            }
            Op::Bin { d, .. } | Op::Tri { d, .. } | Op::Un { d, .. } if d == part => Some(false),
            Op::Load { d, .. } if d.contains(&Reg::Word(*part)) => Some(false),
            _ => None,
        }) == Some(true)
    };
    parts.iter().any(is_moved) && !before.iter().any(|step| is_same(&step.op))
}

/// Returns the number of a register: words come first, then doubles, then predicates.
pub(crate) fn number(kernel: &Kernel, register: Reg) -> u32 {
    match register {
        Reg::Word(it) => it,
        Reg::Double(it) => kernel.words + it,
        Reg::Predicate(it) => kernel.words + kernel.doubles + it,
    }
}

/// Returns of each step the registers that it reads and writes, as numbers.
pub(crate) fn uses(kernel: &Kernel) -> Vec<(Vec<u32>, Vec<u32>)> {
    let steps = 0..kernel.steps.len();
    steps.map(|at| registers(kernel, at)).collect()
}

/// Registers that a step reads and writes, as numbers.
pub(crate) fn registers(kernel: &Kernel, at: usize) -> (Vec<u32>, Vec<u32>) {
    let doubles = kernel.words;
    let predicates = doubles + kernel.doubles;
    let number = |register| number(kernel, register);
    let step = &kernel.steps[at];
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    if let Some((p, _)) = step.guard {
        reads.push(predicates + p);
    }
    let of = |num: &Num, register: u32| match num.bytes() {
        8 => doubles + register,
        _ => register,
    };
    let address = |address: &crate::decode::Address| address.base.map(number);
    match &step.op {
        Op::MovWord { d, a } | Op::CvtTf32 { d, a } => {
            reads.push(*a);
            writes.push(*d);
        }
        Op::MovDouble { d, a } => {
            reads.push(doubles + a);
            writes.push(doubles + d);
        }
        Op::MovPredicate { d, a } => {
            reads.push(predicates + a);
            writes.push(predicates + d);
        }
        Op::Clock { d } => writes.push(number(*d)),
        Op::Pack { d, parts, .. } => {
            reads.extend(parts.iter());
            writes.push(number(*d));
        }
        Op::Unpack { parts, a, .. } => {
            reads.push(number(*a));
            writes.extend(parts.iter().flatten());
        }
        Op::Bin {
            op, num, d, a, b, ..
        } => {
            reads.push(of(num, *a));
            reads.push(if matches!(op, Bin::Shl | Bin::Shr) {
                *b
            } else {
                of(num, *b)
            });
            writes.push(of(num, *d));
        }
        Op::Un { op, num, d, a, .. } => {
            reads.push(of(num, *a));
            let is_count = matches!(op, Un::Popc | Un::Clz | Un::Bfind);
            writes.push(if is_count { *d } else { of(num, *d) });
        }
        Op::Tri {
            op,
            num,
            d,
            a,
            b,
            c,
            ..
        } => {
            reads.push(of(num, *a));
            if *op == Tri::Bfe {
                reads.extend([*b, *c]);
            } else {
                reads.extend([of(num, *b), of(num, *c)]);
            }
            writes.push(of(num, *d));
        }
        Op::MulWide { num, d, a, b } => {
            reads.extend([*a, *b]);
            writes.push(if num.bytes() == 4 { doubles + d } else { *d });
        }
        Op::MadWide { num, d, a, b, c } => {
            let is_double = num.bytes() == 4;
            reads.extend([*a, *b, if is_double { doubles + c } else { *c }]);
            writes.push(if is_double { doubles + d } else { *d });
        }
        Op::Bfi {
            is_double,
            d,
            a,
            b,
            c,
            e,
        } => {
            let base = if *is_double { doubles } else { 0 };
            reads.extend([base + a, base + b, *c, *e]);
            writes.push(base + d);
        }
        Op::Cvt { d, a, .. } => {
            reads.push(number(*a));
            writes.push(number(*d));
        }
        Op::CvtPair { d, a, b, .. } => {
            reads.extend([*a, *b]);
            writes.push(*d);
        }
        Op::Setp {
            num,
            d,
            q,
            a,
            b,
            with,
            ..
        } => {
            reads.extend([of(num, *a), of(num, *b)]);
            reads.extend(with.map(|(_, p, _)| predicates + p));
            writes.push(predicates + d);
            writes.extend(q.map(|q| predicates + q));
        }
        Op::Set { num, d, a, b, .. } => {
            reads.extend([of(num, *a), of(num, *b)]);
            writes.push(*d);
        }
        Op::SelectWord { d, a, b, p } => {
            reads.extend([*a, *b, predicates + p]);
            writes.push(*d);
        }
        Op::SelectDouble { d, a, b, p } => {
            reads.extend([doubles + a, doubles + b, predicates + p]);
            writes.push(doubles + d);
        }
        Op::JoinPredicates { d, a, b, .. } => {
            reads.extend([predicates + a, predicates + b]);
            writes.push(predicates + d);
        }
        Op::Load {
            d, address: from, ..
        } => {
            reads.extend(address(from));
            writes.extend(d.iter().map(|it| number(*it)));
        }
        Op::Store { a, address: to, .. } => {
            reads.extend(address(to));
            reads.extend(a.iter().map(|it| number(*it)));
        }
        Op::Atomic {
            num,
            d,
            address: at,
            b,
            c,
            ..
        } => {
            reads.extend(address(at));
            reads.push(of(num, *b));
            reads.extend(c.map(|c| of(num, c)));
            writes.extend(d.map(|d| of(num, d)));
        }
        Op::CopyAsync { read, to, from, .. } => {
            reads.extend(address(to));
            reads.extend(address(from));
            reads.extend(read.iter());
        }
        Op::LoadMatrix {
            d, address: from, ..
        } => {
            reads.extend(address(from));
            writes.extend(d.iter());
        }
        Op::StoreMatrix { a, address: to, .. } => {
            reads.extend(address(to));
            reads.extend(a.iter());
        }
        Op::Mma { d, a, b, c, .. } | Op::WmmaMma { d, a, b, c, .. } => {
            reads.extend(a.iter().chain(b.iter()).chain(c.iter()));
            writes.extend(d.iter());
        }
        Op::WmmaLoad {
            d,
            address: from,
            stride,
            ..
        } => {
            reads.extend(address(from));
            reads.extend(stride.iter());
            writes.extend(d.iter());
        }
        Op::WmmaStore {
            a,
            address: to,
            stride,
            ..
        } => {
            reads.extend(address(to));
            reads.extend(stride.iter());
            reads.extend(a.iter());
        }
        Op::Shuffle {
            d,
            p,
            a,
            b,
            c,
            members,
            ..
        } => {
            reads.extend([*a, *b, *c, *members]);
            writes.push(*d);
            writes.extend(p.map(|p| predicates + p));
        }
        Op::Vote {
            mode,
            d,
            a,
            members,
            ..
        } => {
            reads.extend([predicates + a, *members]);
            let is_word = *mode == crate::decode::VoteMode::Ballot;
            writes.push(if is_word { *d } else { predicates + d });
        }
        Op::Match {
            is_double,
            d,
            p,
            a,
            members,
            ..
        } => {
            reads.extend([if *is_double { doubles + a } else { *a }, *members]);
            writes.push(*d);
            writes.extend(p.map(|p| predicates + p));
        }
        Op::Reduce { d, a, members, .. } => {
            reads.extend([*a, *members]);
            writes.push(*d);
        }
        Op::ActiveMask { d } => writes.push(*d),
        Op::ElectSync { d, p, members } => {
            reads.push(*members);
            writes.extend(d.iter());
            writes.push(predicates + p);
        }
        Op::Barrier {
            number: _,
            threads: _,
            is_arrival: _,
            reduce,
        } => {
            if let Some((_, is_count, d, a, _)) = reduce {
                reads.push(predicates + a);
                writes.push(if *is_count { *d } else { predicates + d });
            }
        }
        Op::Nop
        | Op::CopyCommit
        | Op::CopyWait { .. }
        | Op::BarrierWarp { .. }
        | Op::Fence { .. }
        | Op::Branch { .. }
        | Op::Exit
        | Op::Trap => {}
    }
    (reads, writes)
}
