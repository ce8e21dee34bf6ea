//! The machine file of a real device.

use std::path::PathBuf;

use autocomp_measuring::DeviceFile;
use autocomp_remote::Host;
use serde::Deserialize;

/// `machines/NAME.toml` with `backend = "neuron"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// `"neuron"`.
    pub(crate) backend: String,
    /// One line on it.
    pub(crate) description: String,
    /// Machine of the same target on which kernels are checked before they may run here.
    pub(crate) simulated: String,
    /// The instance, as `ssh` knows it (`user@host`); absent: this computer.
    #[serde(default)]
    pub(crate) host: Option<Host>,
    /// Python with the vendor's packages.
    pub(crate) python: PathBuf,
    /// The vendor's profiler.
    pub(crate) profiler: PathBuf,
    /// The runtime's C library.
    pub(crate) library: PathBuf,
    /// Folder for work on the instance; made if it is missing.
    pub(crate) folder: PathBuf,
    /// Folders that the compiler may read, on this computer.
    #[serde(default)]
    pub(crate) readable: Vec<PathBuf>,
    /// The core to run on.
    #[serde(default)]
    pub(crate) core: u32,
    /// Most seconds that a compilation may take.
    pub(crate) compile_seconds: u64,
    /// Most seconds that a run, or the profiler, may take.
    pub(crate) run_seconds: u64,
    /// Executions, of which the last one is profiled.
    pub(crate) executions: u32,
}

impl DeviceFile for Settings {
    const BACKEND: &'static str = "neuron";

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("executions", u64::from(self.executions)),
            ("compile_seconds", self.compile_seconds),
            ("run_seconds", self.run_seconds),
        ]
    }
}
