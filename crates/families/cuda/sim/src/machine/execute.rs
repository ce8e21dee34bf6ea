//! One step of some threads of a warp.

use super::access::Failed;
use super::alu::{self, put};
use super::block::Block;
use super::collectives;
use super::convert::{self, Conversion};
use super::copies;
use super::findings::Fault;
use super::fragments;
use super::matrix;
use super::meetings::{Meeting, whole_warp};
use super::observer::Witness;
use super::packing::{pack, unpack};
use super::warp::{Warp, branch, exit};
use crate::decode::{Junction, Op, Part, Reach, Reg, VoteMode};
use crate::half_floats::tf32_from_f32;

#[inline]
fn join_masks(op: Junction, a: u32, b: u32) -> u32 {
    match op {
        Junction::And => a & b,
        Junction::Or => a | b,
        Junction::Xor => a ^ b,
    }
}

#[inline]
pub(super) fn blend(into: &mut u32, value: u32, lanes: u32) {
    *into = *into & !lanes | value & lanes;
}

/// Returns the number of the first thread of a mask.
#[inline]
pub(super) fn first(lanes: u32) -> u32 {
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
            Op::MulWide { num, d, a, b } => alu::wide(warp, *num, (*d, *a, *b, None), lanes),
            Op::Carry {
                op,
                num,
                d,
                a,
                b,
                c,
                from,
                to,
            } => {
                let carry = from.map_or(0, |it| warp.predicates[it as usize]);
                let carry = alu::carried(warp, (*op, *num), [*d, *a, *b, *c], carry, lanes);
                if let Some(to) = to {
                    blend(&mut warp.predicates[*to as usize], carry, lanes);
                }
            }
            Op::MadWide { num, d, a, b, c } => alu::wide(warp, *num, (*d, *a, *b, Some(*c)), lanes),
            Op::Bfi {
                is_double,
                d,
                a,
                b,
                c,
                e,
            } => {
                alu::insert(warp, *is_double, [*d, *a, *b, *c, *e], lanes);
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
            Op::CvtPair {
                to,
                rounding,
                relu,
                d,
                a,
                b,
            } => {
                convert::convert_pair(warp, (*to, *rounding, *relu), (*d, *a, *b), lanes);
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
            Op::Testp {
                property,
                num,
                d,
                a,
            } => {
                let truth = alu::test(warp, *property, *num, *a);
                blend(&mut warp.predicates[*d as usize], truth, lanes);
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
                meant,
            } => {
                let flags = (*no_l1, *meant, line);
                self.load(warp, (*space, *bytes, *signed), d, *address, flags, lanes)?;
            }
            Op::Store {
                space,
                bytes,
                a,
                address,
                meant,
                releases,
            } => {
                if let Some(reach) = releases {
                    self.fence(warp, lanes, *reach == Reach::Device);
                }
                self.store(warp, (*space, *bytes), a, *address, *meant, lanes)?;
            }
            Op::Atomic {
                op,
                num,
                space,
                d,
                address,
                b,
                c,
                releases,
            } => {
                let (what, registers) = ((*op, *num, *space), (*d, *b, *c));
                self.atomic(warp, what, *releases, registers, *address, lanes)?;
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
            Op::CopyCommit => copies::commit(warp, lanes),
            Op::CopyWait { groups } => self.land(warp, *groups, lanes)?,
            Op::LoadMatrix {
                d,
                transposed,
                address,
            } => {
                whole_warp(lanes)?;
                self.load_matrix(warp, d, *transposed, *address)?;
            }
            Op::StoreMatrix {
                a,
                transposed,
                address,
            } => {
                whole_warp(lanes)?;
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
                whole_warp(lanes)?;
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
                whole_warp(lanes)?;
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
                whole_warp(lanes)?;
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
                whole_warp(lanes)?;
                fragments::wmma(warp, *shape, *types, *half, [d, a, b, c]);
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
                let (to, from) = ((*d, *p), (*a, *b, *c));
                collectives::shuffle(warp, *mode, to, from, (*members, lanes))?;
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
            Op::BarrierWarp { members } => {
                meeting!(*members);
                self.show_block(warp.number, lanes);
                if self.is_watched {
                    let named = warp.words[*members as usize][first(lanes) as usize];
                    self.precedence.meet(warp.number, lanes, named);
                }
            }
            Op::Barrier {
                number, is_arrival, ..
            } => {
                return self.arrive(warp, idx, *number, *is_arrival, lanes);
            }
            Op::Fence { device } => self.fence(warp, lanes, *device),
            Op::Trap => return Err((Fault::Trap, first(lanes))),
            Op::Branch { .. } | Op::Exit => {}
        }
        Ok(true)
    }
}
