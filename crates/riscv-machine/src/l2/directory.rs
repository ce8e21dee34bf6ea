//! The L2's directory: which lines it holds and in which state.
//!
//! *Source*: SiFive's inclusive cache, `Directory`.

use super::trackers::Victim;

pub(super) const DIRTY: u64 = 2;
/// The core holds the line for reading.
pub(super) const SHARED: u64 = 4;
/// The core holds the line alone.
pub(super) const OWNED: u64 = 8;
/// The core has written the line.
pub(super) const CORE_DIRTY: u64 = 16;
pub(super) const CORE: u64 = SHARED | OWNED | CORE_DIRTY;
/// The highest bit of the state: an entry less the tag of its line and this is smaller
/// than this.
const VALID: u64 = 128;
const TAG_SHIFT: u32 = 8;

#[derive(Clone, Debug)]
pub(super) struct Directory {
    /// State and tag of each place, the ways of a set side by side.
    entries: Vec<u64>,
    set_mask: u64,
    ways: usize,
    /// Shift register that chooses victims.
    random: u16,
}

impl Directory {
    /// Makes an empty directory of at least `lines` lines in sets of `ways`
    /// lines; the number of sets is a power of two.
    pub(super) fn new(lines: usize, ways: usize) -> Self {
        let ways = ways.max(1);
        let sets = (lines / ways).max(1).next_power_of_two();
        Self {
            entries: vec![0; sets * ways],
            set_mask: sets as u64 - 1,
            ways,
            random: 1,
        }
    }

    pub(super) fn sets(&self) -> usize {
        self.set_mask as usize + 1
    }

    /// Returns the place of a line, if the L2 holds it.
    #[inline]
    pub(super) fn find(&self, line: u64) -> Option<usize> {
        let start = (line & self.set_mask) as usize * self.ways;
        let wanted = line << TAG_SHIFT | VALID;
        let ways = &self.entries[start..start + self.ways];
        let is_wanted = |entry: u64| entry.wrapping_sub(wanted) < VALID;
        let way = match <&[u64; 8]>::try_from(ways) {
            // All of them: which way it is cannot be foreseen.
            Ok(ways) => {
                let other = |found, way| if is_wanted(ways[way]) { way } else { found };
                let found = (0..8).fold(usize::MAX, other);
                (found != usize::MAX).then_some(found)
            }
            Err(_) => ways.iter().position(|entry| is_wanted(*entry)),
        };
        way.map(|way| start + way)
    }

    /// Chooses a victim and gives its place to `line`.
    pub(super) fn replace(&mut self, line: u64) -> (usize, Option<Victim>) {
        // The directory does not prefer ways that are empty.
        let random = usize::from(self.random & 0x3ff) * self.ways / 0x400;
        let slot = (line & self.set_mask) as usize * self.ways + random;
        let entry = self.entries[slot];
        self.entries[slot] = line << TAG_SHIFT | VALID;
        let victim = (entry & VALID != 0).then_some(Victim {
            line: entry >> TAG_SHIFT,
            dirty: entry & (DIRTY | CORE_DIRTY) != 0,
            core: entry & CORE != 0,
            core_dirty: entry & CORE_DIRTY != 0,
        });
        (slot, victim)
    }

    /// Notes that a line is looked up: the 16-bit linear feedback shift register
    /// shifts each time.
    #[inline]
    pub(super) fn note_lookup(&mut self) {
        let random = self.random;
        let bit = (random ^ random >> 2 ^ random >> 3 ^ random >> 5) & 1;
        self.random = random >> 1 | bit << 15;
    }

    /// State bits of a place.
    #[inline]
    pub(super) fn entry(&self, slot: usize) -> u64 {
        self.entries[slot]
    }

    /// Clears and sets state bits of a place.
    #[inline]
    pub(super) fn change(&mut self, slot: usize, clear: u64, set: u64) {
        self.entries[slot] = self.entries[slot] & !clear | set;
    }
}
