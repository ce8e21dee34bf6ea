//! The machine file of a real device.

use std::path::PathBuf;

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

/// Reads a machine file; `None` where it describes a simulated machine.
///
/// # Errors
/// What is wrong with a file that names a backend.
pub(crate) fn parse(text: &str) -> Result<Option<Settings>, String> {
    let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
    let Some(backend) = table.get("backend") else {
        return Ok(None);
    };
    if backend.as_str() != Some("neuron") {
        return Err(format!(
            "the backend {backend} is not known; there is \"neuron\""
        ));
    }
    let settings: Settings = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    if settings.executions == 0 || settings.compile_seconds == 0 || settings.run_seconds == 0 {
        return Err("`executions`, `compile_seconds` and `run_seconds` are at least 1".to_owned());
    }
    Ok(Some(settings))
}
