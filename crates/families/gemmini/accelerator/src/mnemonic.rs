//! The customary names of commands.

/// What names a command. One byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mnemonic {
    ConfigEx,
    ConfigLd,
    ConfigSt,
    ConfigNorm,
    Mvin,
    Mvin2,
    Mvin3,
    Mvout,
    Preload,
    ComputePreloaded,
    ComputeAccumulated,
    Flush,
    LoopWsConfig,
    LoopWs,
    LoopConvConfig,
    LoopConv,
    ClockGate,
    Counter,
}

impl Mnemonic {
    /// Returns the text.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConfigEx => "config_ex",
            Self::ConfigLd => "config_ld",
            Self::ConfigSt => "config_st",
            Self::ConfigNorm => "config_norm",
            Self::Mvin => "mvin",
            Self::Mvin2 => "mvin2",
            Self::Mvin3 => "mvin3",
            Self::Mvout => "mvout",
            Self::Preload => "preload",
            Self::ComputePreloaded => "compute_preloaded",
            Self::ComputeAccumulated => "compute_accumulated",
            Self::Flush => "flush",
            Self::LoopWsConfig => "loop_ws_config",
            Self::LoopWs => "loop_ws",
            Self::LoopConvConfig => "loop_conv_ws_config",
            Self::LoopConv => "loop_conv_ws",
            Self::ClockGate => "clock_gate",
            Self::Counter => "counter",
        }
    }
}
