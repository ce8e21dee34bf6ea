//! One step of some threads of a warp.

use super::access::Failed;
use super::alu::{self, put};
use super::block::Block;
use super::collectives;
use super::convert::{self, Conversion};
use super::findings::Fault;
use super::matrix;
use super::observer::Witness;
use super::warp::{ALL, Group, Waits, Warp};
use crate::decode::{Junction, Num, Op, Part, Reg, VoteMode};
use crate::half_floats::tf32_from_f32;

/// Whether threads that meet are all there.
enum Meeting {
    /// They are, and go on.
    Complete,
    /// They wait for others.
    Waits,
}

fn join_masks(op: Junction, a: u32, b: u32) -> u32 {
    match op {
        Junction::And => a & b,
        Junction::Or => a | b,
        Junction::Xor => a ^ b,
    }
}

fn blend(into: &mut u32, value: u32, lanes: u32) {
    *into = *into & !lanes | value & lanes;
}

/// Returns the number of the first thread of a mask.
fn first(lanes: u32) -> u32 {
    lanes.trailing_zeros().min(31)
}

impl<O: Witness> Block<'_, O> {
    /// Lets the group number `idx` of a warp take its next step.
    #[inline(always)]
    pub(crate) fn step(&mut self, warp: &mut Warp, idx: usize) -> Result<(), Failed> {
        let group = warp.groups[idx];
        let kernel = self.kernel;
        let step = &kernel.steps[group.at as usize];
        let lanes = match step.guard {
            None => group.lanes,
            Some((p, not)) => {
                let truth = warp.predicates[p as usize];
                group.lanes & if not { !truth } else { truth }
            }
        };
        if O::IS_WATCHING {
            self.observer.step(warp.number, group.at, lanes);
        }
        match &step.op {
            Op::Branch { target } => {
                branch(warp, idx, *target, lanes);
                return Ok(());
            }
            Op::Exit => {
                exit(warp, idx, lanes);
                return Ok(());
            }
            _ => {}
        }
        if lanes != 0 {
            let goes_on = self.operation(warp, idx, &step.op, lanes, step.line.0)?;
            if !goes_on {
                return Ok(());
            }
        }
        let group = &mut warp.groups[idx];
        group.at += 1;
        if 1 < warp.groups.len() {
            warp.groups[idx].alone += 1;
            warp.join(idx);
        }
        Ok(())
    }

    /// Lets threads meet: those that `members` names. Threads that are not all there wait.
    fn meet(
        &self,
        warp: &mut Warp,
        idx: usize,
        members: u32,
        lanes: u32,
    ) -> Result<Meeting, Failed> {
        let values = warp.words[members as usize];
        let group = warp.groups[idx];
        let named = values[first(lanes) as usize];
        for lane in 0..32 {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            let members = values[lane as usize];
            if members >> lane & 1 == 0 {
                return Err((Fault::NotNamed { members }, lane));
            }
        }
        // Threads that name others meet apart.
        let mut same = 0;
        for lane in 0..32 {
            same |= u32::from(lanes >> lane & 1 != 0 && values[lane as usize] == named) << lane;
        }
        if same != group.lanes {
            warp.groups[idx].lanes &= !same;
            warp.groups.push(Group {
                lanes: same,
                ..group
            });
            return Ok(Meeting::Waits);
        }
        let wanted = named & warp.live;
        if wanted == lanes {
            warp.meetings += 1;
            return Ok(Meeting::Complete);
        }
        let is_same_step =
            |it: &Group| it.at == group.at && it.waits == Waits::Warp && it.lanes & wanted != 0;
        let others = warp.groups.iter().filter(|it| is_same_step(it));
        let present = others.fold(lanes, |sum, it| sum | it.lanes);
        if present & wanted != wanted {
            let is_alone = warp
                .groups
                .iter()
                .enumerate()
                .all(|(other, it)| other == idx || it.waits != Waits::No);
            if is_alone {
                let missing = wanted & !present;
                return Err((
                    Fault::MissingThreads {
                        members: named,
                        missing,
                    },
                    first(lanes),
                ));
            }
            warp.groups[idx].waits = Waits::Warp;
            return Ok(Meeting::Waits);
        }
        // All are there: they become one group, which takes the step again.
        let mut merged = group;
        merged.lanes = lanes;
        let mut rest = Vec::new();
        for (other, it) in warp.groups.iter().enumerate() {
            if other == idx {
                continue;
            }
            if is_same_step(it) {
                merged.lanes |= it.lanes;
            } else {
                rest.push(*it);
            }
        }
        merged.waits = Waits::No;
        rest.push(merged);
        warp.groups = rest;
        Ok(Meeting::Waits)
    }

    /// Does what a step does and returns whether the threads go on to the next one.
    #[inline(always)]
    fn operation(
        &mut self,
        warp: &mut Warp,
        idx: usize,
        op: &Op,
        lanes: u32,
        line: u32,
    ) -> Result<bool, Failed> {
        macro_rules! meeting {
            ($members:expr) => {
                match self.meet(warp, idx, $members, lanes)? {
                    Meeting::Complete => {}
                    Meeting::Waits => return Ok(false),
                }
            };
        }
        match op {
            Op::Nop => {}
            Op::MovWord { d, a } => {
                let value = warp.words[*a as usize];
                put(&mut warp.words[*d as usize], value, lanes);
            }
            Op::MovDouble { d, a } => {
                let value = warp.doubles[*a as usize];
                put(&mut warp.doubles[*d as usize], value, lanes);
            }
            Op::MovPredicate { d, a } => {
                let value = warp.predicates[*a as usize];
                blend(&mut warp.predicates[*d as usize], value, lanes);
            }
            Op::Clock { d } => match d {
                Reg::Word(d) => put(&mut warp.words[*d as usize], [self.time as u32; 32], lanes),
                Reg::Double(d) => put(&mut warp.doubles[*d as usize], [self.time; 32], lanes),
                Reg::Predicate(_) => {}
            },
            Op::Pack { d, parts, bits } => pack(warp, *d, parts, *bits, lanes),
            Op::Unpack { parts, a, bits } => unpack(warp, parts, *a, *bits, lanes),
            Op::Bin {
                op,
                num,
                d,
                a,
                b,
                saturate,
                flush,
            } => {
                alu::binary(warp, (*op, *num), (*d, *a, *b), (*saturate, *flush), lanes);
            }
            Op::Un {
                op,
                num,
                d,
                a,
                flush,
            } => alu::unary(warp, (*op, *num), (*d, *a), *flush, lanes),
            Op::Tri {
                op,
                num,
                d,
                a,
                b,
                c,
                saturate,
                flush,
            } => {
                alu::ternary(
                    warp,
                    (*op, *num),
                    (*d, *a, *b, *c),
                    (*saturate, *flush),
                    lanes,
                );
            }
            Op::MulWide { num, d, a, b } => wide(warp, *num, (*d, *a, *b, None), lanes),
            Op::MadWide { num, d, a, b, c } => wide(warp, *num, (*d, *a, *b, Some(*c)), lanes),
            Op::Bfi {
                is_double,
                d,
                a,
                b,
                c,
                e,
            } => {
                let (at, length) = (warp.words[*c as usize], warp.words[*e as usize]);
                if *is_double {
                    let (x, y) = (warp.doubles[*a as usize], warp.doubles[*b as usize]);
                    let result = std::array::from_fn(|it| {
                        alu::inserted(x[it], y[it], at[it], length[it], 64)
                    });
                    put(&mut warp.doubles[*d as usize], result, lanes);
                } else {
                    let (x, y) = (warp.words[*a as usize], warp.words[*b as usize]);
                    let result = std::array::from_fn(|it| {
                        alu::inserted(x[it].into(), y[it].into(), at[it], length[it], 32) as u32
                    });
                    put(&mut warp.words[*d as usize], result, lanes);
                }
            }
            Op::Cvt {
                to,
                from,
                rounding,
                to_integral,
                saturate,
                relu,
                flush,
                d,
                a,
            } => {
                let how = Conversion {
                    to: *to,
                    from: *from,
                    rounding: *rounding,
                    to_integral: *to_integral,
                    saturate: *saturate,
                    relu: *relu,
                    flush: *flush,
                };
                convert::convert(warp, how, *d, *a, lanes);
            }
            Op::CvtPair { to, relu, d, a, b } => {
                convert::convert_pair(warp, *to, *relu, (*d, *a, *b), lanes)
            }
            Op::CvtTf32 { d, a } => {
                let result = warp.words[*a as usize].map(tf32_from_f32);
                put(&mut warp.words[*d as usize], result, lanes);
            }
            Op::Setp {
                cmp,
                num,
                d,
                q,
                a,
                b,
                with,
                flush,
            } => {
                let truth = alu::compare(warp, *cmp, *num, *a, *b, *flush);
                let (mut yes, mut no) = (truth, !truth);
                if let Some((op, p, not)) = with {
                    let other = warp.predicates[*p as usize];
                    let other = if *not { !other } else { other };
                    yes = join_masks(*op, truth, other);
                    no = join_masks(*op, !truth, other);
                }
                if let Some(q) = q {
                    blend(&mut warp.predicates[*q as usize], no, lanes);
                }
                blend(&mut warp.predicates[*d as usize], yes, lanes);
            }
            Op::Set {
                cmp,
                num,
                to_float,
                d,
                a,
                b,
                flush,
            } => {
                let truth = alu::compare(warp, *cmp, *num, *a, *b, *flush);
                let yes = if *to_float {
                    1.0_f32.to_bits()
                } else {
                    u32::MAX
                };
                let result = std::array::from_fn(|it| if truth >> it & 1 != 0 { yes } else { 0 });
                put(&mut warp.words[*d as usize], result, lanes);
            }
            Op::SelectWord { d, a, b, p } => {
                let truth = warp.predicates[*p as usize];
                let mut result = warp.words[*b as usize];
                put(&mut result, warp.words[*a as usize], truth);
                put(&mut warp.words[*d as usize], result, lanes);
            }
            Op::SelectDouble { d, a, b, p } => {
                let truth = warp.predicates[*p as usize];
                let mut result = warp.doubles[*b as usize];
                put(&mut result, warp.doubles[*a as usize], truth);
                put(&mut warp.doubles[*d as usize], result, lanes);
            }
            Op::JoinPredicates { op, d, a, b, not } => {
                let turned = |value: u32, not: bool| if not { !value } else { value };
                let (a, b) = (warp.predicates[*a as usize], warp.predicates[*b as usize]);
                let result = join_masks(*op, turned(a, not[0]), turned(b, not[1]));
                blend(&mut warp.predicates[*d as usize], result, lanes);
            }
            Op::Load {
                space,
                bytes,
                signed,
                d,
                address,
                no_l1,
            } => {
                self.load(warp, (*space, *bytes, *signed), d, *address, *no_l1, lanes)?;
            }
            Op::Store {
                space,
                bytes,
                a,
                address,
            } => self.store(warp, (*space, *bytes), a, *address, lanes)?,
            Op::Atomic {
                op,
                num,
                space,
                d,
                address,
                b,
                c,
            } => {
                self.atomic(warp, (*op, *num, *space), (*d, *b, *c), *address, lanes)?;
            }
            Op::CopyAsync {
                bytes,
                read,
                to,
                from,
                no_l1,
            } => {
                self.copy_async(warp, (*bytes, *read), (*to, *from), *no_l1, line, lanes)?;
            }
            Op::CopyCommit => {
                let group = warp.copy_groups;
                for copy in warp.copies.iter_mut().filter(|it| it.group.is_none()) {
                    copy.group = Some(group);
                }
                warp.copy_groups += 1;
            }
            Op::CopyWait { groups } => self.land(warp, *groups)?,
            Op::LoadMatrix {
                d,
                transposed,
                address,
            } => {
                whole_warp(warp, lanes)?;
                warp.meetings += 1;
                self.load_matrix(warp, d, *transposed, *address)?;
            }
            Op::StoreMatrix {
                a,
                transposed,
                address,
            } => {
                whole_warp(warp, lanes)?;
                warp.meetings += 1;
                self.store_matrix(warp, a, *transposed, *address)?;
            }
            Op::Mma {
                shape,
                types,
                half_sum,
                d,
                a,
                b,
                c,
            } => {
                whole_warp(warp, lanes)?;
                matrix::mma(warp, *shape, *types, *half_sum, [d, a, b, c]);
            }
            Op::WmmaLoad {
                part,
                shape,
                bits,
                row,
                d,
                address,
                space,
                stride,
            } => {
                whole_warp(warp, lanes)?;
                let what = (*part, *shape, *bits, *row);
                self.fragment(warp, what, d, (*space, *address, *stride), false)?;
            }
            Op::WmmaStore {
                shape,
                bits,
                row,
                a,
                address,
                space,
                stride,
            } => {
                whole_warp(warp, lanes)?;
                let what = (Part::C, *shape, *bits, *row);
                self.fragment(warp, what, a, (*space, *address, *stride), true)?;
            }
            Op::WmmaMma {
                shape,
                types,
                half,
                rows: _,
                d,
                a,
                b,
                c,
            } => {
                whole_warp(warp, lanes)?;
                matrix::wmma(warp, *shape, *types, *half, [d, a, b, c]);
            }
            Op::Shuffle {
                mode,
                d,
                p,
                a,
                b,
                c,
                members,
            } => {
                meeting!(*members);
                collectives::shuffle(warp, *mode, (*d, *p), (*a, *b, *c), lanes)?;
            }
            Op::Vote {
                mode,
                d,
                a,
                not,
                members,
            } => {
                meeting!(*members);
                let truths = warp.predicates[*a as usize];
                let truths = if *not { !truths } else { truths };
                let result = collectives::vote(*mode, truths, lanes);
                match mode {
                    VoteMode::Ballot => put(&mut warp.words[*d as usize], [result; 32], lanes),
                    _ => blend(
                        &mut warp.predicates[*d as usize],
                        result.wrapping_neg(),
                        lanes,
                    ),
                }
            }
            Op::Match {
                all,
                is_double,
                d,
                p,
                a,
                members,
            } => {
                meeting!(*members);
                let values = match is_double {
                    true => warp.doubles[*a as usize],
                    false => warp.words[*a as usize].map(u64::from),
                };
                collectives::matched(warp, *all, values, *d, *p, lanes);
            }
            Op::Reduce {
                op,
                signed,
                d,
                a,
                members,
            } => {
                meeting!(*members);
                let result = collectives::reduced(*op, *signed, warp.words[*a as usize], lanes);
                put(&mut warp.words[*d as usize], [result; 32], lanes);
            }
            Op::ActiveMask { d } => put(&mut warp.words[*d as usize], [lanes; 32], lanes),
            Op::ElectSync { d, p, members } => {
                meeting!(*members);
                let elected = first(lanes);
                if let Some(d) = d {
                    put(&mut warp.words[*d as usize], [elected; 32], lanes);
                }
                blend(&mut warp.predicates[*p as usize], 1 << elected, lanes);
            }
            Op::BarrierWarp { members } => meeting!(*members),
            Op::Barrier {
                number, is_arrival, ..
            } => {
                return self.arrive(warp, idx, *number, *is_arrival, lanes);
            }
            Op::Fence { device } => {
                if *device
                    && let Some(published) = self.order.published.get_mut(self.number as usize)
                {
                    published.fence = self.time;
                }
                warp.meetings += 1;
            }
            Op::Trap => return Err((Fault::Trap, first(lanes))),
            Op::Branch { .. } | Op::Exit => {}
        }
        Ok(true)
    }

    /// Lets threads arrive at a barrier of the block. They go on when it opens.
    fn arrive(
        &mut self,
        warp: &mut Warp,
        idx: usize,
        number: u32,
        is_arrival: bool,
        lanes: u32,
    ) -> Result<bool, Failed> {
        let group = warp.groups[idx];
        let number = warp.words[number as usize][first(lanes) as usize];
        if 16 <= number {
            let what = format!("barriers with the number {number}");
            return Err((Fault::NotSimulated { what }, first(lanes)));
        }
        if lanes != group.lanes {
            // Threads that the predicate leaves out go on.
            warp.groups[idx].lanes &= !lanes;
            warp.groups[idx].at += 1;
            warp.groups.push(Group { lanes, ..group });
            return Ok(false);
        }
        if lanes != warp.live {
            warp.groups[idx].waits = Waits::Rest;
            let at_once = warp
                .groups
                .iter()
                .position(|it| it.at == group.at && it.waits == Waits::Rest && it.lanes != lanes);
            if let Some(other) = at_once {
                // The rest has come: together they take the step again.
                warp.groups[other].lanes |= lanes;
                warp.groups[other].waits = Waits::No;
                warp.groups.swap_remove(idx);
                return Ok(false);
            }
            let others = warp.groups.iter().find(|it| it.waits == Waits::No);
            if others.is_none() {
                let other = warp.groups.iter().find(|it| it.at != group.at);
                let other = other.map_or(group.at, |it| it.at);
                let fault = Fault::DivergedBarrier {
                    other: self.kernel.steps[other as usize].line,
                };
                return Err((fault, first(lanes)));
            }
            return Ok(false);
        }
        if is_arrival {
            self.arrived[number as usize] += 32;
            return Ok(true);
        }
        warp.groups[idx].waits = Waits::Barrier(number);
        Ok(false)
    }

    /// Returns how many threads meet at a barrier, if it says so.
    pub(crate) fn barrier_size(&self, warp: &Warp, at: u32) -> (Option<u32>, bool) {
        match &self.kernel.steps[at as usize].op {
            Op::Barrier {
                threads,
                is_arrival,
                ..
            } => {
                let threads = threads.map(|it| warp.words[it as usize][first(warp.live) as usize]);
                (threads, *is_arrival)
            }
            _ => (None, false),
        }
    }

    /// Gives all threads that leave a barrier what they found out there.
    pub(crate) fn reduce_at_barrier(&self, warps: &mut [Warp], number: u32) {
        let mut count = 0;
        let mut total = 0;
        for warp in &*warps {
            for group in warp
                .groups
                .iter()
                .filter(|it| it.waits == Waits::Barrier(number))
            {
                if let Op::Barrier {
                    reduce: Some((_, _, _, a, not)),
                    ..
                } = &self.kernel.steps[group.at as usize].op
                {
                    let truth = warp.predicates[*a as usize];
                    let truth = if *not { !truth } else { truth };
                    count += (truth & group.lanes).count_ones();
                    total += group.lanes.count_ones();
                }
            }
        }
        for warp in warps {
            for group in warp.groups.clone() {
                if group.waits != Waits::Barrier(number) {
                    continue;
                }
                let Op::Barrier {
                    reduce: Some((mode, is_count, d, ..)),
                    ..
                } = &self.kernel.steps[group.at as usize].op
                else {
                    continue;
                };
                if *is_count {
                    put(&mut warp.words[*d as usize], [count; 32], group.lanes);
                    continue;
                }
                let truth = match mode {
                    VoteMode::All => count == total,
                    _ => count != 0,
                };
                blend(
                    &mut warp.predicates[*d as usize],
                    u32::from(truth).wrapping_neg(),
                    group.lanes,
                );
            }
        }
    }
}

/// Matrix operations need all threads of a whole warp.
fn whole_warp(warp: &Warp, lanes: u32) -> Result<(), Failed> {
    if lanes == ALL {
        return Ok(());
    }
    let _ = warp;
    let missing = !lanes;
    Err((
        Fault::MissingThreads {
            members: ALL,
            missing,
        },
        first(lanes),
    ))
}

fn branch(warp: &mut Warp, idx: usize, target: u32, taken: u32) {
    let group = &mut warp.groups[idx];
    let stays = group.lanes & !taken;
    if stays == 0 {
        group.at = target;
    } else if taken == 0 {
        group.at += 1;
    } else {
        let mut jumped = *group;
        group.at += 1;
        group.lanes = stays;
        jumped.at = target;
        jumped.lanes = taken;
        warp.groups.push(jumped);
        let last = warp.groups.len() - 1;
        warp.join(last);
    }
    if 1 < warp.groups.len()
        && let Some(group) = warp.groups.get_mut(idx)
    {
        group.alone += 1;
        warp.join(idx);
    }
}

fn exit(warp: &mut Warp, idx: usize, lanes: u32) {
    warp.live &= !lanes;
    let group = &mut warp.groups[idx];
    group.lanes &= !lanes;
    group.at += 1;
    if group.lanes == 0 {
        warp.groups.swap_remove(idx);
    }
    // Whoever waited for them need not wait any more.
    for group in &mut warp.groups {
        if matches!(group.waits, Waits::Rest | Waits::Warp) {
            group.waits = Waits::No;
        }
    }
}

fn wide(warp: &mut Warp, num: Num, (d, a, b, c): (u32, u32, u32, Option<u32>), lanes: u32) {
    let (x, y) = (warp.words[a as usize], warp.words[b as usize]);
    match num {
        Num::U16 | Num::S16 => {
            let z = c.map_or([0; 32], |c| warp.words[c as usize]);
            let result = std::array::from_fn(|it| {
                let product = match num {
                    Num::S16 => (i32::from(x[it] as i16) * i32::from(y[it] as i16)) as u32,
                    _ => (x[it] & 0xffff).wrapping_mul(y[it] & 0xffff),
                };
                product.wrapping_add(z[it])
            });
            put(&mut warp.words[d as usize], result, lanes);
        }
        _ => {
            let z = c.map_or([0; 32], |c| warp.doubles[c as usize]);
            let mut result = [0_u64; 32];
            if num == Num::S32 {
                for it in 0..32 {
                    let product = i64::from(x[it] as i32) * i64::from(y[it] as i32);
                    result[it] = (product as u64).wrapping_add(z[it]);
                }
            } else {
                for it in 0..32 {
                    result[it] = (u64::from(x[it]) * u64::from(y[it])).wrapping_add(z[it]);
                }
            }
            put(&mut warp.doubles[d as usize], result, lanes);
        }
    }
}

fn pack(warp: &mut Warp, d: Reg, parts: &[u32], bits: u32, lanes: u32) {
    let mask = if bits == 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    };
    let mut result = [0_u64; 32];
    for (part, idx) in parts.iter().zip(0..) {
        let word = warp.words[*part as usize];
        for lane in 0..32 {
            result[lane] |= (u64::from(word[lane]) & mask) << (idx * bits);
        }
    }
    match d {
        Reg::Word(d) => put(
            &mut warp.words[d as usize],
            result.map(|it| it as u32),
            lanes,
        ),
        Reg::Double(d) => put(&mut warp.doubles[d as usize], result, lanes),
        Reg::Predicate(_) => {}
    }
}

fn unpack(warp: &mut Warp, parts: &[Option<u32>], a: Reg, bits: u32, lanes: u32) {
    let mask = if bits == 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    };
    let whole = match a {
        Reg::Word(a) => warp.words[a as usize].map(u64::from),
        Reg::Double(a) => warp.doubles[a as usize],
        Reg::Predicate(_) => [0; 32],
    };
    for (part, idx) in parts.iter().zip(0..) {
        if let Some(part) = part {
            let result = whole.map(|it| (it >> (idx * bits) & mask) as u32);
            put(&mut warp.words[*part as usize], result, lanes);
        }
    }
}
