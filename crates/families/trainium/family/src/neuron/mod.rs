//! Kernels on a real device, through the vendor's tools on an instance.
//!
//! A kernel is checked in the simulator first, on every input set, and its text must be plain
//! (`plain` of the simulator): only then the vendor's compiler, which runs the kernel's Python,
//! gets to see it. Results are what the runtime's library reads out of the device, and time is the
//! profiler's; a kernel's own words decide nothing. Nothing here was ever run on a device: the
//! commands follow the vendor's documents and published harnesses, and are tested against scripts
//! that imitate them.

mod bench;
mod settings;
pub(crate) mod summary;

pub(crate) use bench::NeuronBench;
pub(crate) use settings::Settings;
