//! The cores that the calling thread may run on, as Linux keeps them.

pub(super) use rustix::thread::CpuSet as Cores;
use rustix::thread::{sched_getaffinity, sched_setaffinity};

/// Returns the cores, if the system tells.
pub(super) fn allowed() -> Option<Cores> {
    sched_getaffinity(None).ok()
}

/// Returns the one with the highest number.
pub(super) fn last(cores: &Cores) -> Option<usize> {
    (0..Cores::MAX_CPU).rev().find(|core| cores.is_set(*core))
}

/// Lets the thread run on `cores` only. Where that is not allowed, times are noisier and
/// intervals wider.
pub(super) fn allow(cores: &Cores) {
    let _ = sched_setaffinity(None, cores);
}

/// Lets the thread run on `core` only, as [`allow`] does.
pub(super) fn stay_on(core: usize) {
    let mut only = Cores::new();
    only.set(core);
    allow(&only);
}
