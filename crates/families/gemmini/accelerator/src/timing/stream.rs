//! The rows of an operand on their way to the array.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::engine::Engine;
use super::job::Operand;

/// Source of rows that are zeros.
pub const ZEROS: u8 = u8::MAX;
/// Source of rows that come from the accumulator; lower numbers are banks of the
/// scratchpad.
pub const ACCUMULATOR: u8 = 64;

/// One of the three streams of rows of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Where rows come from.
    pub source: u8,
    /// Rows that need the bank: from `from` up to `to`.
    pub from: u8,
    pub to: u8,
    pub fired: u8,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            source: ZEROS,
            from: 0,
            to: 0,
            fired: 0,
        }
    }
}

impl Stream {
    /// Returns whether a row of it comes from the scratchpad.
    #[inline]
    pub fn needs_spad(&self) -> bool {
        (self.source < ACCUMULATOR) & (self.from < self.to)
    }

    /// Returns the bank of the scratchpad; meaningless if it needs none.
    #[inline]
    pub fn bank(&self) -> usize {
        usize::from(self.source)
    }
}

impl Engine {
    /// Returns the stream of an operand whose rows need their bank from `from` up
    /// to `to`. There are no more than 64 rows and no more than 64 banks.
    #[inline]
    pub(super) fn stream(&self, operand: &Operand, from: u32, to: u32) -> Stream {
        let bank = (operand.row() >> self.k.spad_bank_shift) as usize & (self.k.spad_banks - 1);
        Stream {
            source: if operand.is_none() | self.ideal.banks {
                ZEROS
            } else if operand.in_accumulator() {
                ACCUMULATOR
            } else {
                bank as u8
            },
            from: from as u8,
            to: to as u8,
            fired: 0,
        }
    }
}

#[inline]
pub(super) fn same_bank(a: &Stream, b: &Stream) -> bool {
    (a.source == b.source) & (a.source != ZEROS)
}

/// Returns which streams need their bank from the first row on, as bits: three
/// for the scratchpad, three for the accumulator.
pub(super) fn awaited(streams: &[Stream; 3]) -> usize {
    let needs = |place: &usize| {
        let stream = &streams[*place];
        stream.source != ZEROS && stream.from == 0 && 0 < stream.to
    };
    let shift = |place: usize| {
        if streams[place].source == ACCUMULATOR {
            place + 3
        } else {
            place
        }
    };
    (0..3).filter(needs).map(|place| 1 << shift(place)).sum()
}

/// Streams of higher priority in the same bank.
#[inline]
pub(super) fn shared_before(streams: &[Stream; 3], place: usize) -> u32 {
    streams[..place]
        .iter()
        .filter(|other| same_bank(&streams[place], other))
        .count() as u32
}

/// Cycles per row if no one else uses the banks.
#[inline]
pub fn pace(streams: &[Stream; 3]) -> u32 {
    let [a, b, d] = streams;
    let same = |one: &Stream, other: &Stream| u32::from(same_bank(one, other));
    1 + same(a, b).max(same(a, d) + same(b, d))
}
