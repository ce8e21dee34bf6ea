//! Threads of a warp that meet: all go on once they are there.

use super::access::Failed;
use super::block::Block;
use super::execute::first;
use super::findings::Fault;
use super::observer::Witness;
use super::warp::{ALL, Group, Waits, Warp};

/// Whether threads that meet are all there.
pub(super) enum Meeting {
    /// They are, and go on.
    Complete,
    /// They wait for others.
    Waits,
}

impl<O: Witness> Block<'_, O> {
    /// Lets threads meet: those that `members` names. Threads that are not all there wait.
    pub(super) fn meet(
        &self,
        warp: &mut Warp,
        idx: usize,
        members: u32,
        lanes: u32,
    ) -> Result<Meeting, Failed> {
        let values = warp.words[members as usize];
        let group = warp.groups[idx];
        let named = values[first(lanes) as usize];
        for lane in 0..32 {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            let members = values[lane as usize];
            if members >> lane & 1 == 0 {
                return Err((Fault::NotNamed { members }, lane));
            }
        }
        // Threads that name others meet apart.
        let mut same = 0;
        for lane in 0..32 {
            same |= u32::from(lanes >> lane & 1 != 0 && values[lane as usize] == named) << lane;
        }
        if same != group.lanes {
            warp.groups[idx].lanes &= !same;
            warp.groups.push(Group {
                lanes: same,
                ..group
            });
            return Ok(Meeting::Waits);
        }
        let wanted = named & warp.live;
        if wanted == lanes {
            return Ok(Meeting::Complete);
        }
        let is_same_step =
            |it: &Group| it.at == group.at && it.waits == Waits::Warp && it.lanes & wanted != 0;
        let others = warp.groups.iter().filter(|it| is_same_step(it));
        let present = others.fold(lanes, |sum, it| sum | it.lanes);
        if present & wanted != wanted {
            let is_alone = warp
                .groups
                .iter()
                .enumerate()
                .all(|(other, it)| other == idx || it.waits != Waits::No);
            if is_alone {
                let missing = wanted & !present;
                return Err((
                    Fault::MissingThreads {
                        members: named,
                        missing,
                    },
                    first(lanes),
                ));
            }
            warp.groups[idx].waits = Waits::Warp;
            return Ok(Meeting::Waits);
        }
        // All are there: they become one group, which takes the step again.
        let mut merged = group;
        merged.lanes = lanes;
        let mut rest = Vec::new();
        for (other, it) in warp.groups.iter().enumerate() {
            if other == idx {
                continue;
            }
            if is_same_step(it) {
                merged.lanes |= it.lanes;
            } else {
                rest.push(*it);
            }
        }
        merged.waits = Waits::No;
        rest.push(merged);
        warp.groups = rest;
        Ok(Meeting::Waits)
    }
}

/// Matrix operations need all threads of a whole warp.
#[inline]
pub(super) fn whole_warp(lanes: u32) -> Result<(), Failed> {
    if lanes == ALL {
        return Ok(());
    }
    let missing = !lanes;
    Err((
        Fault::MissingThreads {
            members: ALL,
            missing,
        },
        first(lanes),
    ))
}
