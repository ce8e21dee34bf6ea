//! Machine files that describe a device that is there.

use serde::de::DeserializeOwned;

/// What `machines/NAME.toml` says of a device, beside which another machine of the target
/// simulates it.
pub trait DeviceFile: DeserializeOwned {
    /// What its `backend` is.
    const BACKEND: &'static str;

    /// Returns the counts that are at least 1, each with the name of its field.
    fn counts(&self) -> Vec<(&'static str, u64)>;

    /// Reads a machine file; `None` where it describes a simulated machine.
    ///
    /// # Errors
    /// What is wrong with a file that names a backend.
    fn parse(text: &str) -> Result<Option<Self>, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
        let Some(backend) = table.get("backend") else {
            return Ok(None);
        };
        if backend.as_str() != Some(Self::BACKEND) {
            return Err(format!(
                "the backend {backend} is not known; there is {:?}",
                Self::BACKEND
            ));
        }
        let file: Self = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        match file.counts().iter().find(|(_, count)| *count == 0) {
            Some((name, _)) => Err(format!("`{name}` is at least 1")),
            None => Ok(Some(file)),
        }
    }
}
