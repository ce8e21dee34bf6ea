//! Caches and memory behind them: when lines arrive.

use super::config::{MemoryLevel, ScoreboardConfig};
use super::{PARTS, parts};

/// Bytes of a line.
pub(super) const LINE: u64 = 64;

/// Bits of a line's number; those above say where the line was read, one more than the number of the
/// level, if it has not been changed since.
const NUMBER: u64 = (1 << 58) - 1;

const EMPTY: u64 = NUMBER;

/// Tags of a cache whose sets give up the line that was used least recently.
#[derive(Clone, Debug)]
struct Tags {
    set_mask: u64,
    ways: usize,
    /// Set by set, the line used last first.
    lines: Vec<u64>,
}

impl Tags {
    /// Makes an empty cache; memory holds everything.
    fn new(level: &MemoryLevel) -> Self {
        let ways = level.ways.max(1);
        let sets = (level.bytes as u64 / LINE / ways as u64).max(1);
        let sets = sets.next_power_of_two();
        Self {
            set_mask: sets - 1,
            ways,
            lines: vec![EMPTY; sets as usize * ways],
        }
    }

    /// Returns whether a line is the one of its set that was used last: to use it again
    /// changes nothing.
    #[inline(always)]
    fn is_last(&self, line: u64) -> bool {
        self.last(line) & NUMBER == line
    }

    /// Returns the line of the set of `line` that was used last, with what is known of it.
    #[inline(always)]
    fn last(&self, line: u64) -> u64 {
        self.lines[(line & self.set_mask) as usize * self.ways]
    }

    /// Uses a line and puts it in if it is not there; returns whether it was.
    fn touch(&mut self, line: u64) -> bool {
        let first = (line & self.set_mask) as usize * self.ways;
        let set = &mut self.lines[first..first + self.ways];
        let place = set.iter().position(|held| held & NUMBER == line);
        set[..=place.unwrap_or(self.ways - 1)].rotate_right(1);
        if place.is_none() {
            set[0] = line;
        }
        place.is_some()
    }

    /// Notes of the line used last that it was read from a level and is as it was there.
    fn note_read(&mut self, line: u64, level: usize) {
        let place = (line & self.set_mask) as usize * self.ways;
        self.lines[place] = line | (level as u64 + 1) << NUMBER.count_ones();
    }

    /// Returns from which level the line used last was read if it has not been changed since; from
    /// now on it has.
    fn take_read(&mut self, line: u64) -> Option<usize> {
        let place = (line & self.set_mask) as usize * self.ways;
        let level = self.lines[place] >> NUMBER.count_ones();
        self.lines[place] = line;
        (level as usize).checked_sub(1)
    }
}

/// A level behind the first caches.
#[derive(Clone, Debug)]
struct Level {
    /// None for memory.
    tags: Option<Tags>,
    latency: u64,
    read: u64,
    write: u64,
}

/// All caches and the memory. Times are in parts of a cycle.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    data: Tags,
    instructions: Tags,
    levels: Vec<Level>,
    /// When what lies behind the first caches has time for another line.
    free: u64,
    ahead: u64,
    buffered: u64,
    /// The last line of each stream, the one followed last first.
    streams: Vec<u64>,
    line: u64,
}

impl Hierarchy {
    pub fn new(config: &ScoreboardConfig) -> Self {
        let levels = config.levels.iter().map(|level| Level {
            tags: (level.bytes > 0).then(|| Tags::new(level)),
            latency: level.latency * PARTS,
            read: parts(level.read_line_cycles),
            write: parts(level.write_line_cycles),
        });
        Self {
            data: Tags::new(&config.data_cache),
            instructions: Tags::new(&config.instruction_cache),
            levels: levels.collect(),
            free: 0,
            ahead: config.lines_ahead,
            buffered: config.store_buffer,
            streams: vec![EMPTY; config.streams.max(1)],
            line: EMPTY,
        }
    }

    /// Returns when a line is there that a load or a fetch at `now` needs, and the level that it
    /// comes from.
    fn read(&mut self, line: u64, now: u64) -> (u64, usize) {
        let level = self.level_of(line);
        let Level { latency, read, .. } = self.levels[level];
        let begun = self.free.max(now);
        let foreseen = self.follows(line) && 0 < self.ahead;
        self.transfer(read, now, self.ahead * read);
        let there = match foreseen {
            true => self.free.max(now),
            false => begun + latency,
        };
        (there, level)
    }

    /// Returns when a store at `now` goes on that changes a line first which was read from a
    /// level: it will go back there.
    fn give_back(&mut self, level: usize, now: u64) -> u64 {
        let write = self.levels[level].write;
        self.transfer(write, now, self.buffered * write);
        self.free.saturating_sub(self.buffered * write).max(now)
    }

    /// Returns when a store at `now` goes on whose line is not in the first cache.
    fn write(&mut self, line: u64, now: u64) -> u64 {
        let level = self.level_of(line);
        let Level { latency, write, .. } = self.levels[level];
        // What is not written as a whole has to be read first, but nobody waits for that.
        let more = if self.follows(line) { 0 } else { latency / 4 };
        self.transfer(write + more, now, self.buffered * write);
        self.free.saturating_sub(self.buffered * write).max(now)
    }

    /// Takes time to move a line: since lines of streams are fetched ahead and those to write
    /// are buffered, that may lie up to `early` before `now`.
    fn transfer(&mut self, time: u64, now: u64, early: u64) {
        self.free = self.free.max(now.saturating_sub(early)) + time;
    }

    /// Returns the nearest level that holds a line, and puts it into those before.
    fn level_of(&mut self, line: u64) -> usize {
        let last = self.levels.len() - 1;
        let holds = |level: &mut Level| level.tags.as_mut().is_none_or(|tags| tags.touch(line));
        self.levels.iter_mut().position(holds).unwrap_or(last)
    }

    /// Returns whether a line continues a stream, in either direction, or begins one.
    fn follows(&mut self, line: u64) -> bool {
        let near = |last: &u64| line.wrapping_sub(*last).wrapping_add(2) <= 4;
        let place = self.streams.iter().position(near);
        let end = place.unwrap_or(self.streams.len() - 1);
        self.streams[..=end].rotate_right(1);
        self.streams[0] = line;
        place.is_some()
    }

    /// Returns when bytes are there that a load at `now` needs.
    #[inline(always)]
    pub fn load(&mut self, address: u64, bytes: u64, now: u64) -> u64 {
        let (first, last) = (address / LINE, (address + bytes.max(1) - 1) / LINE);
        if first == last && self.data.is_last(first) {
            return now;
        }
        self.load_lines(first, last, now)
    }

    #[inline(never)]
    fn load_lines(&mut self, first: u64, last: u64, now: u64) -> u64 {
        let mut ready = now;
        for line in first..=last {
            if !self.data.touch(line) {
                let (there, level) = self.read(line, now);
                self.data.note_read(line, level);
                ready = ready.max(there);
            }
        }
        ready
    }

    /// Returns when a store of bytes at `now` goes on.
    #[inline(always)]
    pub fn store(&mut self, address: u64, bytes: u64, now: u64) -> u64 {
        let (first, last) = (address / LINE, (address + bytes.max(1) - 1) / LINE);
        if first == last && self.data.last(first) == first {
            return now;
        }
        self.store_lines(first, last, now)
    }

    #[inline(never)]
    fn store_lines(&mut self, first: u64, last: u64, now: u64) -> u64 {
        let mut goes_on = now;
        for line in first..=last {
            let after = match self.data.touch(line) {
                true => self
                    .data
                    .take_read(line)
                    .map(|level| self.give_back(level, now)),
                false => Some(self.write(line, now)),
            };
            goes_on = goes_on.max(after.unwrap_or(now));
        }
        goes_on
    }

    /// Returns when an instruction at `pc` is there, which the fetch unit needs at `now`.
    #[inline(always)]
    pub fn fetch(&mut self, pc: u64, now: u64) -> u64 {
        let line = pc / LINE;
        if line == self.line {
            return now;
        }
        self.fetch_line(line, now)
    }

    #[inline(never)]
    fn fetch_line(&mut self, line: u64, now: u64) -> u64 {
        self.line = line;
        if self.instructions.touch(line) {
            return now;
        }
        self.read(line, now).0
    }
}
