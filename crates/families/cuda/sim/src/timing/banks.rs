//! The banks of shared memory and of the L1, which are the same ones.

use crate::machine::Access;

/// Loads of a warp from shared memory that a later one may still be joined to: those of a few
/// iterations of an unrolled loop.
const JOINED_AMONG: usize = 32;

/// A load from shared memory, to which others may be joined that begin where it ends: the
/// compiler of the device makes one vector of them.
#[derive(Clone, Copy, Debug)]
struct SharedLoad {
    addresses: [u64; 32],
    lanes: u32,
    bytes: u32,
    cycles: u64,
    ideal: u64,
}

impl SharedLoad {
    /// Returns the bytes that this load and a later one have together, if they become one.
    fn joined(&self, later: &Access<'_>) -> Option<u32> {
        let bytes = self.bytes + later.bytes;
        let follows = |lane: usize| {
            self.lanes >> lane & 1 == 0
                || later.addresses[lane] == self.addresses[lane] + u64::from(self.bytes)
                    && self.addresses[lane].is_multiple_of(u64::from(bytes.next_power_of_two()))
        };
        let fits = self.lanes == later.lanes && bytes <= 16 && (0..32).all(follows);
        fits.then_some(bytes)
    }
}

/// What a warp loaded from shared memory since it last wrote there or met others.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedLoads {
    loads: Vec<SharedLoad>,
    next: usize,
}

/// What an access costs beside those of before.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedCost {
    /// Cycles of the banks.
    pub(super) cycles: u64,
    /// The same if no two threads met in a bank.
    pub(super) ideal: u64,
    /// Whether it is part of an instruction that was counted already.
    pub(super) is_joined: bool,
}

impl SharedLoads {
    /// Forgets all: what follows a barrier or a store is not moved before it.
    pub(super) fn clear(&mut self) {
        self.loads.clear();
        self.next = 0;
    }

    /// Returns what an access costs.
    pub(super) fn cost(&mut self, access: &Access<'_>) -> SharedCost {
        let is_load = !access.write && !access.atomic && access.bytes < 16;
        let found = is_load
            .then(|| {
                let mut loads = self.loads.iter_mut().enumerate();
                loads.find_map(|(idx, it)| it.joined(access).map(|bytes| (idx, bytes)))
            })
            .flatten();
        let Some((idx, bytes)) = found else {
            let (cycles, ideal) = wavefronts(access);
            if is_load {
                self.keep(SharedLoad {
                    addresses: *access.addresses,
                    lanes: access.lanes,
                    bytes: access.bytes,
                    cycles,
                    ideal,
                });
            } else if access.write {
                self.clear();
            }
            return SharedCost {
                cycles,
                ideal,
                is_joined: false,
            };
        };
        let before = &mut self.loads[idx];
        let (cycles, ideal) = wavefronts(&Access {
            bytes,
            addresses: &before.addresses,
            ..*access
        });
        // What the first part cost is counted already.
        let cost = SharedCost {
            cycles: cycles.saturating_sub(before.cycles),
            ideal: ideal.saturating_sub(before.ideal),
            is_joined: true,
        };
        (before.bytes, before.cycles, before.ideal) = (bytes, cycles, ideal);
        cost
    }

    fn keep(&mut self, load: SharedLoad) {
        if self.loads.len() < JOINED_AMONG {
            self.loads.push(load);
            return;
        }
        self.loads[self.next] = load;
        self.next = (self.next + 1) % JOINED_AMONG;
    }
}

/// Returns the cycles that the banks need for an access, and the least that one of its width
/// needs.
pub(super) fn wavefronts(access: &Access<'_>) -> (u64, u64) {
    // Accesses of 8 and 16 bytes are done for half and a quarter of the warp at once; for
    // twice as many where all threads share their address with the neighbour, or with the one
    // behind it.
    let width = access.bytes.max(4).next_power_of_two().min(16);
    let mut at_once = (128 / width) as usize;
    if at_once < 32 && (is_shared(access, 1) || is_shared(access, 2)) {
        at_once *= 2;
    }
    let mut cycles = 0;
    let mut ideal = 0;
    for group in (0..32).step_by(at_once) {
        let mut words = [0_u64; 160];
        let mut count = 0;
        for lane in group..group + at_once {
            if access.lanes >> lane & 1 == 0 {
                continue;
            }
            let first = access.addresses[lane] / 4;
            let last = (access.addresses[lane] + u64::from(access.bytes) - 1) / 4;
            for word in first..=last {
                if count < words.len() {
                    words[count] = word;
                    count += 1;
                }
            }
        }
        if count == 0 {
            continue;
        }
        let used = &mut words[..count];
        used.sort_unstable();
        let mut banks = [0_u64; 32];
        let mut last = None;
        for word in used.iter() {
            if access.atomic || last != Some(*word) {
                banks[(word % 32) as usize] += 1;
            }
            last = Some(*word);
        }
        ideal += 1;
        cycles += banks.iter().max().copied().unwrap_or(1).max(1);
    }
    (cycles, ideal)
}

/// An atomic operation that shared memory does not have: each thread loads, computes, and stores
/// if nobody has stored since, until it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    /// How often that is done: as often as the most threads of the warp share a word.
    pub(super) count: u64,
    /// Cycles of the banks.
    pub(super) cycles: u64,
    /// The same if no two threads met in a bank, but in a word.
    pub(super) ideal: u64,
}

/// Returns what the threads of a warp do for an atomic operation that shared memory does not
/// have. Of those that share a word, one is done in each turn.
pub(super) fn turns(access: &Access<'_>) -> Turns {
    let mut turns = Turns {
        count: 0,
        cycles: 0,
        ideal: 0,
    };
    let mut left = access.lanes;
    while left != 0 {
        // A load and the store, which succeeds for one thread of each word.
        let (cycles, ideal) = wavefronts(&Access {
            lanes: left,
            atomic: false,
            ..*access
        });
        turns.count += 1;
        turns.cycles += 2 * cycles;
        turns.ideal += 2 * ideal;
        let mut done = 0_u32;
        for lane in (0..32).filter(|lane| left >> lane & 1 == 1) {
            let same = |other: usize| access.addresses[other] == access.addresses[lane];
            let is_first = !(0..lane).any(|other| done >> other & 1 == 1 && same(other));
            done |= u32::from(is_first) << lane;
        }
        left &= !done;
    }
    turns
}

/// Returns whether each thread has the address of the thread `apart` from it.
fn is_shared(access: &Access<'_>, apart: usize) -> bool {
    !access.atomic
        && (0..32)
            .filter(|lane| access.lanes >> lane & 1 == 1)
            .all(|lane| {
                let other = lane ^ apart;
                access.lanes >> other & 1 == 0 || access.addresses[lane] == access.addresses[other]
            })
}
