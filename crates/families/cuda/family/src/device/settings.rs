//! The machine file of a GPU that is there.

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
    /// Machine of the same target on which kernels are checked before they may run here.
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

/// Reads a machine file; `None` where it describes a simulated machine.
///
/// # Errors
/// What is wrong with a file that names a backend.
pub(crate) fn parse(text: &str) -> Result<Option<Settings>, String> {
    let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
    let Some(backend) = table.get("backend") else {
        return Ok(None);
    };
    if backend.as_str() != Some("driver") {
        return Err(format!(
            "the backend {backend} is not known; there is \"driver\""
        ));
    }
    let settings: Settings = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    if settings.seconds == 0 {
        return Err("`seconds` is at least 1".to_owned());
    }
    Ok(Some(settings))
}
