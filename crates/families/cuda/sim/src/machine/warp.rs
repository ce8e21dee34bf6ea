//! Threads of a warp: registers, and where each of them is.

use super::launch::Order;
use crate::decode::Kernel;

/// What registers and memory of threads hold that nobody set, by the order of blocks: no number
/// for halves and floats, which sums show, then a large one and a small one, which greatest and
/// least elements show. Of doubles, the first is a large one, too.
const NOT_SET: [u32; 3] = [0xffa5_ffa5, 0x7a5a_7a5a, 0xfa5a_fa5a];

/// Returns what a register of 64 bits holds that nobody set.
fn not_set_double(not_set: u32) -> u64 {
    u64::from(not_set) << 32 | u64::from(not_set)
}

/// All threads of a warp.
pub(crate) const ALL: u32 = u32::MAX;

/// Threads that are at the same step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// The step that is next.
    pub(crate) at: u32,
    /// Which threads, a bit each.
    pub(crate) lanes: u32,
    /// What they wait for.
    pub(crate) waits: Waits,
    /// Steps that they took while others of the warp were elsewhere.
    pub(crate) alone: u32,
}

/// What threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Nothing.
    No,
    /// Threads of the warp.
    Warp,
    /// The rest of the warp, before they wait at a barrier of the block.
    Rest,
    /// The barrier of this number.
    Barrier(u32),
}

/// A copy to shared memory that has not landed.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) lanes: u32,
    pub(crate) to: [u32; 32],
    pub(crate) bytes: u32,
    pub(crate) data: Box<[[u8; 16]; 32]>,
    pub(crate) line: u32,
    /// The group of each thread that it belongs to; nothing while that is open.
    pub(crate) groups: [Option<u32>; 32],
}

/// A warp.
#[derive(Clone, Debug)]
pub(crate) struct Warp {
    pub(crate) number: u32,
    pub(crate) words: Vec<[u32; 32]>,
    pub(crate) doubles: Vec<[u64; 32]>,
    pub(crate) predicates: Vec<u32>,
    pub(crate) groups: Vec<Group>,
    /// Threads that have not ended.
    pub(crate) live: u32,
    pub(crate) copies: Vec<Copy>,
    /// Groups of copies of each thread so far.
    pub(crate) copy_groups: [u32; 32],
    pub(crate) local: Vec<u8>,
    /// Registers that are read before anybody sets them: words, doubles.
    unset: [Vec<u32>; 2],
    /// What those hold.
    pub(crate) not_set: u32,
}

impl Warp {
    /// Makes the warp `number` with `threads` threads, for blocks in an order.
    pub(crate) fn new(
        kernel: &Kernel,
        unset: &[Vec<u32>; 2],
        order: Order,
        number: u32,
        threads: u32,
    ) -> Self {
        let not_set = NOT_SET[match order {
            Order::Forward => 0,
            Order::Backward => 1,
            Order::Mixed(_) => 2,
        }];
        let lanes = if 32 <= threads {
            ALL
        } else {
            (1 << threads) - 1
        };
        let mut warp = Self {
            number,
            words: vec![[not_set; 32]; kernel.words as usize],
            doubles: vec![[not_set_double(not_set); 32]; kernel.doubles as usize],
            predicates: vec![0; kernel.predicates as usize],
            groups: Vec::new(),
            live: 0,
            copies: Vec::new(),
            copy_groups: [0; 32],
            local: vec![0; kernel.local_bytes as usize * 32],
            unset: unset.clone(),
            not_set,
        };
        for (register, bits) in &kernel.word_constants {
            warp.words[*register as usize] = [*bits; 32];
        }
        for (register, bits) in &kernel.double_constants {
            warp.doubles[*register as usize] = [*bits; 32];
        }
        warp.begin(lanes);
        warp
    }

    /// Begins anew with these threads, which find nothing of what others left.
    pub(crate) fn begin(&mut self, lanes: u32) {
        let [words, doubles] = &self.unset;
        for register in words {
            self.words[*register as usize] = [self.not_set; 32];
        }
        for register in doubles {
            self.doubles[*register as usize] = [not_set_double(self.not_set); 32];
        }
        self.predicates.fill(0);
        for bytes in self.local.chunks_mut(4) {
            bytes.copy_from_slice(&self.not_set.to_le_bytes()[..bytes.len()]);
        }
        self.live = lanes;
        self.groups.clear();
        self.groups.push(Group {
            at: 0,
            lanes,
            waits: Waits::No,
            alone: 0,
        });
        self.copies.clear();
        self.copy_groups = [0; 32];
    }

    /// Returns the group that goes on: the one that is furthest behind, unless it has gone
    /// round for long while others could go on.
    #[inline(always)]
    pub(crate) fn next_group(&self) -> Option<usize> {
        if let [group] = &self.groups[..] {
            return (group.waits == Waits::No).then_some(0);
        }
        let ready = self.groups.iter().enumerate();
        let ready = ready.filter(|(_, group)| group.waits == Waits::No);
        ready
            .min_by_key(|(_, group)| (group.alone >> 10, group.at))
            .map(|(idx, _)| idx)
    }

    /// Puts threads together that are at the same step and wait for the same.
    pub(crate) fn join(&mut self, idx: usize) {
        if self.groups.len() < 2 {
            if let Some(group) = self.groups.first_mut() {
                group.alone = 0;
            }
            return;
        }
        let group = self.groups[idx];
        let other = self
            .groups
            .iter()
            .enumerate()
            .find(|(other, it)| *other != idx && it.at == group.at && it.waits == group.waits);
        if let Some((other, _)) = other {
            self.groups[other].lanes |= group.lanes;
            self.groups[other].alone = self.groups[other].alone.max(group.alone);
            self.groups.swap_remove(idx);
        }
    }
}

#[inline]
pub(super) fn branch(warp: &mut Warp, idx: usize, target: u32, taken: u32) {
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

pub(super) fn exit(warp: &mut Warp, idx: usize, lanes: u32) {
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
