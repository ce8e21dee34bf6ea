//! The instances that the targets describe, for tests and benchmarks.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "data of the project itself")]

use autocomp_gemmini::GemminiConfig;
use autocomp_gemmini::timing::TimingConfig;
use std::sync::LazyLock;

/// What these tests need of a machine's file.
#[derive(Clone, serde::Deserialize)]
struct Described {
    accelerator: GemminiConfig,
    timing: TimingConfig,
}

macro_rules! described {
    ($name:ident, $file:literal) => {
        static $name: LazyLock<Described> = LazyLock::new(|| {
            toml::from_str(include_str!(concat!("../../../../../../targets/", $file))).unwrap()
        });
    };
}

described!(INT8_16, "gemmini-int8-16/machines/fpga.toml");
described!(INT8_32, "gemmini-int8-32/machines/fpga.toml");
described!(FP32_4, "gemmini-fp32-4/machines/fpga.toml");
described!(RTL, "gemmini-int8-16/machines/rtl.toml");

/// The default integer instance: 16x16, int8.
pub fn int8_16() -> GemminiConfig {
    INT8_16.accelerator.clone()
}

/// The 32x32 integer instance.
pub fn int8_32() -> GemminiConfig {
    INT8_32.accelerator.clone()
}

/// The 4x4 floating-point instance.
pub fn fp32_4() -> GemminiConfig {
    FP32_4.accelerator.clone()
}

/// Cycles of the machine that the calibration suite was measured on.
pub fn rtl() -> TimingConfig {
    RTL.timing.clone()
}
