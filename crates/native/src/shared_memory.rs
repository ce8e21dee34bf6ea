//! The memory that a worker and its parent share, and where buffers lie in it.
//!
//! Each worker has its own, which is empty when it starts. Every buffer has pages
//! of its own. In the worker nothing is mapped between them, so that an access
//! beyond a buffer's pages ends in a fault; what is left of its pages is filled
//! with a pattern and looked at afterwards. The buffers of one call lie next to
//! each other, those of another call anywhere in terabytes.

use crate::slack::Pattern;
use crate::worker::memory_file;
use autocomp_catalog::Buffer;
use autocomp_core::Seed;
use rustix::fs::ftruncate;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::null_mut;

/// Where buffers may lie in a worker: far from its program and its stack. The range is
/// divided into parts, and each set of buffers gets one of them.
const ADDRESSES: std::ops::Range<u64> = 0x1000_0000_0000..0x6000_0000_0000;
/// Size of a part: more than the buffers of any set take.
const PART: u64 = 16 << 30;
/// Least unmapped bytes between two buffers.
const LEAST_GAP: u64 = 64 << 10;
/// What the setup of a worker may take, bytes.
pub(crate) const SETUP_BYTES: usize = 1 << 20;

/// Where the buffers of a set lie in their pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// They begin where their pages do.
    AtTheStart,
    /// They end as near to the end of their pages as their alignment allows.
    NearTheEnd,
    /// They end where their pages do, whatever their alignment: the first byte behind them
    /// faults.
    AtTheEnd,
}

/// One buffer of one set.
#[derive(Clone, Debug)]
pub struct Place {
    /// Of its pages in the shared memory.
    pub region: usize,
    /// Length of its pages.
    pub region_bytes: usize,
    /// From the beginning of its pages to its first byte.
    pub inset: usize,
    /// Its length.
    pub bytes: usize,
    /// Of its pages in the worker.
    pub address: u64,
    /// Whether the worker may write to it.
    pub writable: bool,
}

/// Memory that a worker and its parent share: sets of buffers for calls.
#[derive(Debug)]
pub struct SharedMemory {
    file: OwnedFd,
    start: *mut u8,
    bytes: usize,
    page: usize,
    places: Vec<Vec<Place>>,
}

// SAFETY: the mapping belongs to this value alone; the worker's access is
// outside of the language, and is over whenever the parent reads or writes.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// Makes room for the buffers of a problem, once for each placement; `seed` draws their
    /// addresses.
    ///
    /// # Errors
    /// If the system has not as much memory.
    pub fn new(buffers: &[Buffer], sets: &[Placement], mut seed: Seed) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let mut offset = SETUP_BYTES;
        let mut places = Vec::with_capacity(sets.len());
        let mut parts = Vec::with_capacity(sets.len());
        for placement in sets {
            let mut of_set = Vec::with_capacity(buffers.len());
            let mut address = free_part(&mut parts, &mut seed);
            for buffer in buffers {
                let bytes = buffer.bytes();
                let region_bytes = bytes.next_multiple_of(page);
                let slack = region_bytes - bytes;
                let inset = match placement {
                    Placement::AtTheStart => 0,
                    Placement::NearTheEnd => slack - slack % buffer.alignment as usize,
                    Placement::AtTheEnd => slack,
                };
                address += LEAST_GAP + seed.below(64) as u64 * page as u64;
                // Alignments beyond a page are those of the address.
                address = address.next_multiple_of(buffer.alignment.max(page as u64));
                of_set.push(Place {
                    region: offset,
                    region_bytes,
                    inset,
                    bytes,
                    address,
                    writable: buffer.is_written(),
                });
                offset += region_bytes;
                address += region_bytes as u64;
            }
            places.push(of_set);
        }
        let file = memory_file()?;
        ftruncate(&file, offset as u64)?;
        // SAFETY: a new mapping where the system has room.
        let start = unsafe {
            mmap(
                null_mut(),
                offset,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };
        Ok(Self {
            file,
            start: start.cast(),
            bytes: offset,
            page,
            places,
        })
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns the places of all sets.
    pub fn places(&self) -> &[Vec<Place>] {
        &self.places
    }

    /// Returns the size of a page.
    pub fn page(&self) -> usize {
        self.page
    }

    /// Returns the area that the worker reads its setup from.
    pub fn setup_mut(&mut self) -> &mut [u8] {
        self.range_mut(0, SETUP_BYTES)
    }

    /// Returns a buffer of a set.
    pub fn buffer(&self, set: usize, buffer: usize) -> &[u8] {
        let place = &self.places[set][buffer];
        self.range(place.region + place.inset, place.bytes)
    }

    /// Returns a buffer of a set, to fill it.
    pub fn buffer_mut(&mut self, set: usize, buffer: usize) -> &mut [u8] {
        let (start, bytes) = {
            let place = &self.places[set][buffer];
            (place.region + place.inset, place.bytes)
        };
        self.range_mut(start, bytes)
    }

    /// Returns what the pages of a buffer hold before and behind it.
    pub fn slack(&self, set: usize, buffer: usize) -> [&[u8]; 2] {
        let place = &self.places[set][buffer];
        let end = place.inset + place.bytes;
        [
            self.range(place.region, place.inset),
            self.range(place.region + end, place.region_bytes - end),
        ]
    }

    /// Fills what the pages of a buffer hold before and behind it.
    pub fn fill_slack(&mut self, set: usize, buffer: usize, pattern: Pattern) {
        let place = self.places[set][buffer].clone();
        let end = place.inset + place.bytes;
        pattern.fill(self.range_mut(place.region, place.inset));
        pattern.fill(self.range_mut(place.region + end, place.region_bytes - end));
    }

    /// Overwrites the pages of a set's buffers with zeros.
    pub fn wipe(&mut self, set: usize) {
        for place in self.places[set].clone() {
            self.range_mut(place.region, place.region_bytes).fill(0);
        }
    }

    /// Takes the buffers of `sets` out of all caches, where the processor has
    /// an instruction for it.
    pub fn flush(&self, sets: std::ops::Range<usize>) {
        for place in self.places[sets].iter().flatten() {
            flush(self.range(place.region, place.region_bytes));
        }
    }

    fn range(&self, start: usize, bytes: usize) -> &[u8] {
        assert!(start + bytes <= self.bytes, "places lie in the memory");
        // SAFETY: within the mapping, which lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.add(start), bytes) }
    }

    fn range_mut(&mut self, start: usize, bytes: usize) -> &mut [u8] {
        assert!(start + bytes <= self.bytes, "places lie in the memory");
        // SAFETY: as in `range`, and `self` is borrowed to be changed.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(start), bytes) }
    }
}

/// Draws the beginning of a part of the address space that is not among `taken`, and adds it.
fn free_part(taken: &mut Vec<u64>, seed: &mut Seed) -> u64 {
    let n_parts = (ADDRESSES.end - ADDRESSES.start) / PART;
    loop {
        let part = seed.below(n_parts as usize) as u64;
        if !taken.contains(&part) {
            taken.push(part);
            // Anywhere in its first half, so that its place says nothing of the next one's.
            let within = seed.below(((PART / 2) >> 21) as usize) as u64;
            return ADDRESSES.start + part * PART + (within << 21);
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: nothing borrowed from the mapping outlives `self`.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(target_arch = "x86_64")]
fn flush(bytes: &[u8]) {
    for line in bytes.chunks(64) {
        // SAFETY: the address is that of a byte that can be read.
        unsafe { std::arch::x86_64::_mm_clflush(line.as_ptr()) };
    }
    // SAFETY: orders memory accesses and does nothing else.
    unsafe { std::arch::x86_64::_mm_mfence() };
}

#[cfg(target_arch = "aarch64")]
fn flush(bytes: &[u8]) {
    for line in bytes.chunks(64) {
        // SAFETY: cleans and drops the line of a byte that can be read.
        unsafe { std::arch::asm!("dc civac, {0}", in(reg) line.as_ptr()) };
    }
    // SAFETY: a barrier.
    unsafe { std::arch::asm!("dsb ish") };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn flush(_bytes: &[u8]) {}
