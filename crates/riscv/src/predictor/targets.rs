//! The branch target buffer: what the fetch unit jumps to before it sees bytes.
//!
//! *Source*: Rocket Chip, `BTB`; the order of replacement, `PseudoLRU`.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::Transfer;
use std::hint::select_unpredictable;

/// The most entries that the order of replacement has room for.
const MOST_ENTRIES: usize = 64;

const NOWHERE: u64 = u64::MAX;
pub const SLOTS: usize = 256;
/// As many entries as a byte can name, so that no index needs a check; the last
/// one never holds anything.
const NAMES: usize = 256;
const NOTHING: u8 = 255;

/// Marks an entry where the order of replacement is told from its bits.
const LEAF: u8 = 0x80;

/// Pages that the entries lie in and point to.
const PAGES: usize = 6;
pub const PAGE_SHIFT: u32 = 14;

/// What is known of a fetch group of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub idx: usize,
    /// Address of the last halfword of the branch or jump.
    pub last_half: u64,
    pub target: u64,
    pub transfer: Transfer,
}

#[derive(Clone, Copy, Debug)]
struct Target {
    address: u64,
    transfer: Transfer,
    /// Number of its page, and of the target's.
    pages: [u8; 2],
}

/// The buffer: fully associative, by fetch group.
#[derive(Clone, Debug)]
pub struct Targets {
    /// By entry the last halfword of its branch or jump; [`NOWHERE`] if the entry
    /// holds nothing.
    known: [u64; NAMES],
    targets: [Target; MOST_ENTRIES],
    entries: usize,
    /// By a hash of the group: how many entries there are.
    counts: [u8; SLOTS],
    /// The same: the newest one; [`NOTHING`] if two know the same group.
    newest: [u8; SLOTS],
    pages: [u64; PAGES],
    next_page: usize,
    /// Numbers of the pages that were asked for last.
    last_pages: [u8; 2],
    /// The tree of bits that tells which entry was used least recently, and by
    /// entry which bits its use keeps and sets.
    order: u64,
    kept: [u64; MOST_ENTRIES],
    set: [u64; MOST_ENTRIES],
    /// By bit of that tree what it leads to if it is clear, and if it is set: another
    /// bit, or an entry and [`LEAF`].
    branches: [[u8; 2]; MOST_ENTRIES],
    /// What leads to its top.
    root: u8,
}

impl Targets {
    pub fn new(entries: usize) -> Self {
        let entries = entries.clamp(1, MOST_ENTRIES);
        let mut targets = Self {
            known: [NOWHERE; NAMES],
            targets: [Target {
                address: NOWHERE,
                transfer: Transfer::Jump,
                pages: [0; 2],
            }; MOST_ENTRIES],
            entries,
            counts: [0; SLOTS],
            newest: [NOTHING; SLOTS],
            pages: [NOWHERE; PAGES],
            next_page: 0,
            last_pages: [0; 2],
            order: 0,
            kept: [u64::MAX; MOST_ENTRIES],
            set: [0; MOST_ENTRIES],
            branches: [[LEAF; 2]; MOST_ENTRIES],
            root: LEAF,
        };
        targets.root = plant(&mut targets.branches, 0, 0, entries);
        for idx in 0..entries {
            let (changed, set) = marks(idx, entries);
            targets.kept[idx] = !changed;
            targets.set[idx] = set;
        }
        targets
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::new(self.entries);
    }

    /// Returns the entry that surely answers for the transfer that ends at
    /// `last_half`.
    #[inline(always)]
    pub fn entry(&self, last_half: u64) -> Option<usize> {
        let idx = usize::from(self.newest[slot(last_half)]);
        (self.known[idx] == last_half).then_some(idx)
    }

    /// Returns whether there is one, and marks it used if so.
    #[inline(always)]
    pub fn knows(&mut self, last_half: u64) -> bool {
        self.target_of(last_half).is_some()
    }

    /// The same: returns the target.
    #[inline(always)]
    pub fn target_of(&mut self, last_half: u64) -> Option<u64> {
        let idx = self.entry(last_half)?;
        self.touch(idx);
        Some(self.targets[idx % MOST_ENTRIES].address)
    }

    /// Returns the entry that surely answers for the transfer that ends at
    /// `last_half`, and its target, without marking it used.
    #[inline(always)]
    pub fn at(&self, last_half: u64) -> Option<(usize, u64)> {
        let idx = self.entry(last_half)?;
        Some((idx, self.targets[idx % MOST_ENTRIES].address))
    }

    /// Returns what is known of the group of an address. Two entries for it,
    /// which can come about, answer together once and are then dropped.
    #[inline(always)]
    pub fn find(&mut self, address: u64) -> Option<Place> {
        let slot = slot(address);
        if self.counts[slot] == 0 {
            return None;
        }
        let newest = usize::from(self.newest[slot]);
        if self.known[newest] >> 2 == address >> 2 {
            return Some(self.place(newest));
        }
        if self.is_only(newest, slot) {
            return None;
        }
        self.find_older(address)
    }

    /// Returns whether entry `idx` holds something and no other one belongs to `slot`.
    #[inline(always)]
    fn is_only(&self, idx: usize, slot: usize) -> bool {
        let known = self.known[idx];
        self.counts[slot] == 1 && known != NOWHERE && self::slot(known) == slot
    }

    #[inline(never)]
    fn find_older(&mut self, address: u64) -> Option<Place> {
        let mut found = (0..self.entries).filter(|&idx| self.known[idx] >> 2 == address >> 2);
        let mut place = self.place(found.next()?);
        let others: u64 = found.fold(0, |set, idx| set | 1 << idx);
        if others == 0 {
            self.newest[slot(address)] = place.idx as u8;
        } else {
            self.forget(place.idx);
            for idx in (0..self.entries).filter(|idx| others >> idx & 1 != 0) {
                let other = self.place(idx);
                self.forget(idx);
                place.idx |= idx;
                place.last_half |= other.last_half;
                place.target |= other.target;
            }
            place.idx = place.idx.min(self.entries - 1);
        }
        Some(place)
    }

    /// Returns whether an entry is for the group of an address.
    #[inline(always)]
    fn holds_group(&self, address: u64) -> bool {
        let slot = slot(address);
        let newest = usize::from(self.newest[slot]);
        if self.counts[slot] == 0 || self.is_only(newest, slot) {
            return self.known[newest] >> 2 == address >> 2;
        }
        let mut known = self.known[..self.entries].iter();
        known.any(|known| known >> 2 == address >> 2)
    }

    fn place(&self, idx: usize) -> Place {
        Place {
            idx,
            last_half: self.known[idx],
            target: self.targets[idx % MOST_ENTRIES].address,
            transfer: self.targets[idx % MOST_ENTRIES].transfer,
        }
    }

    /// Takes an entry for the transfer that ends at `last_half`: the one used
    /// least recently.
    pub fn add(&mut self, last_half: u64, target: u64, transfer: Transfer) {
        self.replace(self.least_recent(), last_half, target, transfer);
    }

    /// Returns the entry that was used least recently, as far as the tree tells.
    #[inline(always)]
    pub fn least_recent(&self) -> usize {
        let mut at = self.root;
        while at & LEAF == 0 {
            let is_upper = self.order >> at & 1;
            at = self.branches[usize::from(at) % MOST_ENTRIES][is_upper as usize];
        }
        usize::from(at & !LEAF)
    }

    /// Makes an entry one for the transfer that ends at `last_half`.
    #[inline(always)]
    pub fn replace(&mut self, idx: usize, last_half: u64, target: u64, transfer: Transfer) {
        let same =
            self.known[idx] == last_half && self.targets[idx % MOST_ENTRIES].address == target;
        if same && self.targets[idx % MOST_ENTRIES].transfer == transfer {
            self.touch(idx);
        } else {
            self.overwrite(idx, last_half, target, transfer);
        }
    }

    #[inline(never)]
    fn overwrite(&mut self, idx: usize, last_half: u64, target: u64, transfer: Transfer) {
        let slot = slot(last_half);
        if self.known[idx] == last_half && usize::from(self.newest[slot]) == idx {
            // The only entry for its group, and the target alone may be another one.
            if let Some(pages) = self.pages_asked_for_last(last_half, target) {
                self.touch(idx);
                self.targets[idx % MOST_ENTRIES] = Target {
                    address: target,
                    transfer,
                    pages,
                };
                return;
            }
        }
        self.remove(idx);
        let pages = self.pages(last_half, target);
        let twice = self.holds_group(last_half);
        self.known[idx] = last_half;
        self.targets[idx % MOST_ENTRIES] = Target {
            address: target,
            transfer,
            pages,
        };
        self.counts[slot] += 1;
        self.newest[slot] = if twice { NOTHING } else { idx as u8 };
    }

    /// Makes an entry one that holds nothing; counts as a use.
    pub fn remove(&mut self, idx: usize) {
        self.touch(idx);
        self.forget(idx);
    }

    fn forget(&mut self, idx: usize) {
        let old = self.known[idx];
        if old != NOWHERE {
            self.known[idx] = NOWHERE;
            self.counts[slot(old)] -= 1;
        }
    }

    /// Returns the numbers of the pages of both addresses. A page that is not
    /// known takes the place of another one, whose entries are lost.
    fn pages(&mut self, from: u64, to: u64) -> [u8; 2] {
        if let Some(pages) = self.pages_asked_for_last(from, to) {
            return pages;
        }
        let [from, to] = [from >> PAGE_SHIFT, to >> PAGE_SHIFT];
        let number = |pages: &[u64; PAGES], page| pages.iter().position(|known| *known == page);
        let known = [number(&self.pages, from), number(&self.pages, to)];
        let from_number = known[0].unwrap_or(match known[1] {
            Some(to) => (to + 1) % PAGES,
            None => self.next_page,
        });
        let to_number = match known[1] {
            Some(to) => to,
            None if from == to => from_number,
            None => (from_number + 1) % PAGES,
        };
        let mut replaced = 0;
        for (page, number) in [(from, from_number), (to, to_number)] {
            if self.pages[number] != page {
                self.pages[number] = page;
                self.lose_page(number);
                replaced += 1;
            }
        }
        let next = self.next_page + replaced;
        self.next_page = if next >= PAGES { next & 1 } else { next };
        self.last_pages = [from_number as u8, to_number as u8];
        self.last_pages
    }

    /// The same if they were asked for last.
    #[inline(always)]
    fn pages_asked_for_last(&self, from: u64, to: u64) -> Option<[u8; 2]> {
        let known = self
            .last_pages
            .map(|number| self.pages[usize::from(number)]);
        let asked = [from, to].map(|address| address >> PAGE_SHIFT);
        (known == asked).then_some(self.last_pages)
    }

    fn lose_page(&mut self, number: usize) {
        for idx in 0..self.entries {
            if self.targets[idx % MOST_ENTRIES]
                .pages
                .contains(&(number as u8))
            {
                self.forget(idx);
            }
        }
    }

    /// Marks an entry used.
    #[inline(always)]
    pub fn touch(&mut self, idx: usize) {
        self.order = self.after_use(idx);
    }

    /// The same on a condition that the host cannot foresee.
    #[inline(always)]
    pub fn touch_if(&mut self, idx: usize, condition: bool) {
        self.order = select_unpredictable(condition, self.after_use(idx), self.order);
    }

    #[inline(always)]
    fn after_use(&self, idx: usize) -> u64 {
        self.order & self.kept[idx % MOST_ENTRIES] | self.set[idx % MOST_ENTRIES]
    }
}

#[inline(always)]
fn slot(address: u64) -> usize {
    (address >> 2) as usize & (SLOTS - 1)
}

/// Returns the bits of the tree that using entry `idx` of so many changes, and
/// those of them that it sets: each tells whether the upper part below it was
/// used less recently.
fn marks(idx: usize, entries: usize) -> (u64, u64) {
    if entries < 2 {
        return (0, 0);
    }
    let lower = lower_part(entries);
    let top = 1 << (entries - 2);
    if idx < lower {
        let (changed, set) = marks(idx, lower);
        (changed | top, set | top)
    } else {
        let (changed, set) = marks(idx - lower, entries - lower);
        (changed << (lower - 1) | top, set << (lower - 1))
    }
}

/// Notes in `branches` where the bits lead that tell which of `entries` from `first` on was
/// used least recently, the lowest one of which is `bit`; returns what leads there.
fn plant(branches: &mut [[u8; 2]; MOST_ENTRIES], bit: usize, first: usize, entries: usize) -> u8 {
    if entries < 2 {
        return LEAF | first as u8;
    }
    let lower = lower_part(entries);
    let top = bit + entries - 2;
    branches[top] = [
        plant(branches, bit, first, lower),
        plant(branches, bit + lower - 1, first + lower, entries - lower),
    ];
    top as u8
}

/// Returns how many entries the lower part of a tree has: a power of two.
fn lower_part(entries: usize) -> usize {
    entries.next_power_of_two() / 2
}
