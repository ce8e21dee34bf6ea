//! Who watches what a kernel does.

use crate::decode::space_at;
use crate::ptx::Space;

/// An access of a warp to memory.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Which memory.
    pub space: Space,
    /// Where each thread reads or writes; those of threads without a part mean nothing.
    pub addresses: &'a [u64; 32],
    /// Which threads take part, a bit each.
    pub lanes: u32,
    /// Bytes of each thread.
    pub bytes: u32,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Whether it passes the L1 by.
    pub no_l1: bool,
    /// Whether it is a copy to shared memory that nobody waits for.
    pub is_async: bool,
}

impl Access<'_> {
    /// Returns the address of the first thread that takes part.
    pub(crate) fn first(&self) -> u64 {
        self.addresses[self.lanes.trailing_zeros().min(31) as usize]
    }

    /// Returns which memory it is, of a generic address, too.
    pub(crate) fn memory(&self) -> Space {
        match self.space {
            Space::Generic => space_at(self.first()),
            space => space,
        }
    }
}

/// Watches what a kernel does.
pub trait Observer {
    /// A block begins.
    fn block(&mut self, number: u32, warps: u32);

    /// A block has its turn that has begun before.
    fn goes_on(&mut self, number: u32);

    /// The block that has its turn has ended.
    fn ends(&mut self) {}

    /// A warp takes the step number `at`; `lanes` are its threads that do.
    fn step(&mut self, warp: u32, at: u32, lanes: u32);

    /// The step that was told last uses memory.
    fn access(&mut self, warp: u32, access: Access<'_>);
}

/// An observer that the machine is built for: code for those who do not watch has no calls.
pub(crate) trait Witness {
    /// Whether it wants to be told.
    const IS_WATCHING: bool;

    fn block(&mut self, number: u32, warps: u32);

    fn goes_on(&mut self, number: u32);

    fn ends(&mut self);

    fn step(&mut self, warp: u32, at: u32, lanes: u32);

    fn access(&mut self, warp: u32, access: Access<'_>);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nobody;

impl Witness for Nobody {
    const IS_WATCHING: bool = false;

    fn block(&mut self, _number: u32, _warps: u32) {}

    fn goes_on(&mut self, _number: u32) {}

    fn ends(&mut self) {}

    fn step(&mut self, _warp: u32, _at: u32, _lanes: u32) {}

    fn access(&mut self, _warp: u32, _access: Access<'_>) {}
}

/// Somebody watches.
pub(crate) struct Somebody<'o>(pub(crate) &'o mut dyn Observer);

impl Witness for Somebody<'_> {
    const IS_WATCHING: bool = true;

    fn block(&mut self, number: u32, warps: u32) {
        self.0.block(number, warps);
    }

    fn goes_on(&mut self, number: u32) {
        self.0.goes_on(number);
    }

    fn ends(&mut self) {
        self.0.ends();
    }

    fn step(&mut self, warp: u32, at: u32, lanes: u32) {
        self.0.step(warp, at, lanes);
    }

    fn access(&mut self, warp: u32, access: Access<'_>) {
        self.0.access(warp, access);
    }
}
