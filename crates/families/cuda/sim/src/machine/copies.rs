//! Copies from global to shared memory that land later.

use super::access::{Failed, How, addresses};
use super::block::Block;
use super::findings::Fault;
use super::memory::{read_value, write_value};
use super::observer::Witness;
use super::shadow::Kind;
use super::warp::{Copy, Warp};
use crate::decode::Address;
use crate::ptx::Space;

impl<O: Witness> Block<'_, O> {
    /// Begins a copy from global to shared memory.
    pub(super) fn copy_async(
        &mut self,
        warp: &mut Warp,
        (bytes, read): (u32, Option<u32>),
        (to, from): (Address, Address),
        no_l1: bool,
        line: u32,
        lanes: u32,
    ) -> Result<(), Failed> {
        let (to, from) = (addresses(warp, to), addresses(warp, from));
        let source = How {
            space: Space::Global,
            bytes,
            write: false,
            kind: Kind::Plain,
        };
        let target = How {
            space: Space::Shared,
            bytes,
            write: true,
            kind: Kind::Begun,
        };
        self.tell(warp, source, &from, lanes, (no_l1, true));
        self.tell(warp, target, &to, lanes, (no_l1, true));
        let mut data = Box::new([[0_u8; 16]; 32]);
        let mut places = [0; 32];
        for lane in each(lanes) {
            let idx = lane as usize;
            let in_lane = |fault: Fault| (fault, lane);
            let place = self
                .inner_place(target, to[idx], self.shared.len() as u64)
                .map_err(in_lane)?;
            places[idx] = place as u32;
            if self.is_watched {
                self.watch_shared(warp, lane, target, place, false)?;
            }
            let wanted = read
                .map_or(bytes, |it| warp.words[it as usize][idx])
                .min(bytes);
            if wanted != 0 {
                self.memory
                    .locate(from[idx], bytes.min(wanted.next_power_of_two()), false)
                    .map_err(in_lane)?;
            }
            let width = if wanted % 4 == 0 { 4 } else { 1 };
            let piece = How {
                bytes: width,
                ..source
            };
            for at in (0..wanted).step_by(width as usize) {
                let value = self.read_one(warp, lane, piece, from[idx] + u64::from(at))?;
                write_value(&mut data[idx], at as usize, width, value);
            }
            if !from[idx].is_multiple_of(bytes.into()) {
                return Err((
                    Fault::Misaligned {
                        address: from[idx],
                        bytes,
                    },
                    lane,
                ));
            }
        }
        warp.copies.push(Copy {
            lanes,
            to: places,
            bytes,
            data,
            line,
            groups: [None; 32],
        });
        Ok(())
    }

    /// Lets copies of `lanes` land that belong to all but the last `groups` groups of their thread;
    /// `None` means all.
    pub(super) fn land(
        &mut self,
        warp: &mut Warp,
        groups: Option<u32>,
        lanes: u32,
    ) -> Result<(), Failed> {
        let how = How {
            space: Space::Shared,
            bytes: 4,
            write: true,
            kind: Kind::Landed,
        };
        let mut copies = std::mem::take(&mut warp.copies);
        for copy in &mut copies {
            for lane in each(copy.lanes & lanes) {
                let idx = lane as usize;
                let is_done = groups.is_none_or(|groups| {
                    copy.groups[idx].is_some_and(|it| it + groups < warp.copy_groups[idx])
                });
                if !is_done {
                    continue;
                }
                copy.lanes &= !(1 << lane);
                for at in (0..copy.bytes).step_by(4) {
                    let value = read_value(&copy.data[idx], at as usize, 4);
                    let address = u64::from(copy.to[idx] + at);
                    self.write_one(warp, lane, how, address, value)?;
                }
            }
        }
        copies.retain(|it| it.lanes != 0);
        warp.copies = copies;
        Ok(())
    }
}

/// Closes the open group of copies of each of `lanes`.
pub(super) fn commit(warp: &mut Warp, lanes: u32) {
    for lane in each(lanes) {
        let idx = lane as usize;
        for copy in &mut warp.copies {
            if copy.lanes >> lane & 1 == 1 {
                copy.groups[idx].get_or_insert(warp.copy_groups[idx]);
            }
        }
        warp.copy_groups[idx] += 1;
    }
}

/// Returns the threads that a mask names.
fn each(lanes: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| lanes >> lane & 1 == 1)
}
