//! Caches and memory behind them: when lines arrive.

use super::config::{MemoryLevel, ScoreboardConfig};
use super::{PARTS, parts};
use std::collections::VecDeque;

/// Bytes of a line.
pub(super) const LINE: u64 = 64;

/// Bits of a line's number; those above, but for [`PARTLY`], say where the line was read, one more
/// than the number of the level, if it has not been changed since.
const NUMBER: u64 = (1 << 58) - 1;

/// Bit of a line of which only a part is there: what has been stored to.
const PARTLY: u64 = 1 << 63;

/// All bytes of a line, one a bit.
const WHOLE: u64 = u64::MAX;

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
        self.last(line) & (NUMBER | PARTLY) == line
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
        // The one that is looked for moves to the front, all before it one place back.
        let mut moved = line;
        for held in set {
            let was = std::mem::replace(held, moved);
            if was & NUMBER == line {
                self.lines[first] = was;
                return true;
            }
            moved = was;
        }
        false
    }

    /// Notes of the line used last that it was read from a level and is as it was there.
    fn note_read(&mut self, line: u64, level: usize) {
        let place = (line & self.set_mask) as usize * self.ways;
        self.lines[place] = line | (level as u64 + 1) << NUMBER.count_ones();
    }

    /// Notes of a line, if it is there, whether only a part of it is.
    fn note_part(&mut self, line: u64, is_part: bool) {
        let first = (line & self.set_mask) as usize * self.ways;
        let set = &mut self.lines[first..first + self.ways];
        for held in set.iter_mut().filter(|held| **held & NUMBER == line) {
            *held = *held & !PARTLY | if is_part { PARTLY } else { 0 };
        }
    }

    /// Returns from which level the line used last was read if it has not been changed since; from
    /// now on it has.
    fn take_read(&mut self, line: u64) -> Option<usize> {
        let place = (line & self.set_mask) as usize * self.ways;
        let held = self.lines[place];
        let level = (held & !PARTLY) >> NUMBER.count_ones();
        self.lines[place] = line | held & PARTLY;
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

/// A line that has been stored to and never read.
#[derive(Clone, Copy, Debug)]
struct Part {
    line: u64,
    /// Bytes that have been stored, one a bit.
    stored: u64,
    /// Where the others are.
    level: usize,
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
    /// The first and last line that the last access of each stream was to, the stream followed last
    /// first.
    streams: Vec<(u64, u64)>,
    /// Lines of which more may be stored before the rest is read, the oldest first.
    parts: VecDeque<Part>,
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
            streams: vec![(EMPTY, EMPTY); config.streams.max(1)],
            parts: VecDeque::new(),
            line: EMPTY,
        }
    }

    /// Returns when a line is there that a load or a fetch at `now` needs, and the level that it
    /// comes from. The access is to the lines from `first` on.
    fn read(&mut self, first: u64, line: u64, now: u64) -> (u64, usize) {
        let level = self.level_of(line);
        let Level { latency, read, .. } = self.levels[level];
        let begun = self.free.max(now);
        let foreseen = self.follows(first, line) && 0 < self.ahead;
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

    /// Returns when a store at `now` goes on that stores these bytes of a line which is not in the
    /// first cache.
    fn write(&mut self, line: u64, stored: u64, now: u64) -> u64 {
        let level = self.level_of(line);
        let write = self.levels[level].write;
        self.transfer(write, now, self.buffered * write);
        if stored != WHOLE {
            if self.buffered.max(1) <= self.parts.len() as u64
                && let Some(oldest) = self.parts.pop_front()
            {
                self.complete(oldest, now);
            }
            self.parts.push_back(Part {
                line,
                stored,
                level,
            });
            self.data.note_part(line, true);
        }
        self.free.saturating_sub(self.buffered * write).max(now)
    }

    /// Stores bytes of a line of which only a part is there.
    fn add_to_part(&mut self, line: u64, stored: u64) {
        let Some(place) = self.parts.iter().position(|part| part.line == line) else {
            return;
        };
        self.parts[place].stored |= stored;
        if self.parts[place].stored == WHOLE {
            self.parts.remove(place);
            self.data.note_part(line, false);
        }
    }

    /// Reads the rest of a line for which nobody waits.
    fn complete(&mut self, part: Part, now: u64) {
        let Level { read, write, .. } = self.levels[part.level];
        self.transfer(read, now, self.buffered * write);
        self.data.note_part(part.line, false);
    }

    /// Returns when bytes of a line of which only a part is there can be loaded at `now`.
    fn read_part(&mut self, line: u64, loaded: u64, now: u64) -> u64 {
        let place = self.parts.iter().position(|part| part.line == line);
        match place.map(|place| (place, self.parts[place])) {
            Some((place, part)) if part.stored & loaded != loaded => {
                self.parts.remove(place);
                self.complete(part, now);
                self.free.max(now)
            }
            _ => now,
        }
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
    /// The access is to the lines from `first` on.
    fn follows(&mut self, first: u64, line: u64) -> bool {
        let near = |(low, high): &(u64, u64)| {
            low.wrapping_sub(line) as i64 <= 2 && line.wrapping_sub(*high) as i64 <= 2
        };
        let place = self.streams.iter().position(near);
        let end = place.unwrap_or(self.streams.len() - 1);
        self.streams[..=end].rotate_right(1);
        self.streams[0] = (first, line);
        place.is_some()
    }

    /// Returns when bytes are there that a load at `now` needs.
    #[inline(always)]
    pub fn load(&mut self, address: u64, bytes: u64, now: u64) -> u64 {
        let (first, last) = (address / LINE, (address + bytes.max(1) - 1) / LINE);
        if first == last && self.data.is_last(first) {
            return now;
        }
        self.load_lines(address, bytes, now)
    }

    #[inline(never)]
    fn load_lines(&mut self, address: u64, bytes: u64, now: u64) -> u64 {
        let mut ready = now;
        let first = address / LINE;
        for (line, loaded) in lines_of(address, bytes) {
            if self.data.is_last(line) {
                continue;
            }
            let there = if !self.data.touch(line) {
                let (there, level) = self.read(first, line, now);
                self.data.note_read(line, level);
                there
            } else if self.data.last(line) & PARTLY != 0 {
                self.read_part(line, loaded, now)
            } else {
                now
            };
            ready = ready.max(there);
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
        self.store_lines(address, bytes, now)
    }

    #[inline(never)]
    fn store_lines(&mut self, address: u64, bytes: u64, now: u64) -> u64 {
        let mut goes_on = now;
        for (line, stored) in lines_of(address, bytes) {
            if self.data.last(line) == line {
                continue;
            }
            let after = if !self.data.touch(line) {
                self.write(line, stored, now)
            } else if let Some(level) = self.data.take_read(line) {
                self.give_back(level, now)
            } else {
                if self.data.last(line) & PARTLY != 0 {
                    self.add_to_part(line, stored);
                }
                now
            };
            goes_on = goes_on.max(after);
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
        self.read(line, line, now).0
    }
}

/// Returns the lines of an access, and which bytes of each it is to, one a bit.
fn lines_of(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = address + bytes.max(1);
    (address / LINE..=(end - 1) / LINE).map(move |line| {
        let from = address.saturating_sub(line * LINE);
        let to = (end - line * LINE).min(LINE);
        (line, WHOLE >> (LINE - (to - from)) << from)
    })
}
