//! Registers that steps read and write.

use super::{Address, Bin, Kernel, Num, Op, Reg, Tri, Un, VoteMode};

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
    let address = |address: &Address| address.base.map(number);
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
            let is_count = matches!(op, Un::Popc | Un::Clz | Un::Bfind | Un::BfindShift);
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
        Op::Carry {
            num,
            d,
            a,
            b,
            c,
            from,
            to,
            ..
        } => {
            reads.extend([of(num, *a), of(num, *b), of(num, *c)]);
            reads.extend(from.map(|p| predicates + p));
            writes.push(of(num, *d));
            writes.extend(to.map(|p| predicates + p));
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
        Op::Testp { num, d, a, .. } => {
            reads.push(of(num, *a));
            writes.push(predicates + d);
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
            let is_word = *mode == VoteMode::Ballot;
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
