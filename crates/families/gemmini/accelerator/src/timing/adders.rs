//! What the banks of the accumulator share.
//!
//! One row of adders serves all banks, and its operands are OR-ed if two banks add in the
//! same cycle: both sums are then wrong. The address at which zeros are written comes from
//! a load that has a row for another bank in the same cycle: the zeros then go to that row's
//! number in their bank. Neither costs cycles; what is found is told ([`Clash`]).
//!
//! An addition waits for a row that is on its way through the accumulator's pipeline.
//!
//! *Source*: Gemmini, `AccPipeShared`, `AccumulatorMem` (`io.write.ready`) and `Scratchpad`
//! (`MuxCase` of the write's address); results of RTL for the adders.

use super::calendar::Calendar;
use super::engine::Engine;
use autocomp_riscv_machine::Ring;

/// Cycles for which a row that is written is on its way, of all instances described
/// (RTL: `acc_latency`).
const ADDER_STAGES: u64 = 2;
/// Additions closer than that are told, as the model may be off by so many.
const NEAR: u64 = 16;
/// Additions of which it is kept which instruction they are of: more than can be marked
/// ahead of the present, as each takes a cycle.
const KEPT: usize = 128;

/// Two uses of what banks of the accumulator share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClashKind {
    /// A load and another unit add in two banks in the same cycle.
    Adders,
    /// The same with some cycles between them.
    NearAdders,
    /// Zeros are written in a cycle in which a load has a row for another bank.
    Zeros,
}

/// Two instructions whose commands use what banks share at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    pub kind: ClashKind,
    /// The load that adds, or that writes zeros.
    pub pc: u64,
    /// The other one, if it is still known.
    pub other_pc: Option<u64>,
}

/// Who adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Adder {
    Array,
    Load,
}

/// Additions in cycles from one on, a bit each, by an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Additions {
    start: u64,
    cycles: u64,
    pc: u64,
}

/// What is known of a bank.
#[derive(Clone, Debug)]
struct Bank {
    /// Cycles in which a load adds.
    loads_add: Calendar,
    /// Cycles in which a load has a row for it that is or is not written.
    loads: Calendar,
    /// Cycles in which zeros are written.
    zeros: Calendar,
    /// Last additions of all units, and last writes of loads.
    recent: [Ring<Additions, KEPT>; 2],
}

/// What the banks share, and who uses it when.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    banks: Vec<Bank>,
    /// Rows that loads have written last, and when.
    written: Ring<(u32, u64), 8>,
    found: Option<Clash>,
}

impl Shared {
    pub(super) fn new(banks: usize) -> Self {
        let bank = Bank {
            loads_add: Calendar::new(),
            loads: Calendar::new(),
            zeros: Calendar::new(),
            recent: std::array::from_fn(|_| Ring::new(Additions::default())),
        };
        Self {
            banks: vec![bank; banks],
            written: Ring::new((0, 0)),
            found: None,
        }
    }

    /// Returns the first cycle, `at` or later, in which a load may add to `row`.
    #[inline]
    pub(super) fn row_free(&self, row: u32, at: u64) -> u64 {
        let same = self.written.iter().filter(|(written, _)| *written == row);
        let free = same.map(|(_, written)| written + ADDER_STAGES + 1).max();
        free.map_or(at, |free| free.max(at))
    }

    /// Keeps the more severe of what is found first.
    #[cold]
    fn find(&mut self, clash: Clash) {
        let known = self.found.map(|known| known.kind);
        if known.is_none() || known == Some(ClashKind::NearAdders) {
            self.found = Some(clash);
        }
    }

    /// Returns the instruction that uses `bank` in one of the 64 `cycles` from `start` on:
    /// that adds there, or else whose load has a row for it.
    fn user(&self, bank: usize, adds: bool, start: u64, cycles: u64) -> Option<u64> {
        let recent = &self.banks[bank].recent[usize::from(!adds)];
        let overlaps = |it: &&Additions| {
            let shifted = match it.start.checked_sub(start) {
                Some(later) => it.cycles.checked_shl(later.try_into().unwrap_or(64)),
                None => {
                    let earlier = start - it.start;
                    it.cycles.checked_shr(earlier.try_into().unwrap_or(64))
                }
            };
            shifted.unwrap_or(0) & cycles != 0
        };
        let mut users = recent.iter().filter(overlaps);
        users.next().map(|it| it.pc)
    }

    fn keep(&mut self, bank: usize, adds: bool, (start, cycles): (u64, u64), pc: u64) {
        let recent = &mut self.banks[bank].recent[usize::from(!adds)];
        if recent.len() == KEPT {
            recent.drop_front(1);
        }
        recent.push_back(Additions { start, cycles, pc });
    }
}

impl Engine {
    /// Notes that rows of a bank of the accumulator are added to by the instruction at `pc`
    /// in those of 64 cycles from `at` on whose bit is set.
    #[inline]
    pub(super) fn add_in_bank(
        &mut self,
        adder: Adder,
        bank: usize,
        (at, cycles): (u64, u64),
        pc: u64,
    ) {
        self.acc_reads_blocked[bank].mark_window(at, cycles);
        if self.k.acc_banks > 1 && cycles != 0 {
            self.share_adders(adder, bank, (at, cycles), pc);
        }
    }

    fn share_adders(&mut self, adder: Adder, bank: usize, (at, cycles): (u64, u64), pc: u64) {
        self.shared.keep(bank, true, (at, cycles), pc);
        if adder == Adder::Load {
            self.shared.banks[bank].loads_add.mark_window(at, cycles);
        }
        let start = at.saturating_sub(NEAR);
        let around = {
            let len = u64::from(64 - cycles.leading_zeros()) + (at - start) + NEAR;
            u64::MAX >> 64u64.saturating_sub(len)
        };
        for other in (0..self.k.acc_banks).filter(|other| *other != bank) {
            // Two operations never add at once.
            let loads = self.shared.banks[other].loads_add.window(start);
            let (all, apart) = match adder {
                Adder::Array => (self.shared.banks[other].loads_add.window(at), loads),
                Adder::Load => {
                    let blocked = &self.acc_reads_blocked[other];
                    (blocked.window(at), blocked.window(start) & !loads)
                }
            };
            let (kind, from, shared) = if all & cycles != 0 {
                (ClashKind::Adders, at, all & cycles)
            } else if apart & around != 0 {
                (ClashKind::NearAdders, start, apart & around)
            } else {
                continue;
            };
            let user = self.shared.user(other, true, from, shared);
            let (pc, other_pc) = match (adder, user) {
                (Adder::Array, Some(load)) => (load, Some(pc)),
                (_, user) => (pc, user),
            };
            self.shared.find(Clash { kind, pc, other_pc });
        }
    }

    /// Notes that the instruction at `pc` has a row for the accumulator from cycle `from`
    /// on, which is written in cycle `at`.
    #[inline]
    pub(super) fn load_to_bank(&mut self, (bank, row): (usize, u32), from: u64, at: u64, pc: u64) {
        let shared = &mut self.shared;
        if shared.written.len() == 8 {
            shared.written.drop_front(1);
        }
        shared.written.push_back((row, at));
        if self.k.acc_banks == 1 {
            return;
        }
        let start = from.max(at.saturating_sub(63)).min(at);
        let cycles = u64::MAX >> (63 - (at - start));
        shared.banks[bank].loads.mark_window(start, cycles);
        shared.keep(bank, false, (start, cycles), pc);
        for other in (0..self.k.acc_banks).filter(|other| *other != bank) {
            let zeros = shared.banks[other].zeros.window(start) & cycles;
            if zeros != 0 {
                let writer = shared.user(other, false, start, zeros);
                shared.find(Clash {
                    kind: ClashKind::Zeros,
                    pc: writer.unwrap_or(pc),
                    other_pc: Some(pc),
                });
            }
        }
    }

    /// Returns whether a load has a row for a bank of the accumulator in cycle `at`, which
    /// goes before zeros.
    #[inline]
    pub(super) fn load_is_at_bank(&self, bank: usize, at: u64) -> bool {
        self.shared.banks[bank].loads.is_marked(at)
    }

    /// Notes that the instruction at `pc` writes zeros to a bank of the accumulator in
    /// cycle `at`.
    pub(super) fn zeros_to_bank(&mut self, (bank, row): (usize, u32), at: u64, pc: u64) {
        let shared = &mut self.shared;
        if shared.written.len() == 8 {
            shared.written.drop_front(1);
        }
        shared.written.push_back((row, at));
        if self.k.acc_banks == 1 {
            return;
        }
        shared.banks[bank].zeros.mark(at);
        shared.keep(bank, false, (at, 1), pc);
        for other in (0..self.k.acc_banks).filter(|other| *other != bank) {
            if shared.banks[other].loads.is_marked(at) {
                let other_pc = shared.user(other, false, at, 1);
                shared.find(Clash {
                    kind: ClashKind::Zeros,
                    pc,
                    other_pc,
                });
            }
        }
    }

    /// Returns what was found since the last time, the first of it.
    #[inline]
    pub(crate) fn take_clash(&mut self) -> Option<Clash> {
        match self.shared.found {
            None => None,
            // A machine without some cost is none that could go wrong.
            Some(_) if self.ideal != super::ideal::Ideal::default() => None,
            Some(_) => self.shared.found.take(),
        }
    }
}
