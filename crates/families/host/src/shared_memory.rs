//! The memory that a worker and its parent share, and where buffers lie in it.
//!
//! Every buffer has pages of its own. In the worker nothing is mapped between
//! them, so that an access beyond a buffer's pages ends in a fault; what is
//! left of its pages is filled with a pattern and looked at afterwards.

use autocomp_catalog::Buffer;
use autocomp_core::Seed;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::null_mut;

/// Where buffers begin in a worker: far from its program and its stack.
const FIRST_ADDRESS: u64 = 0x1000_0000_0000;
/// Least unmapped bytes between two buffers.
const LEAST_GAP: u64 = 64 << 10;
/// What the setup of a worker may take, bytes.
pub(crate) const SETUP_BYTES: usize = 1 << 20;

/// One buffer of one set.
#[derive(Clone, Debug)]
pub(crate) struct Place {
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
pub(crate) struct SharedMemory {
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
    /// Makes room for `sets` times the buffers of a problem. `seed` shuffles
    /// their addresses; in every second set buffers end where their pages do.
    ///
    /// # Errors
    /// If the system has not as much memory.
    pub(crate) fn new(buffers: &[Buffer], sets: usize, seed: Seed) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let mut offset = SETUP_BYTES;
        let mut places = Vec::with_capacity(sets);
        for set in 0..sets {
            let mut of_set = Vec::with_capacity(buffers.len());
            for buffer in buffers {
                let bytes = buffer.bytes();
                let region_bytes = bytes.next_multiple_of(page);
                let slack = region_bytes - bytes;
                let inset = match set % 2 {
                    0 => 0,
                    _ => slack - slack % buffer.alignment as usize,
                };
                of_set.push(Place {
                    region: offset,
                    region_bytes,
                    inset,
                    bytes,
                    address: 0,
                    writable: buffer.is_written(),
                });
                offset += region_bytes;
            }
            places.push(of_set);
        }
        let file = memfd_create("autocomp-buffers", MemfdFlags::CLOEXEC)?;
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
        let mut memory = Self {
            file,
            start: start.cast(),
            bytes: offset,
            page,
            places,
        };
        memory.shuffle(buffers, seed);
        Ok(memory)
    }

    /// Gives all buffers other addresses for the next worker, in the same order.
    pub(crate) fn shuffle(&mut self, buffers: &[Buffer], mut seed: Seed) {
        let page = self.page as u64;
        let mut address = FIRST_ADDRESS + seed.below(1 << 20) as u64 * page;
        for of_set in &mut self.places {
            for (place, buffer) in of_set.iter_mut().zip(buffers) {
                address += LEAST_GAP + seed.below(64) as u64 * page;
                // Alignments beyond a page are those of the address.
                address = address.next_multiple_of(buffer.alignment.max(page));
                place.address = address;
                address += place.region_bytes as u64;
            }
        }
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns the places of all sets.
    pub(crate) fn places(&self) -> &[Vec<Place>] {
        &self.places
    }

    /// Returns the size of a page.
    pub(crate) fn page(&self) -> usize {
        self.page
    }

    /// Returns the area that the worker reads its setup from.
    pub(crate) fn setup_mut(&mut self) -> &mut [u8] {
        self.range_mut(0, SETUP_BYTES)
    }

    /// Returns a buffer of a set.
    pub(crate) fn buffer(&self, set: usize, buffer: usize) -> &[u8] {
        let place = &self.places[set][buffer];
        self.range(place.region + place.inset, place.bytes)
    }

    /// Returns a buffer of a set, to fill it.
    pub(crate) fn buffer_mut(&mut self, set: usize, buffer: usize) -> &mut [u8] {
        let (start, bytes) = {
            let place = &self.places[set][buffer];
            (place.region + place.inset, place.bytes)
        };
        self.range_mut(start, bytes)
    }

    /// Returns what the pages of a buffer hold before and behind it.
    pub(crate) fn slack(&self, set: usize, buffer: usize) -> [&[u8]; 2] {
        let place = &self.places[set][buffer];
        let end = place.inset + place.bytes;
        [
            self.range(place.region, place.inset),
            self.range(place.region + end, place.region_bytes - end),
        ]
    }

    /// Fills what the pages of a buffer hold before and behind it.
    pub(crate) fn fill_slack(&mut self, set: usize, buffer: usize, byte: u8) {
        let place = self.places[set][buffer].clone();
        let end = place.inset + place.bytes;
        self.range_mut(place.region, place.inset).fill(byte);
        self.range_mut(place.region + end, place.region_bytes - end)
            .fill(byte);
    }

    /// Takes the buffers of `sets` out of all caches, where the processor has
    /// an instruction for it.
    pub(crate) fn flush(&self, sets: std::ops::Range<usize>) {
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
