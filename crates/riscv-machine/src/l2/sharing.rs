//! Whether the accelerator may be about to take lines back from the core's L1.
//!
//! The engine is behind the core while that needs nothing of it. As long as no
//! command moves what the L1 holds it may stay so: the L1 is not asked for
//! anything. That is told page by page, so that it costs next to nothing per
//! command.

#![allow(
    clippy::new_without_default,
    reason = "an empty one is made in one place"
)]

use super::LINE_SHIFT;

const PAGE_SHIFT: u32 = 12;
/// From the number of a line to that of its page.
const LINES_OF_PAGE_SHIFT: u32 = PAGE_SHIFT - LINE_SHIFT;
/// Pages are told apart by so many of their lowest bits; those that are not count
/// as one, which is more often taken for shared than need be.
const PAGES: usize = 4096;

/// Pages of which the core's data cache holds lines, and pages that commands move.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// Lines of a page that the core's data cache holds as far as the L2 knows.
    held: Vec<u32>,
    /// All of them.
    held_in_all: u32,
    /// The last batch of commands that moves something of a page, and the last one
    /// that may move something of any.
    moved: Vec<u32>,
    moved_anywhere: u32,
    /// Number of the present batch: the commands since all work was done.
    batch: u32,
    /// A command of the batch may move a line that the core holds.
    is_shared: bool,
}

impl Sharing {
    /// Makes a state in which nothing is held and nothing moved.
    pub fn new() -> Self {
        Self {
            held: vec![0; PAGES],
            held_in_all: 0,
            moved: vec![0; PAGES],
            moved_anywhere: 0,
            batch: 1,
            is_shared: false,
        }
    }

    /// The core's data cache gets a line.
    pub fn hold(&mut self, line: u64) {
        let page = (line >> LINES_OF_PAGE_SHIFT) as usize % PAGES;
        self.held[page] += 1;
        self.held_in_all += 1;
        self.is_shared |= self.moved[page].max(self.moved_anywhere) == self.batch;
    }

    /// The core's data cache has lost a line.
    pub fn lose(&mut self, line: u64) {
        let held = &mut self.held[(line >> LINES_OF_PAGE_SHIFT) as usize % PAGES];
        *held = held.saturating_sub(1);
        self.held_in_all = self.held_in_all.saturating_sub(1);
    }

    /// A command moves some of `bytes` bytes from `address` on.
    #[inline]
    pub fn expect(&mut self, address: u64, bytes: u64) {
        let first = address >> PAGE_SHIFT;
        let last = address.saturating_add(bytes.saturating_sub(1)) >> PAGE_SHIFT;
        for page in first..=last.min(first + PAGES as u64 - 1) {
            let page = page as usize % PAGES;
            self.moved[page] = self.batch;
            self.is_shared |= self.held[page] != 0;
        }
    }

    /// A command moves no one knows what.
    pub fn expect_anything(&mut self) {
        self.moved_anywhere = self.batch;
        self.is_shared |= self.held_in_all != 0;
    }

    /// All commands are done.
    pub fn end_batch(&mut self) {
        self.is_shared = false;
        self.batch = self.batch.wrapping_add(1);
        if self.batch == 0 {
            self.moved.fill(0);
            self.moved_anywhere = 0;
            self.batch = 1;
        }
    }

    /// Returns whether a command that is not done may move a line that the core
    /// holds.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }
}
