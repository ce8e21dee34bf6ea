//! Uses of memory that are watched: races and reads of what nobody wrote become faults.

use super::access::{Failed, How};
use super::block::Block;
use super::findings::{Fault, Thread};
use super::memory::DeviceMemory;
use super::observer::Witness;
use super::precedence::Who;
use super::shadow::{Kind, Met, SEVERAL, Trouble};
use super::warp::Warp;
use crate::ptx::Space;

/// Bits of an offset in the number of a word; above them stands the buffer.
const WORD_BITS: u32 = 40;

impl<O: Witness> Block<'_, O> {
    /// Returns the thread that was met, if it is one.
    fn other(&self, met: Met) -> Option<Thread> {
        let block = met.block.unwrap_or(self.number);
        (block != SEVERAL).then(|| Thread {
            block: self.launch.block_position(block),
            thread: self.launch.thread(met.thread),
        })
    }

    fn race(
        &self,
        space: Space,
        area: Option<u32>,
        offset: usize,
        (met, warp, write): (Met, &Warp, bool),
    ) -> Fault {
        Fault::Race {
            space,
            area,
            offset: offset as u64,
            other: self.other(met),
            writes: [met.wrote, write],
            same_warp: met.block.is_none() && met.thread / 32 == warp.number,
        }
    }

    /// Looks whether a use of shared memory is right.
    pub(super) fn watch_shared(
        &mut self,
        warp: &Warp,
        lane: u32,
        how: How,
        at: usize,
        same: bool,
    ) -> Result<(), Failed> {
        let by = Who {
            warp: warp.number,
            lane,
        };
        let bytes = how.bytes as usize;
        if !how.write
            && how.kind == Kind::Plain
            && (self.shared_shadow).read_again(at, bytes, by, &self.precedence)
        {
            return Ok(());
        }
        if self.shared_shadow.is_outside(at, bytes) {
            let before = self
                .kernel
                .shared_gaps
                .iter()
                .rev()
                .find(|it| it.start <= at);
            return Err((
                Fault::OutOfBounds {
                    space: Space::Shared,
                    area: None,
                    size: self.launch.shared_bytes(self.kernel),
                    distance: before.map_or(0, |it| at as i64 - it.start as i64),
                    bytes: how.bytes,
                    write: how.write,
                },
                lane,
            ));
        }
        if how.kind == Kind::Strong {
            self.strong(by, how, at as u64);
            if self.precedence.is_full() {
                return Err((Fault::TooLong { steps: self.time }, lane));
            }
        }
        let result = match how.write {
            true => (self.shared_shadow).write(at, bytes, by, (how.kind, same), &self.precedence),
            false if !self.shared_shadow.is_written(at, bytes) => Err(Trouble::Uninitialised),
            false => (self.shared_shadow).read(at, bytes, by, how.kind, &self.precedence),
        };
        result.map_err(|trouble| {
            (
                self.fault(Space::Shared, None, at, (trouble, warp, how)),
                lane,
            )
        })
    }

    /// Looks whether a use of global memory is right.
    pub(super) fn watch_global(
        &mut self,
        warp: &Warp,
        lane: u32,
        how: How,
        area: usize,
        at: usize,
        same: bool,
    ) -> Result<(), Failed> {
        let by = Who {
            warp: warp.number,
            lane,
        };
        let bytes = how.bytes as usize;
        if how.kind == Kind::Strong {
            self.strong(by, how, (area as u64 + 1) << WORD_BITS | at as u64);
            if self.precedence.is_full() {
                return Err((Fault::TooLong { steps: self.time }, lane));
            }
        }
        let of = self.memory.area(area);
        let mut result = Ok(());
        if let Some(initialised) = &mut of.initialised {
            if how.write {
                initialised.mark(at, bytes);
            } else if !initialised.is_written(at, bytes) {
                result = Err(Trouble::Uninitialised);
            }
        }
        if let (Ok(()), Some(shadow)) = (result, &mut of.shadow) {
            result = match how.write {
                true => shadow.write(at, bytes, by, (how.kind, same), &self.precedence),
                false => shadow.read(at, bytes, by, how.kind, &self.precedence),
            };
        }
        result.map_err(|trouble| {
            let area = DeviceMemory::buffer_of(area);
            (
                self.fault(Space::Global, area, at, (trouble, warp, how)),
                lane,
            )
        })
    }

    /// Lets others see what threads of a warp have written, and what they know.
    pub(super) fn fence(&mut self, warp: &Warp, lanes: u32, is_of_device: bool) {
        match is_of_device {
            true => self.show_all(warp.number, lanes),
            false => self.show_block(warp.number, lanes),
        }
        if self.is_watched {
            self.precedence.fence(warp.number, lanes, is_of_device);
        }
    }

    /// Passes on what threads know by words that they use atomically.
    fn strong(&mut self, by: Who, how: How, word: u64) {
        match how.write {
            true => self.precedence.release(by, word),
            false => self.precedence.acquire(by, word),
        }
    }

    #[cold]
    fn fault(
        &self,
        space: Space,
        area: Option<u32>,
        at: usize,
        (trouble, warp, how): (Trouble, &Warp, How),
    ) -> Fault {
        match trouble {
            Trouble::Race(met) => self.race(space, area, at, (met, warp, how.write)),
            Trouble::Uninitialised => Fault::Uninitialised {
                space,
                area,
                offset: at as u64,
            },
            Trouble::Changed(met) => Fault::Changed {
                area,
                offset: at as u64,
                other: self.other(met),
            },
        }
    }
}
