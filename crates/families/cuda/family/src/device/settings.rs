//! The machine file of a GPU that is there.

use autocomp_measuring::DeviceFile;
use serde::Deserialize;
use std::path::PathBuf;

/// `machines/NAME.toml` with `backend = "driver"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// `"driver"`.
    pub(crate) backend: String,
    /// Its name.
    pub(crate) name: String,
    /// What it is, in a sentence.
    pub(crate) description: String,
    /// Machine of the same target on which kernels are checked before they may run here, where
    /// none has the name that the driver gives.
    pub(crate) simulated: String,
    /// Number of the GPU, as the driver counts.
    #[serde(default)]
    pub(crate) device: u32,
    /// The driver's library; where it is usually, unless said.
    #[serde(default)]
    pub(crate) library: Option<PathBuf>,
    /// Most seconds that all runs of one evaluation may take.
    pub(crate) seconds: u64,
}

impl DeviceFile for Settings {
    const BACKEND: &'static str = "driver";

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("seconds", self.seconds)]
    }
}
