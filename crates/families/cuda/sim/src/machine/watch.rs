//! Uses of memory that are watched: races and reads of what nobody wrote become faults.

use super::access::{Failed, How};
use super::block::Block;
use super::findings::Fault;
use super::memory::DeviceMemory;
use super::observer::Witness;
use super::shadow::{GlobalUse, Met, Trouble, Use};
use super::warp::Warp;
use crate::ptx::Space;

impl<O: Witness> Block<'_, O> {
    #[inline]
    fn user(&self, warp: &Warp, lane: u32) -> Use {
        Use {
            thread: (warp.number * 32 + lane) as u16,
            barriers: self.barriers_passed,
            meetings: warp.meetings,
        }
    }

    fn race(
        &self,
        space: Space,
        area: Option<u32>,
        offset: usize,
        met: Met,
        warp: &Warp,
        write: bool,
    ) -> Fault {
        Fault::Race {
            space,
            area,
            offset: offset as u64,
            other: self.launch.thread(u32::from(met.thread)),
            other_block: met.block,
            writes: [met.wrote, write],
            same_warp: met.block.is_none() && u32::from(met.thread) / 32 == warp.number,
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
        let by = self.user(warp, lane);
        let bytes = how.bytes as usize;
        let result = match how.write {
            true => self.shared_shadow.write(at, bytes, by, how.atomic, same),
            false => self.shared_shadow.read(at, bytes, by, how.atomic),
        };
        result.map_err(|trouble| {
            let fault = match trouble {
                Trouble::Race(met) => self.race(Space::Shared, None, at, met, warp, how.write),
                Trouble::Uninitialised => Fault::Uninitialised {
                    space: Space::Shared,
                    area: None,
                    offset: at as u64,
                },
            };
            (fault, lane)
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
        let by = GlobalUse {
            by: self.user(warp, lane),
            block: self.number,
            time: self.time,
        };
        let bytes = how.bytes as usize;
        let of = self.memory.area(area);
        if let Some(initialised) = &mut of.initialised {
            if how.write {
                initialised.mark(at, bytes);
            } else if !initialised.is_written(at, bytes) {
                let fault = Fault::Uninitialised {
                    space: Space::Global,
                    area: DeviceMemory::buffer_of(area),
                    offset: at as u64,
                };
                return Err((fault, lane));
            }
        }
        let Some(shadow) = &mut of.shadow else {
            return Ok(());
        };
        let result = match how.write {
            true => shadow.write(at, bytes, by, how.atomic, same, self.order),
            false => shadow.read(at, bytes, by, how.atomic, self.order),
        };
        result.map_err(|met| {
            let area = DeviceMemory::buffer_of(area);
            (
                self.race(Space::Global, area, at, met, warp, how.write),
                lane,
            )
        })
    }
}
