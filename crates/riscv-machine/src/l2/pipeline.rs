//! The data pipeline of the L2 and the banks of its array.
//!
//! A beat is read in the first stage and written in the fourth one, if anything is
//! written into it. Victims that
//! leave, lines that come from memory and what the core hands over use the banks
//! first; a beat that finds its bank in use waits, and all behind it. What is still
//! behind the first stage need not be read again. As long as
//! nothing else uses banks, reads just pass; else the stages are followed cycle by
//! cycle, but only once something depends on them.
//!
//! *Source*: SiFive's inclusive cache, `SourceD`, `BankedStore`.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::{BANKS, BEATS};

/// Cycles after which a request that still waits is taken as answered.
const MOST: u64 = 256;
/// Cycles of which a word tells which banks are in use, a bit per bank.
const CYCLES: u64 = 64 / BANKS as u64;
const WORDS: usize = 64;

/// Banks, a bit each.
type Banks = u8;

/// One bank in each of the cycles of a word.
const EACH: u64 = 0x1111_1111_1111_1111;
/// The banks of beats that pass one per cycle, those of the first cycle in the lowest
/// bits, by the bank of the first one.
const PASSING: [u64; BANKS] = [0x8421, 0x1842, 0x2184, 0x4218];
const ALL: Banks = (1 << BANKS) - 1;

/// Which banks are in use in which cycles, in a window of 1024 cycles.
#[derive(Clone, Debug)]
struct Uses {
    /// Which cycles a word stands for, and the word.
    words: [(u64, u64); WORDS],
    /// Cycle from which none is in use as far as is known.
    until: u64,
}

impl Uses {
    #[inline]
    fn word(&self, epoch: u64) -> u64 {
        let (of, word) = self.words[epoch as usize % WORDS];
        if of == epoch { word } else { 0 }
    }

    /// Returns which banks are in use in cycle `at`.
    #[inline]
    fn at(&self, at: u64) -> Banks {
        (self.word(at / CYCLES) >> (at % CYCLES * BANKS as u64)) as Banks & ALL
    }

    /// Returns which banks are in use in the cycles from `at` on, the first one's in
    /// the lowest bits.
    #[inline]
    fn from(&self, at: u64) -> u64 {
        let (epoch, shift) = (at / CYCLES, at % CYCLES * BANKS as u64);
        let low = self.word(epoch) >> shift;
        if shift == 0 {
            low
        } else {
            low | self.word(epoch + 1) << (64 - shift)
        }
    }

    /// Returns the first cycle from `at` on in which a bank is not in use.
    #[inline]
    fn first_free(&self, bank: u8, mut at: u64) -> u64 {
        loop {
            let free = !self.from(at) & EACH << bank;
            if free != 0 {
                return at + u64::from(free.trailing_zeros()) / BANKS as u64;
            }
            at += CYCLES;
        }
    }

    fn mark_word(&mut self, epoch: u64, uses: u64) {
        let (of, word) = &mut self.words[epoch as usize % WORDS];
        if *of != epoch {
            *of = epoch;
            *word = 0;
        }
        *word |= uses;
    }

    /// Marks banks in `cycles` cycles from `at` on, those of the first cycle in the
    /// lowest bits.
    #[inline]
    fn mark(&mut self, at: u64, uses: u64, cycles: u64) {
        let (epoch, shift) = (at / CYCLES, at % CYCLES * BANKS as u64);
        self.mark_word(epoch, uses << shift);
        if shift != 0 && uses >> (64 - shift) != 0 {
            self.mark_word(epoch + 1, uses >> (64 - shift));
        }
        self.until = self.until.max(at + cycles);
    }
}

/// Place of no beat.
const NOWHERE: u64 = u64::MAX;

/// Beats in the pipeline.
#[derive(Clone, Copy, Debug)]
struct Stages {
    /// Beats left in the first stage, the place and bank of the next one, whether they
    /// are read, which of them are written, a bit each, whether it has come in this
    /// cycle, and whether it has to be read.
    left: u8,
    place: u64,
    bank: Banks,
    reads: bool,
    writes: u8,
    is_new: bool,
    to_read: bool,
    /// Whether the second and the third stage hold a beat.
    second: bool,
    third: bool,
    /// Banks to be written from the second to the fourth stage, and the places of
    /// the beats there.
    to_write: [Banks; 3],
    places: [u64; 3],
}

impl Stages {
    const EMPTY: Self = Self {
        left: 0,
        place: NOWHERE,
        bank: 0,
        reads: false,
        writes: 0,
        is_new: false,
        to_read: false,
        second: false,
        third: false,
        to_write: [0; 3],
        places: [NOWHERE; 3],
    };

    /// Lets a cycle pass in which some banks are in use; returns whether a beat goes
    /// on to the third stage.
    #[inline]
    fn step(&mut self, busy: Banks) -> bool {
        let writing = self.to_write[2];
        let fourth_ready = writing & busy == 0;
        let third_ready = !self.third | fourth_ready;
        let second_ready = !self.second | third_ready;
        let active = self.left > 0;
        if self.is_new {
            self.is_new = false;
            self.to_read = self.reads && !self.places.contains(&self.place);
        }
        self.to_read &= (busy | writing) & self.bank != 0;
        let enters = active & second_ready & !self.to_read;
        if fourth_ready {
            self.to_write[2] = std::mem::take(&mut self.to_write[1]);
            self.places[2] = std::mem::replace(&mut self.places[1], NOWHERE);
            self.third = false;
        }
        let goes_on = self.second & third_ready;
        if goes_on {
            self.third = true;
            self.to_write[1] = std::mem::take(&mut self.to_write[0]);
            self.places[1] = std::mem::replace(&mut self.places[0], NOWHERE);
            self.second = false;
        }
        if enters {
            self.second = true;
            self.to_write[0] = self.bank & (self.writes & 1).wrapping_neg();
            self.writes >>= 1;
            self.places[0] = self.place;
            self.left -= 1;
            self.place += 1;
            self.is_new = self.left > 0;
            self.bank = (self.bank << 1 | self.bank >> (BANKS - 1)) & ALL;
        }
        goes_on
    }

    /// Whether nothing in it can wait any more.
    #[inline]
    fn is_clear(&self) -> bool {
        self.left == 0 && self.to_write == [0; 3]
    }
}

#[derive(Clone, Debug)]
pub struct Pipeline {
    stages: Stages,
    /// Cycle up to which the stages have been followed, if they are not clear.
    followed: u64,
    is_clear: bool,
    /// The last beats that have been read while it was clear and banks were in use:
    /// their places and cycles.
    passed: [(u64, u64); 3],
    /// What uses banks before the pipeline's beats.
    uses: Uses,
    /// What a line uses that comes or goes, if it takes few cycles.
    line: u64,
    line_cycles: u64,
}

impl Pipeline {
    /// Makes an empty pipeline; a line comes or goes in `line_cycles` cycles.
    pub fn new(line_cycles: u64) -> Self {
        let bank = |cycle: u64| 1 << (cycle * BEATS / line_cycles % BANKS as u64);
        let line = (0..line_cycles.min(CYCLES))
            .map(|cycle| bank(cycle) << (cycle * BANKS as u64))
            .fold(0, |line, banks: u64| line | banks);
        Self {
            stages: Stages::EMPTY,
            passed: [(NOWHERE, 0); 3],
            followed: 0,
            is_clear: true,
            uses: Uses {
                words: [(u64::MAX, 0); WORDS],
                until: 0,
            },
            line,
            line_cycles,
        }
    }

    /// A bank is in use in cycle `at`.
    #[inline]
    pub(super) fn mark_bank(&mut self, bank: usize, at: u64) {
        self.uses.mark(at, 1 << (bank % BANKS), 1);
    }

    /// A line comes or goes from cycle `from` on.
    pub fn mark_line(&mut self, from: u64) {
        if self.line_cycles <= CYCLES {
            self.uses.mark(from, self.line, self.line_cycles);
            return;
        }
        for cycle in 0..self.line_cycles {
            self.mark_bank((cycle * BEATS / self.line_cycles) as usize, from + cycle);
        }
    }

    /// Follows the stages up to cycle `now`; returns from which cycle on the first
    /// stage could be free.
    #[inline]
    pub fn follow(&mut self, now: u64) -> u64 {
        if self.is_clear {
            0
        } else {
            self.follow_stages(now)
        }
    }

    fn follow_stages(&mut self, now: u64) -> u64 {
        let long = 2 * u64::from(self.stages.left) + 2 * self.stages.to_write.len() as u64;
        if self.uses.until <= self.followed && self.followed + long <= now {
            // Beats wait for each other only.
            self.is_clear = true;
            return 0;
        }
        while self.followed < now {
            self.stages.step(self.uses.at(self.followed));
            self.followed += 1;
            if self.stages.is_clear() {
                self.is_clear = true;
                return 0;
            }
        }
        now + u64::from(self.stages.left)
    }

    /// Takes a request of some beats from `place` on (the number of a beat in memory)
    /// in cycle `now`; returns the
    /// cycles in which the first and the last beat would be in the first stage if
    /// nothing kept them behind it, as far as is known, and that from which the first
    /// stage could be free. Of what only writes, the first one counts.
    pub fn take(
        &mut self,
        (place, beats): (u64, u8),
        reads: bool,
        writes: u8,
        now: u64,
    ) -> (u64, u64, u64) {
        if writes == 0 && self.is_clear {
            let (first, last) = self.read((place, beats), now);
            return (first, last, last + 1);
        }
        self.enter((place, beats), reads, writes, now);
        let (mut first, mut last) = (now, now + u64::from(beats) - 1);
        let end = last + 1;
        if reads || self.uses.until > now {
            (first, last) = self.foresee(now);
        }
        (first, last, end)
    }

    /// Returns whether no beat is in the pipeline that others have to wait for.
    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        self.is_clear
    }

    /// Takes a request that only reads, if the pipeline is clear, as above; the first
    /// stage is free behind its last beat.
    #[inline]
    pub(super) fn read(&mut self, (place, beats): (u64, u8), now: u64) -> (u64, u64) {
        if self.uses.until <= now {
            return (now, now + u64::from(beats) - 1);
        }
        let wanted = PASSING[place as usize % BANKS] & ((1 << (u64::from(beats) * 4)) - 1);
        if self.uses.from(now) & wanted == 0 {
            return self.pass((place, beats), now);
        }
        self.read_between((place, beats), now)
    }

    /// Reads beats, if they may find their banks in use.
    #[inline(never)]
    fn read_between(&mut self, (place, beats): (u64, u8), now: u64) -> (u64, u64) {
        let beats = u64::from(beats);
        let is_among = |passed: &(u64, u64)| passed.0.wrapping_sub(place) < beats;
        if self.passed.iter().any(is_among) {
            return self.read_again((place, beats), now);
        }
        let free = !self.uses.from(now);
        let [mut oldest, mut older, mut old] = self.passed;
        let (mut first, mut at) = (None, now);
        for place in place..place + beats {
            let bank = place % BANKS as u64;
            let free = match at - now {
                ahead @ 0..CYCLES => free >> (ahead * BANKS as u64) & (EACH << bank),
                _ => 0,
            };
            at = if free == 0 {
                self.uses.first_free(bank as u8, at)
            } else {
                at + u64::from(free.trailing_zeros()) / BANKS as u64
            };
            first.get_or_insert(at);
            (oldest, older, old) = (older, old, (place, at));
            at += 1;
        }
        self.passed = [oldest, older, old];
        (first.unwrap_or(now), at - 1)
    }

    /// The same, if some of the beats may be among the last ones.
    #[inline(never)]
    fn read_again(&mut self, (place, beats): (u64, u64), now: u64) -> (u64, u64) {
        let (mut first, mut at) = (None, now);
        for place in place..place + beats {
            let is_behind = |passed: &(u64, u64)| passed.0 == place && at <= passed.1 + 3;
            if !self.passed.iter().any(is_behind) {
                at = self.uses.first_free((place % BANKS as u64) as u8, at);
            }
            self.passed.rotate_left(1);
            self.passed[2] = (place, at);
            first.get_or_insert(at);
            at += 1;
        }
        (first.unwrap_or(now), at - 1)
    }

    /// Returns the cycles of the first and the last of beats that find no bank in use.
    #[inline]
    fn pass(&mut self, (place, beats): (u64, u8), now: u64) -> (u64, u64) {
        let beats = u64::from(beats);
        let beat = |beat: u64| (place + beat, now + beat);
        match beats {
            3.. => self.passed = [beat(beats - 3), beat(beats - 2), beat(beats - 1)],
            2 => self.passed = [self.passed[2], beat(0), beat(1)],
            _ => self.passed = [self.passed[1], self.passed[2], beat(0)],
        }
        (now, now + beats - 1)
    }

    fn enter(&mut self, (place, beats): (u64, u8), reads: bool, writes: u8, now: u64) {
        if self.is_clear {
            self.stages = Stages::EMPTY;
            self.is_clear = false;
        }
        self.followed = now;
        self.stages.left = beats;
        self.stages.place = place;
        self.stages.bank = 1 << (place % BANKS as u64);
        self.stages.reads = reads;
        self.stages.writes = writes;
        self.stages.is_new = true;
    }

    /// Returns the cycles in which the first and the last beat of the request taken
    /// in cycle `now` would be in the first stage, as above.
    fn foresee(&self, now: u64) -> (u64, u64) {
        let mut stages = self.stages;
        let mut left = stages.left;
        let mut ahead = stages.second;
        let mut first = None;
        for at in now..now + MOST {
            if !stages.step(self.uses.at(at)) {
                continue;
            }
            if ahead {
                ahead = false;
                continue;
            }
            let first = *first.get_or_insert(at - 1);
            left -= 1;
            if left == 0 || !self.stages.reads {
                return (first, at - 1);
            }
        }
        (now + MOST, now + MOST)
    }
}
