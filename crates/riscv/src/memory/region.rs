//! Named ranges of memory with their own access rules.

use super::{Memory, PAGE_SHIFT, READ_RESTRICTED, WRITE_RESTRICTED, describe};
use crate::fault::{AccessKind, Fault, FaultKind};
use std::ops::Range;

/// What may be done with a [`Region`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionAccess {
    /// Nothing: a guard zone.
    None,
    /// Reads only; a write is a fault.
    Read,
    /// Reads and writes.
    ReadWrite,
    /// Reads and writes; the first write is remembered ([`Memory::first_write`]).
    NoteWrites,
}

/// A named byte range with its own access rule.
#[derive(Clone, Debug)]
pub struct Region {
    /// Name for diagnostics (`A`, `guard after C`).
    pub name: String,
    /// Addresses.
    pub range: Range<u64>,
    /// Rule.
    pub access: RegionAccess,
}

impl Memory {
    /// Asks the regions about every byte of an access.
    pub(super) fn check_regions(
        &mut self,
        address: u64,
        len: usize,
        kind: AccessKind,
        pc: u64,
    ) -> Result<(), Fault> {
        let end = address + len as u64;
        let write = matches!(kind, AccessKind::Store | AccessKind::DmaWrite);
        // The last region added that covers a byte decides about that byte.
        let mut at = address;
        while at < end {
            let mut next = end;
            let mut decided = None;
            for (idx, region) in self.regions.iter().enumerate().rev() {
                if region.range.contains(&at) {
                    decided = Some(idx);
                    next = next.min(region.range.end);
                    break;
                } else if at < region.range.start {
                    next = next.min(region.range.start);
                }
            }
            if let Some(idx) = decided {
                match self.regions[idx].access {
                    RegionAccess::None => {
                        return Err(self.forbidden(idx, address, len, at, kind, pc));
                    }
                    RegionAccess::Read if write => {
                        return Err(self.forbidden(idx, address, len, at, kind, pc));
                    }
                    RegionAccess::NoteWrites if write && self.first_writes[idx].is_none() => {
                        self.first_writes[idx] = Some((pc, at));
                        self.open_noted_pages(idx);
                    }
                    RegionAccess::Read | RegionAccess::ReadWrite | RegionAccess::NoteWrites => {}
                }
            }
            at = next;
        }
        Ok(())
    }

    /// Takes the restriction off the pages that lie wholly in region `idx`,
    /// whose first write has been noted, and in no region added later.
    fn open_noted_pages(&mut self, idx: usize) {
        let page_bytes = 1u64 << PAGE_SHIFT;
        let range = self.regions[idx].range.clone();
        let mut at = self.base + (range.start - self.base).next_multiple_of(page_bytes);
        while at + page_bytes <= range.end {
            let page = at..at + page_bytes;
            let later = &self.regions[idx + 1..];
            if !later
                .iter()
                .any(|r| r.range.start < page.end && page.start < r.range.end)
            {
                self.pages[((at - self.base) >> PAGE_SHIFT) as usize] &=
                    !(READ_RESTRICTED | WRITE_RESTRICTED);
            }
            at += page_bytes;
        }
    }

    fn forbidden(
        &self,
        idx: usize,
        address: u64,
        len: usize,
        at: u64,
        kind: AccessKind,
        pc: u64,
    ) -> Fault {
        let region = &self.regions[idx];
        let guard = region.access == RegionAccess::None;
        Fault {
            kind: if guard {
                FaultKind::OutOfBounds
            } else {
                FaultKind::ReadOnly
            },
            rule: if guard { "out-of-bounds" } else { "read-only" },
            pc,
            other_pc: None,
            address: Some(at),
            message: format!(
                "{} of {len} bytes at {address:#x} touches {} ({:#x} to {:#x}), {} bytes into it",
                describe(kind),
                region.name,
                region.range.start,
                region.range.end - 1,
                at - region.range.start,
            ),
        }
    }
}
