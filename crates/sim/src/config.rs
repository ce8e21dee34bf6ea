//! Descriptions of machines.

use crate::error::SimError;
use autocomp_gemmini::GemminiConfig;
use autocomp_gemmini::timing::TimingConfig;
use autocomp_riscv::CoreConfig;
use serde::{Deserialize, Serialize};

/// A whole machine, as read from a TOML file in a target's `machines` folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineConfig {
    /// What this machine stands for, in a sentence.
    pub description: String,
    /// The accelerator: what decides results and legality.
    #[serde(default)]
    pub accelerator: AcceleratorConfig,
    /// The scalar core and its L1 caches.
    pub core: CoreConfig,
    /// Cycles of the accelerator and of the memory system below the L1 caches.
    #[serde(default)]
    pub timing: TimingConfig,
}

/// An accelerator, by the name of a customary instance or in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AcceleratorConfig {
    /// A customary instance.
    Preset(Preset),
    /// Any instance.
    Custom(Box<GemminiConfig>),
}

/// A customary instance of Gemmini.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preset {
    /// 16x16 array of int8.
    #[default]
    #[serde(rename = "int8-16")]
    Int8x16,
    /// 32x32 array of int8.
    #[serde(rename = "int8-32")]
    Int8x32,
    /// 4x4 array of binary32.
    #[serde(rename = "fp32-4")]
    Float32x4,
}

impl Default for AcceleratorConfig {
    fn default() -> Self {
        Self::Preset(Preset::default())
    }
}

impl AcceleratorConfig {
    /// Returns the instance in full.
    #[must_use]
    pub fn gemmini(&self) -> GemminiConfig {
        match self {
            Self::Preset(Preset::Int8x16) => GemminiConfig::int8_16(),
            Self::Preset(Preset::Int8x32) => GemminiConfig::int8_32(),
            Self::Preset(Preset::Float32x4) => GemminiConfig::fp32_4(),
            Self::Custom(config) => (**config).clone(),
        }
    }
}

impl MachineConfig {
    /// Reads a machine description.
    ///
    /// # Errors
    /// With line and column if it is no valid TOML or a key is missing,
    /// unknown or of the wrong type.
    pub fn from_toml(text: &str) -> Result<Self, SimError> {
        toml::from_str(text).map_err(|error| SimError::Config(error.to_string()))
    }
}
