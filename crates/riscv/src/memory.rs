//! Flat physical memory with named regions that restrict access.
//!
//! Every 4 KiB page carries an attribute byte. An access to an open page costs
//! one comparison; pages with a restriction on that kind of access take the
//! slow path, which knows the regions byte by byte.

mod marks;
mod origin;
mod region;

use marks::Marks;
use origin::Origins;
pub use region::{Region, RegionAccess};

use crate::fault::{AccessKind, Fault, FaultKind};
use std::ops::Range;

const PAGE_SHIFT: u32 = 12;
/// Some byte may not be read.
const READ_RESTRICTED: u8 = 1;
/// Some byte may not be written, or its first write must be noted.
const WRITE_RESTRICTED: u8 = 2;
/// CPU accesses are reported to the coprocessor.
const WATCHED: u8 = 4;
/// Instructions were translated from some bytes.
const CODE: u8 = 8;
/// CPU stores stop the core after the instruction.
const HOOKED: u8 = 16;
/// A device wrote here, and loads of the CPU are to be noticed.
const FROM_DEVICE: u8 = 32;
/// Attributes for which a CPU load has to take the slow path.
const LOAD_CLOSED: u8 = READ_RESTRICTED | WATCHED | FROM_DEVICE;

/// A store to such a page is not the usual case.
const STORE_CLOSED: u8 = WRITE_RESTRICTED | WATCHED | CODE | HOOKED;

/// Simulated physical memory.
#[derive(Clone, Debug)]
pub struct Memory {
    base: u64,
    bytes: Vec<u8>,
    pages: Vec<u8>,
    regions: Vec<Region>,
    first_writes: Vec<Option<(u64, u64)>>,
    code: Marks,
    code_changed: bool,
    /// Where instructions may lie, if not everywhere.
    executable: Option<Range<u64>>,
    hook_touched: bool,
    hooked_store: Range<u64>,
    origins: Origins,
}

impl Memory {
    /// Makes `size` zeroed bytes from address `base`; both multiples of 4096.
    ///
    /// # Panics
    /// Panics if they are not.
    #[must_use]
    pub fn new(base: u64, size: usize) -> Self {
        assert!(
            base.is_multiple_of(4096) && size.is_multiple_of(4096),
            "whole pages"
        );
        Self {
            base,
            bytes: vec![0; size],
            pages: vec![0; size >> PAGE_SHIFT],
            regions: Vec::new(),
            first_writes: Vec::new(),
            code: Marks::default(),
            code_changed: false,
            executable: None,
            hook_touched: false,
            hooked_store: 0..0,
            origins: Origins::default(),
        }
    }

    /// Returns the first address.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a region. Bytes outside every region are open; where regions
    /// overlap, the one added last decides.
    ///
    /// # Panics
    /// Panics if the range lies outside memory.
    pub fn add_region(&mut self, region: Region) {
        let start = (region.range.start - self.base) as usize;
        let end = (region.range.end - self.base) as usize;
        assert!(
            start <= end && end <= self.bytes.len(),
            "region outside memory"
        );
        let restriction = match region.access {
            RegionAccess::None => READ_RESTRICTED | WRITE_RESTRICTED,
            RegionAccess::Read | RegionAccess::NoteWrites => WRITE_RESTRICTED,
            RegionAccess::ReadWrite => 0,
        };
        if start < end {
            let page_bytes = 1 << PAGE_SHIFT;
            for page_idx in start >> PAGE_SHIFT..=(end - 1) >> PAGE_SHIFT {
                let whole = start <= page_idx * page_bytes && (page_idx + 1) * page_bytes <= end;
                // What lies wholly in the region obeys it alone.
                if whole {
                    self.pages[page_idx] &= !(READ_RESTRICTED | WRITE_RESTRICTED);
                }
                self.pages[page_idx] |= restriction;
            }
        }
        self.regions.push(region);
        self.first_writes.push(None);
    }

    /// Removes every region.
    pub fn clear_regions(&mut self) {
        self.regions.clear();
        self.first_writes.clear();
        for page in &mut self.pages {
            *page &= !(READ_RESTRICTED | WRITE_RESTRICTED);
        }
    }

    /// Forgets which regions have been written ([`first_write`](Self::first_write)).
    pub fn forget_first_writes(&mut self) {
        let regions = std::mem::take(&mut self.regions);
        self.clear_regions();
        for region in regions {
            self.add_region(region);
        }
    }

    /// Makes a CPU store into the page of `address` stop the core after the
    /// instruction, so that a device there can answer.
    pub fn hook(&mut self, address: u64) {
        if let Some(page) = self
            .pages
            .get_mut((address.wrapping_sub(self.base) >> PAGE_SHIFT) as usize)
        {
            *page |= HOOKED;
        }
    }

    /// Returns the bytes that the last store to a hooked page wrote; empty
    /// before the first.
    #[must_use]
    pub fn hooked_store(&self) -> Range<u64> {
        self.hooked_store.clone()
    }

    /// Returns whether a hooked page was stored to since the last call.
    #[inline]
    pub fn take_hook_touched(&mut self) -> bool {
        std::mem::take(&mut self.hook_touched)
    }

    /// Marks bytes from which instructions were translated.
    pub fn mark_code(&mut self, address: u64, len: usize) {
        self.note_code(address, len);
        self.code.set(address.wrapping_sub(self.base) as usize, len);
        for page in self.pages_of(address..address + len as u64) {
            *page |= CODE;
        }
    }

    /// Returns whether bytes marked as code may have changed since the last call.
    pub fn take_code_changed(&mut self) -> bool {
        let changed = std::mem::take(&mut self.code_changed);
        if changed {
            self.code.clear();
            for page in &mut self.pages {
                *page &= !CODE;
            }
        }
        changed
    }

    /// Returns the `N` bytes at an address aligned to `N` if a CPU load needs
    /// no further check.
    #[inline(always)]
    pub fn load_open<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let offset = address.wrapping_sub(self.base) as usize;
        let attributes = *self.pages.get(offset >> PAGE_SHIFT)?;
        if attributes & LOAD_CLOSED != 0 || offset & (N - 1) != 0 {
            return None;
        }
        // An aligned piece lies in one page, and every page has its bytes.
        self.bytes.get(offset..)?.first_chunk().copied()
    }

    /// Returns the bytes of a CPU load of a page at most if it needs no further check.
    #[inline(always)]
    pub fn run_open(&self, address: u64, len: usize) -> Option<&[u8]> {
        let (offset, end) = self.open_run(address, len, LOAD_CLOSED)?;
        self.bytes.get(offset..end)
    }

    /// Returns the bytes of a CPU store of a page at most, to be filled, if it needs no further
    /// check.
    #[inline(always)]
    pub fn run_open_mut(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        let (offset, end) = self.open_run(address, len, STORE_CLOSED)?;
        self.bytes.get_mut(offset..end)
    }

    #[inline(always)]
    fn open_run(&self, address: u64, len: usize, closed: u8) -> Option<(usize, usize)> {
        let offset = address.wrapping_sub(self.base) as usize;
        let end = offset.checked_add(len)?;
        let first = *self.pages.get(offset >> PAGE_SHIFT)?;
        let last = *self.pages.get(end.checked_sub(1)? >> PAGE_SHIFT)?;
        let is_open = (first | last) & closed == 0 && len <= 1 << PAGE_SHIFT;
        is_open.then_some((offset, end))
    }

    /// Stores to an address aligned to `N` if a CPU store needs no further
    /// check; returns whether it did.
    #[inline(always)]
    pub fn store_open<const N: usize>(&mut self, address: u64, value: [u8; N]) -> bool {
        let offset = address.wrapping_sub(self.base) as usize;
        let Some(attributes) = self.pages.get(offset >> PAGE_SHIFT) else {
            return false;
        };
        if attributes & STORE_CLOSED != 0 || offset & (N - 1) != 0 {
            return false;
        }
        let bytes = self.bytes.get_mut(offset..);
        match bytes.and_then(|bytes| bytes.first_chunk_mut()) {
            Some(bytes) => {
                *bytes = value;
                true
            }
            None => false,
        }
    }

    /// The same where nothing but code in the page is in the way, none of which the bytes
    /// may belong to: programs are often linked with their data right behind the code.
    #[inline(never)]
    pub fn store_beside_code<const N: usize>(&mut self, address: u64, value: [u8; N]) -> bool {
        let offset = address.wrapping_sub(self.base) as usize;
        let attributes = self.pages.get(offset >> PAGE_SHIFT);
        let open = attributes
            .is_some_and(|page| page & (WRITE_RESTRICTED | WATCHED | CODE | HOOKED) == CODE);
        if !open || offset & (N - 1) != 0 || self.code.touch(offset, N) {
            return false;
        }
        match self.bytes.get_mut(offset..offset + N) {
            Some(bytes) => {
                bytes.copy_from_slice(&value);
                true
            }
            None => false,
        }
    }

    /// Returns the regions in the order in which they were added.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Returns program counter and address of the first write into the region
    /// with index `region_idx`, if it notes writes.
    #[must_use]
    pub fn first_write(&self, region_idx: usize) -> Option<(u64, u64)> {
        self.first_writes[region_idx]
    }

    /// Marks the pages of `range` so that CPU accesses to them are reported to
    /// [`Rocc::cpu_access`](crate::Rocc::cpu_access). What lies
    /// outside memory is ignored.
    pub fn watch(&mut self, range: Range<u64>) {
        for page in self.pages_of(range) {
            *page |= WATCHED;
        }
    }

    /// Removes every watch mark in `range`.
    pub fn unwatch(&mut self, range: Range<u64>) {
        for page in self.pages_of(range) {
            *page &= !WATCHED;
        }
    }

    #[inline]
    fn pages_of(&mut self, range: Range<u64>) -> &mut [u8] {
        let count = self.pages.len();
        let offset = |address: u64| address.saturating_sub(self.base);
        let end = (offset(range.end).div_ceil(1 << PAGE_SHIFT) as usize).min(count);
        let start = ((offset(range.start) >> PAGE_SHIFT) as usize).min(end);
        &mut self.pages[start..end]
    }

    /// Returns whether a page of the access is watched. The access must have
    /// been checked before.
    #[must_use]
    pub fn is_watched(&self, address: u64, len: usize) -> bool {
        let start = (address - self.base) as usize;
        (self.pages[start >> PAGE_SHIFT] | self.pages[(start + len.max(1) - 1) >> PAGE_SHIFT])
            & WATCHED
            != 0
    }

    /// Checks an access and returns the offset of `address`.
    ///
    /// # Errors
    /// A [`Fault`] if the bytes are not memory or a region forbids the access.
    #[inline]
    pub fn check(
        &mut self,
        address: u64,
        len: usize,
        kind: AccessKind,
        pc: u64,
    ) -> Result<usize, Fault> {
        let offset = address.wrapping_sub(self.base) as usize;
        let Some(end) = offset
            .checked_add(len)
            .filter(|end| *end <= self.bytes.len())
        else {
            return Err(self.unmapped(address, len, kind, pc));
        };
        if len == 0 {
            return Ok(offset);
        }
        let (first, last) = (offset >> PAGE_SHIFT, (end - 1) >> PAGE_SHIFT);
        let attributes = if last <= first + 1 {
            self.pages[first] | self.pages[last]
        } else {
            self.pages[first..=last]
                .iter()
                .fold(0, |all, page| all | page)
        };
        let slow = match kind {
            AccessKind::Fetch | AccessKind::DmaRead => READ_RESTRICTED,
            AccessKind::Load => READ_RESTRICTED | FROM_DEVICE,
            AccessKind::Store | AccessKind::DmaWrite => WRITE_RESTRICTED | CODE | HOOKED,
        };
        if attributes & slow != 0 {
            self.check_slow(address, len, kind, pc, attributes)?;
        }
        Ok(offset)
    }

    /// Refuses to fetch instructions from anywhere else from now on.
    pub fn execute_only(&mut self, range: Range<u64>) {
        self.code_changed = true;
        self.executable = Some(range);
    }

    /// Returns half an instruction.
    ///
    /// # Errors
    /// As [`check`](Self::check), and where instructions may not lie.
    pub(crate) fn fetch(&mut self, address: u64, pc: u64) -> Result<u16, Fault> {
        let offset = self.check(address, 2, AccessKind::Fetch, pc)?;
        if let Some(range) = &self.executable
            && !range.contains(&address)
        {
            return Err(Fault {
                kind: FaultKind::OutOfBounds,
                rule: "execute-data",
                pc,
                other_pc: None,
                address: Some(address),
                message: format!("{address:#x} is executed, which is not in the program's code"),
            });
        }
        let bytes = &self.bytes[offset..offset + 2];
        Ok(u16::from(bytes[0]) | u16::from(bytes[1]) << 8)
    }

    /// Returns the bytes of a checked read.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[inline]
    pub fn read(
        &mut self,
        address: u64,
        len: usize,
        kind: AccessKind,
        pc: u64,
    ) -> Result<&[u8], Fault> {
        let offset = self.check(address, len, kind, pc)?;
        Ok(&self.bytes[offset..offset + len])
    }

    /// Returns the bytes of a checked write, to be filled.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[inline]
    pub fn write(
        &mut self,
        address: u64,
        len: usize,
        kind: AccessKind,
        pc: u64,
    ) -> Result<&mut [u8], Fault> {
        let offset = self.check(address, len, kind, pc)?;
        Ok(&mut self.bytes[offset..offset + len])
    }

    /// Returns whether no region restricts DMA to any of the pages of a range,
    /// all of it memory: [`check`](Self::check) would then allow every access
    /// in it.
    #[must_use]
    pub fn is_open_to_dma(&self, address: u64, len: usize, writes: bool) -> bool {
        let offset = address.wrapping_sub(self.base) as usize;
        let Some(end) = offset
            .checked_add(len)
            .filter(|end| *end <= self.bytes.len())
        else {
            return false;
        };
        let closed = if writes {
            WRITE_RESTRICTED | CODE | HOOKED
        } else {
            READ_RESTRICTED
        };
        len == 0
            || self.pages[offset >> PAGE_SHIFT..=(end - 1) >> PAGE_SHIFT]
                .iter()
                .all(|page| page & closed == 0)
    }

    /// Returns bytes without any check of regions: the host's own access.
    /// `None` if the range is not memory.
    #[must_use]
    pub fn host(&self, address: u64, len: usize) -> Option<&[u8]> {
        let offset = usize::try_from(address.checked_sub(self.base)?).ok()?;
        self.bytes.get(offset..offset.checked_add(len)?)
    }

    /// Returns bytes for writing without any check of regions: the host's own
    /// access. `None` if the range is not memory.
    #[must_use]
    pub fn host_mut(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        let offset = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let end = offset
            .checked_add(len)
            .filter(|end| *end <= self.bytes.len())?;
        if len > 0 {
            let pages = &self.pages[offset >> PAGE_SHIFT..=(end - 1) >> PAGE_SHIFT];
            let has_code = pages.iter().any(|page| page & CODE != 0);
            self.code_changed |= has_code && self.code.touch(offset, len);
        }
        Some(&mut self.bytes[offset..end])
    }

    /// Puts every byte back to zero, wherever it lies: what regions forbid stays forbidden, and
    /// nothing comes from a device any more.
    pub fn clear(&mut self) {
        self.code_changed |= self.code.touch(0, self.bytes.len());
        // New pages cost nothing until they are touched.
        self.bytes = vec![0; self.bytes.len()];
        for page in &mut self.pages {
            *page &= !FROM_DEVICE;
        }
    }

    #[cold]
    fn unmapped(&self, address: u64, len: usize, kind: AccessKind, pc: u64) -> Fault {
        Fault {
            kind: FaultKind::Trap,
            rule: "unmapped",
            pc,
            other_pc: None,
            address: Some(address),
            message: format!(
                "{} of {len} bytes at {address:#x} is outside memory ({:#x} to {:#x})",
                describe(kind),
                self.base,
                self.base + self.bytes.len() as u64 - 1,
            ),
        }
    }

    #[cold]
    #[inline(never)]
    fn check_slow(
        &mut self,
        address: u64,
        len: usize,
        kind: AccessKind,
        pc: u64,
        attributes: u8,
    ) -> Result<(), Fault> {
        if attributes & (READ_RESTRICTED | WRITE_RESTRICTED) != 0 {
            self.check_regions(address, len, kind, pc)?;
        }
        if kind == AccessKind::Load && attributes & FROM_DEVICE != 0 {
            self.note_mixed();
        }
        if matches!(kind, AccessKind::Store | AccessKind::DmaWrite) {
            let offset = (address - self.base) as usize;
            self.code_changed |= attributes & CODE != 0 && self.code.touch(offset, len);
            if kind == AccessKind::Store && attributes & HOOKED != 0 {
                self.hook_touched = true;
                self.hooked_store = address..address + len as u64;
            }
        }
        Ok(())
    }
}

fn describe(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Fetch => "instruction fetch",
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::DmaRead => "DMA read",
        AccessKind::DmaWrite => "DMA write",
    }
}
