//! Places of memory that one thread uses, and what it reads and writes there.

use super::access::{Failed, How};
use super::block::Block;
use super::findings::Fault;
use super::memory::{DeviceMemory, read_value, write_value};
use super::observer::Witness;
use super::warp::Warp;
use crate::decode::{LOCAL_WINDOW, SHARED_WINDOW, space_at};
use crate::ptx::Space;

impl How {
    /// Names the memory that the access goes to, and the address within that memory.
    #[inline(always)]
    pub(super) fn resolved(self, address: u64) -> (Self, u64) {
        if self.space != Space::Generic {
            return (self, address);
        }
        let space = space_at(address);
        let window = match space {
            Space::Shared => SHARED_WINDOW,
            Space::Local => LOCAL_WINDOW,
            _ => 0,
        };
        (Self { space, ..self }, address - window)
    }
}

impl<O: Witness> Block<'_, O> {
    /// Returns where a thread's access to memory of the block or of itself begins.
    #[inline(always)]
    pub(super) fn inner_place(&self, how: How, address: u64, size: u64) -> Result<usize, Fault> {
        if !address.is_multiple_of(how.bytes.into()) {
            return Err(Fault::Misaligned {
                address,
                bytes: how.bytes,
            });
        }
        if size < address.saturating_add(how.bytes.into()) {
            // Addresses before the begin wrap around.
            let address = if u64::from(u32::MAX) < size {
                address
            } else {
                address & 0xffff_ffff
            };
            let near = address as u32 as i32;
            let distance = if near < 0 {
                i64::from(near)
            } else {
                address as i64 - size as i64
            };
            return Err(Fault::OutOfBounds {
                space: how.space,
                area: None,
                size,
                distance,
                bytes: how.bytes,
                write: how.write,
            });
        }
        Ok(address as usize)
    }

    /// Reads `bytes` bytes for one thread.
    #[inline(always)]
    pub(super) fn read_one(
        &mut self,
        warp: &Warp,
        lane: u32,
        how: How,
        address: u64,
    ) -> Result<u64, Failed> {
        let in_lane = |fault: Fault| (fault, lane);
        let (how, address) = how.resolved(address);
        match how.space {
            Space::Shared => {
                let at = self
                    .inner_place(how, address, self.shared.len() as u64)
                    .map_err(in_lane)?;
                if self.is_watched {
                    self.watch_shared(warp, lane, how, at, false)?;
                }
                Ok(read_value(&self.shared, at, how.bytes))
            }
            Space::Local => {
                let size = self.kernel.local_bytes;
                let at = self.inner_place(how, address, size).map_err(in_lane)?;
                Ok(read_value(
                    &warp.local,
                    at + lane as usize * size as usize,
                    how.bytes,
                ))
            }
            Space::Param => {
                let size = self.launch.arguments.len() as u64;
                let at = self.inner_place(how, address, size).map_err(in_lane)?;
                Ok(read_value(&self.launch.arguments, at, how.bytes))
            }
            _ => {
                let place = self
                    .memory
                    .locate(address, how.bytes, false)
                    .map_err(in_lane)?;
                if self.is_watched {
                    self.watch_global(warp, lane, how, place.area, place.offset, false)?;
                }
                Ok(read_value(
                    self.memory.bytes(place.area),
                    place.offset,
                    how.bytes,
                ))
            }
        }
    }

    #[inline(always)]
    pub(super) fn write_one(
        &mut self,
        warp: &mut Warp,
        lane: u32,
        how: How,
        address: u64,
        value: u64,
    ) -> Result<(), Failed> {
        let in_lane = |fault: Fault| (fault, lane);
        let (how, address) = how.resolved(address);
        let mask = if how.bytes == 8 {
            u64::MAX
        } else {
            (1 << (8 * how.bytes)) - 1
        };
        match how.space {
            Space::Shared => {
                let at = self
                    .inner_place(how, address, self.shared.len() as u64)
                    .map_err(in_lane)?;
                if self.is_watched {
                    let same = read_value(&self.shared, at, how.bytes) == value & mask;
                    self.watch_shared(warp, lane, how, at, same)?;
                }
                write_value(&mut self.shared, at, how.bytes, value);
            }
            Space::Local => {
                let size = self.kernel.local_bytes;
                let at = self.inner_place(how, address, size).map_err(in_lane)?;
                write_value(
                    &mut warp.local,
                    at + lane as usize * size as usize,
                    how.bytes,
                    value,
                );
            }
            _ => {
                let place = self
                    .memory
                    .locate(address, how.bytes, true)
                    .map_err(in_lane)?;
                let area = self.memory.area(place.area);
                if area.is_constant {
                    let area = DeviceMemory::buffer_of(place.area);
                    return Err((Fault::ReadOnly { area }, lane));
                }
                if self.is_watched {
                    let same = read_value(&area.bytes, place.offset, how.bytes) == value & mask;
                    self.watch_global(warp, lane, how, place.area, place.offset, same)?;
                }
                let bytes = &mut self.memory.area(place.area).bytes;
                write_value(bytes, place.offset, how.bytes, value);
            }
        }
        Ok(())
    }
}
