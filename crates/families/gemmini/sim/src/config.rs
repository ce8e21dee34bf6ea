//! Descriptions of machines.

use crate::limits;
use autocomp_gemmini::GemminiConfig;
use autocomp_gemmini::timing::TimingConfig;
use autocomp_riscv::CoreConfig;
use serde::{Deserialize, Serialize};

/// Why a machine description cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("invalid machine description: {0}")]
pub struct InvalidMachine(pub String);

/// A whole machine, as read from a TOML file in a target's `machines` folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineConfig {
    /// What this machine stands for, in a sentence.
    pub description: String,
    /// The accelerator: what decides results and legality.
    pub accelerator: GemminiConfig,
    /// The scalar core and its L1 caches.
    pub core: CoreConfig,
    /// Cycles of the accelerator and of the memory system below the L1 caches.
    pub timing: TimingConfig,
    /// Costs by which the rewriter ranks schedules, which it reads itself; no cycle of a kernel
    /// comes from them. None in a machine that is not made for it.
    #[serde(default)]
    pub ranking: Option<toml::Table>,
}

impl MachineConfig {
    /// Reads a machine description.
    ///
    /// # Errors
    /// With line and column if it is no valid TOML or a key is missing,
    /// unknown or of the wrong type; with the key if a number is not possible.
    pub fn from_toml(text: &str) -> Result<Self, InvalidMachine> {
        let config: Self = toml::from_str(text)
            .map_err(|error| InvalidMachine(error.to_string().trim_end().to_owned()))?;
        limits::check(&config)?;
        Ok(config)
    }
}
