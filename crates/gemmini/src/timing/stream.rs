//! The rows of an operand on their way to the array.

use super::engine::Engine;
use super::job::Operand;

/// One of the three streams of rows of an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    /// Rows come from a bank (otherwise they are zeros).
    pub(super) reads: bool,
    pub(super) accumulator: bool,
    pub(super) bank: u8,
    /// Rows that need the bank: from `from` up to `to`.
    pub(super) from: u8,
    pub(super) to: u8,
    pub(super) fired: u8,
}

impl Stream {
    /// Returns whether it uses a bank of the scratchpad.
    #[inline]
    pub(super) fn uses_spad(&self) -> bool {
        self.reads && !self.accumulator
    }

    /// Returns whether a row of it comes from the scratchpad.
    #[inline]
    pub(super) fn needs_spad(&self) -> bool {
        self.uses_spad() & (self.from < self.to)
    }
}

impl Engine {
    /// Returns the stream of an operand whose rows need their bank from `from` up
    /// to `to`. There are no more than 64 rows and no more than 64 banks.
    #[inline]
    pub(super) fn stream(&self, operand: &Operand, from: u32, to: u32) -> Stream {
        let reads = !operand.is_none() && !self.ideal.banks;
        Stream {
            reads,
            accumulator: operand.in_accumulator(),
            bank: if reads {
                self.bank(operand.in_accumulator(), operand.row()) as u8
            } else {
                0
            },
            from: from as u8,
            to: to as u8,
            fired: 0,
        }
    }
}

#[inline]
pub(super) fn same_bank(a: &Stream, b: &Stream) -> bool {
    a.reads && b.reads && a.accumulator == b.accumulator && (a.accumulator || a.bank == b.bank)
}

/// Returns which streams need their bank from the first row on, as bits: three
/// for the scratchpad, three for the accumulator.
pub(super) fn awaited(streams: &[Stream; 3]) -> usize {
    let needs = |place: &usize| {
        let stream = &streams[*place];
        stream.reads && stream.from == 0 && 0 < stream.to
    };
    let bit = |place: usize| 1 << (place + if streams[place].accumulator { 3 } else { 0 });
    (0..3).filter(needs).map(bit).sum()
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
pub(super) fn pace(streams: &[Stream; 3]) -> u32 {
    let [a, b, d] = streams.map(|stream| stream.reads);
    if u8::from(a) + u8::from(b) + u8::from(d) < 2 {
        return 1;
    }
    1 + shared_before(streams, 1).max(shared_before(streams, 2))
}
