//! Barriers of a block: warps arrive, wait, and go on when all have come.

use super::access::Failed;
use super::alu::put;
use super::block::Block;
use super::execute::{blend, first};
use super::findings::{Fault, Finding};
use super::observer::Witness;
use super::warp::{Group, Waits, Warp};
use crate::decode::{Op, VoteMode};

impl<O: Witness> Block<'_, O> {
    /// Lets threads arrive at a barrier of the block. They go on when it opens.
    pub(super) fn arrive(
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
        self.show_block(warp.number, lanes);
        if is_arrival {
            self.arrived[number as usize] += 32;
            if self.is_watched {
                self.precedence.arrive(number, warp.number);
            }
            return Ok(true);
        }
        warp.groups[idx].waits = Waits::Barrier(number);
        Ok(false)
    }

    /// Lets threads go on that wait at barriers where all have come.
    pub(super) fn open_barriers(&mut self, warps: &mut [Warp]) -> Result<(), Box<Finding>> {
        // Threads that wait for the rest of their warp.
        for warp in warps.iter_mut().filter(|it| it.live != 0) {
            let Some(idx) = warp.groups.iter().position(|it| it.waits == Waits::Rest) else {
                continue;
            };
            let group = warp.groups[idx];
            if warp.groups.len() == 1 {
                warp.groups[0].waits = Waits::No;
                // It takes the step again, now with all threads.
                continue;
            }
            if warp.next_group().is_none() {
                let other = warp.groups.iter().find(|it| it.at != group.at);
                let other = other.map_or(0, |it| it.at);
                let fault = Fault::DivergedBarrier {
                    other: self.kernel.steps[other as usize].line,
                };
                return Err(self.finding((fault, group.lanes.trailing_zeros()), warp, group.at));
            }
        }
        for number in 0..16 {
            let waits = |warp: &Warp| {
                warp.groups
                    .iter()
                    .any(|it| it.waits == Waits::Barrier(number))
            };
            if !warps.iter().any(&waits) {
                continue;
            }
            self.open_barrier(warps, number)?;
        }
        Ok(())
    }

    fn open_barrier(&mut self, warps: &mut [Warp], number: u32) -> Result<(), Box<Finding>> {
        let mut waiting = self.arrived[number as usize];
        let mut wanted = None;
        let mut place = None;
        for warp in &*warps {
            for group in warp
                .groups
                .iter()
                .filter(|it| it.waits == Waits::Barrier(number))
            {
                waiting += 32;
                let threads = self.barrier_size(warp, group.at);
                if let Some(threads) = threads
                    && !threads.is_multiple_of(32)
                {
                    let fault = Fault::BarrierSize { threads };
                    return Err(self.finding(
                        (fault, group.lanes.trailing_zeros()),
                        warp,
                        group.at,
                    ));
                }
                wanted = threads.or(wanted);
                match place {
                    None => place = Some(group.at),
                    Some(other) if other != group.at && threads.is_none() => {
                        let fault = Fault::DivergedBarrier {
                            other: self.kernel.steps[other as usize].line,
                        };
                        return Err(self.finding(
                            (fault, group.lanes.trailing_zeros()),
                            warp,
                            group.at,
                        ));
                    }
                    _ => {}
                }
            }
        }
        let is_complete = match wanted {
            None => warps.iter().filter(|it| it.live != 0).all(|warp| {
                warp.groups
                    .iter()
                    .all(|it| it.waits == Waits::Barrier(number))
            }),
            Some(threads) => threads <= waiting,
        };
        if !is_complete {
            return Ok(());
        }
        self.arrived[number as usize] = 0;
        if self.is_watched {
            let waits = |warp: &&Warp| {
                let mut groups = warp.groups.iter();
                groups.any(|it| it.waits == Waits::Barrier(number))
            };
            let members = warps.iter().filter(waits);
            let members = members.fold(0_u32, |sum, it| sum | 1 << it.number);
            let is_all = wanted.is_none() || members.count_ones() as usize == warps.len();
            self.precedence.pass(number, members, is_all);
        }
        self.reduce_at_barrier(warps, number);
        for warp in warps {
            for group in &mut warp.groups {
                if group.waits == Waits::Barrier(number) {
                    group.waits = Waits::No;
                    group.at += 1;
                }
            }
        }
        Ok(())
    }

    /// Returns how many threads meet at a barrier, if it says so.
    fn barrier_size(&self, warp: &Warp, at: u32) -> Option<u32> {
        match &self.kernel.steps[at as usize].op {
            Op::Barrier { threads, .. } => {
                threads.map(|it| warp.words[it as usize][first(warp.live) as usize])
            }
            _ => None,
        }
    }

    /// Gives all threads that leave a barrier what they found out there.
    fn reduce_at_barrier(&self, warps: &mut [Warp], number: u32) {
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
