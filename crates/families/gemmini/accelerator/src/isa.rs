//! The instruction set: what a command says, and its text.
//!
//! Source: Gemmini `GemminiISA` and the operand layouts of its C interface.

use crate::address::Tile;
use crate::loop_isa::{ConvConfig, ConvRun, MatmulConfig, MatmulRun};
use crate::mnemonic::Mnemonic;
use std::fmt;

/// Which of the two operands stays in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dataflow {
    /// Sums stay, operands stream.
    OutputStationary,
    /// Weights stay, sums leave.
    WeightStationary,
}

/// What is applied to elements on their way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    None,
    /// Negative becomes zero.
    Relu,
    /// Layer norm.
    LayerNorm,
    /// Integer approximation of GELU.
    IGelu,
}

impl Activation {
    pub(crate) fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::None,
            1 => Self::Relu,
            2 => Self::LayerNorm,
            _ => Self::IGelu,
        }
    }
}

/// `config_ex`: the array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfigEx {
    /// Dataflow.
    pub dataflow: Dataflow,
    /// Activation of results written to the scratchpad.
    pub activation: Activation,
    /// Only the two strides are set.
    pub strides_only: bool,
    /// A is read transposed.
    pub a_transpose: bool,
    /// B is read transposed.
    pub b_transpose: bool,
    /// Local rows between consecutive rows of A.
    pub a_stride: u16,
    /// Local rows between consecutive rows of the result.
    pub c_stride: u16,
    /// Factor of operands read from the accumulator.
    pub acc_scale: f32,
    /// Rounding right shift of output-stationary results, 0 to 31.
    pub in_shift: u8,
}

/// `config_ld`: one of the three load channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfigLd {
    /// Channel, 0 to 3 as encoded; 3 does not exist.
    pub channel: u8,
    /// Moves into the accumulator read operand-width elements.
    pub shrink: bool,
    /// Times each pixel is repeated, at least 1.
    pub pixel_repeats: u8,
    /// Local rows between consecutive blocks of `dim` columns.
    pub block_stride: u16,
    /// Factor.
    pub scale: f32,
    /// Bytes between consecutive rows in DRAM.
    pub stride: u64,
}

/// `config_st`: the store path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfigSt {
    /// Activation.
    pub activation: Activation,
    /// Bytes between consecutive rows in DRAM.
    pub stride: u32,
    /// Factor; `None` keeps the one in force.
    pub scale: Option<f32>,
    /// Pooling window and image.
    pub pool: PoolFields,
}

/// Pooling fields of `config_st`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolFields {
    /// Distance between windows; 0: no pooling.
    pub stride: u8,
    /// Rows and columns of the window.
    pub size: u8,
    /// Padding above the image.
    pub upad: u8,
    /// Padding left of the image.
    pub lpad: u8,
    /// Columns of the result in DRAM.
    pub out_dim: u8,
    /// Rows of the result.
    pub porows: u8,
    /// Columns of the result.
    pub pocols: u8,
    /// Rows of the image.
    pub orows: u8,
    /// Columns of the image.
    pub ocols: u8,
}

/// `config_norm`: constants of the normalisation and activation units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigNorm {
    /// Which of the two sets of statistics is used.
    pub stats_id: u8,
    /// Selects softmax.
    pub act_msb: bool,
    /// Only `stats_id` is set.
    pub stats_id_only: bool,
    /// `q_const` is 1/ln 2 instead of ln 2.
    pub q_const_is_inverse: bool,
    /// ln 2 or its inverse in fixed point.
    pub q_const: i32,
    /// Linear constant of the polynomial.
    pub qb: i32,
    /// Absolute constant of the polynomial.
    pub qc: i32,
}

/// The counter instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one bit each in the command")]
pub struct CounterAccess {
    /// Zeroes every counter.
    pub reset: bool,
    /// Leaves snapshot mode.
    pub release_snapshot: bool,
    /// Enters snapshot mode.
    pub take_snapshot: bool,
    /// Changes what the counter counts.
    pub configure: bool,
    /// Counter, 0 to 7.
    pub index: u8,
    /// Event code, 0 to 63.
    pub event: u8,
    /// The event is an external one.
    pub external: bool,
}

/// One decoded command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    /// Configures the array.
    ConfigEx(ConfigEx),
    /// Configures a load channel.
    ConfigLd(ConfigLd),
    /// Configures the store path.
    ConfigSt(ConfigSt),
    /// Configures the normalisation unit.
    ConfigNorm(ConfigNorm),
    /// Moves a tile from DRAM into local memory.
    Mvin {
        /// Load channel, 0 to 2.
        channel: u8,
        /// Address of the first byte; 0: zeros.
        dram: u64,
        /// Destination.
        tile: Tile,
    },
    /// Moves a tile from local memory to DRAM.
    Mvout {
        /// Address of the first byte.
        dram: u64,
        /// Source.
        tile: Tile,
    },
    /// Names the next stationary operand and the destination of results.
    Preload {
        /// B (weight stationary) or D (output stationary).
        stationary: Tile,
        /// C.
        dest: Tile,
    },
    /// Multiplies.
    Compute {
        /// Takes the operand of the preload into the array first; otherwise
        /// what is in the array stays.
        preloaded: bool,
        /// A.
        a: Tile,
        /// D (weight stationary) or B (output stationary).
        bd: Tile,
    },
    /// Flushes the TLB.
    Flush {
        /// Skips the current request.
        skip: bool,
    },
    /// Configures the matrix loop.
    LoopWsConfig(MatmulConfig),
    /// Runs the matrix loop.
    LoopWs(MatmulRun),
    /// Configures the convolution loop.
    LoopConvConfig(ConvConfig),
    /// Runs the convolution loop.
    LoopConv(ConvRun),
    /// Enables or disables clock gating.
    ClockGate {
        /// Whether it is on.
        enable: bool,
    },
    /// Reads or configures an event counter.
    Counter(CounterAccess),
}

/// The function field names no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("function {funct} is not a command of this accelerator (0 to 22 and 126 are)")]
pub struct UnknownFunction {
    /// The function field.
    pub funct: u8,
}

impl Instruction {
    /// Returns whether it sets or starts one of the loop units.
    #[inline]
    pub(crate) fn is_for_loops(&self) -> bool {
        matches!(
            self,
            Self::LoopWs(_) | Self::LoopWsConfig(_) | Self::LoopConv(_) | Self::LoopConvConfig(_)
        )
    }

    /// Returns the function field; that of the first one where several
    /// configuration commands share a kind.
    #[must_use]
    #[inline]
    pub fn funct(&self) -> u8 {
        match self {
            Self::ConfigEx(_) | Self::ConfigLd(_) | Self::ConfigSt(_) | Self::ConfigNorm(_) => 0,
            Self::Mvin { channel: 1, .. } => 1,
            Self::Mvin { channel: 0, .. } => 2,
            Self::Mvin { .. } => 14,
            Self::Mvout { .. } => 3,
            Self::Compute {
                preloaded: true, ..
            } => 4,
            Self::Compute { .. } => 5,
            Self::Preload { .. } => 6,
            Self::Flush { .. } => 7,
            Self::LoopWs(_) => 8,
            Self::LoopWsConfig(_) => 9,
            Self::LoopConv(_) => 15,
            Self::LoopConvConfig(_) => 16,
            Self::ClockGate { .. } => 22,
            Self::Counter(_) => 126,
        }
    }

    /// Returns the customary name (`mvin2`, `compute_preloaded`).
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.mnemonic().name()
    }

    /// Returns what names it.
    #[inline]
    pub(crate) fn mnemonic(&self) -> Mnemonic {
        use Mnemonic as M;
        match self {
            Self::ConfigEx(_) => M::ConfigEx,
            Self::ConfigLd(_) => M::ConfigLd,
            Self::ConfigSt(_) => M::ConfigSt,
            Self::ConfigNorm(_) => M::ConfigNorm,
            Self::Mvin { channel: 0, .. } => M::Mvin,
            Self::Mvin { channel: 1, .. } => M::Mvin2,
            Self::Mvin { .. } => M::Mvin3,
            Self::Mvout { .. } => M::Mvout,
            Self::Preload { .. } => M::Preload,
            Self::Compute {
                preloaded: true, ..
            } => M::ComputePreloaded,
            Self::Compute { .. } => M::ComputeAccumulated,
            Self::Flush { .. } => M::Flush,
            Self::LoopWsConfig(_) => M::LoopWsConfig,
            Self::LoopWs(_) => M::LoopWs,
            Self::LoopConvConfig(_) => M::LoopConvConfig,
            Self::LoopConv(_) => M::LoopConv,
            Self::ClockGate { .. } => M::ClockGate,
            Self::Counter(_) => M::Counter,
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::ConfigEx(c) => {
                let flow = if c.dataflow == Dataflow::WeightStationary {
                    "ws"
                } else {
                    "os"
                };
                if !c.strides_only {
                    write!(f, " {flow}")?;
                    if c.activation != Activation::None {
                        write!(f, " {:?}", c.activation)?;
                    }
                    for (set, name) in [
                        (c.a_transpose, " a_transpose"),
                        (c.b_transpose, " b_transpose"),
                    ] {
                        if set {
                            f.write_str(name)?;
                        }
                    }
                    write!(f, " shift={}", c.in_shift)?;
                }
                write!(f, " a_stride={} c_stride={}", c.a_stride, c.c_stride)
            }
            Self::ConfigLd(c) => {
                write!(
                    f,
                    " id={} stride={} scale={} block_stride={}",
                    c.channel, c.stride, c.scale, c.block_stride
                )?;
                if c.pixel_repeats > 1 {
                    write!(f, " pixel_repeats={}", c.pixel_repeats)?;
                }
                f.write_str(if c.shrink { " shrink" } else { "" })
            }
            Self::ConfigSt(c) => {
                write!(f, " stride={}", c.stride)?;
                match c.scale {
                    Some(scale) => write!(f, " scale={scale}")?,
                    None => f.write_str(" scale=keep")?,
                }
                if c.activation != Activation::None {
                    write!(f, " {:?}", c.activation)?;
                }
                if c.pool.stride != 0 || c.pool.size != 0 {
                    let p = c.pool;
                    write!(
                        f,
                        " pool {0}x{0}/{1} image {2}x{3} result {4}x{5}",
                        p.size, p.stride, p.orows, p.ocols, p.porows, p.pocols
                    )?;
                }
                Ok(())
            }
            Self::ConfigNorm(c) if c.stats_id_only => write!(f, " stats_id={}", c.stats_id),
            Self::ConfigNorm(c) => write!(
                f,
                " stats_id={} q={} qb={} qc={}",
                c.stats_id, c.q_const, c.qb, c.qc
            ),
            Self::Mvin { dram, tile, .. } => write!(f, " {dram:#x} -> {tile}"),
            Self::Mvout { dram, tile } => write!(f, " {tile} -> {dram:#x}"),
            Self::Preload { stationary, dest } => write!(f, " {stationary}, result {dest}"),
            Self::Compute { a, bd, .. } => write!(f, " {a}, {bd}"),
            Self::Flush { skip } => f.write_str(if *skip { " skip" } else { "" }),
            Self::LoopWsConfig(c) => write!(f, " {c:?}"),
            Self::LoopWs(c) => write!(f, " {c:?}"),
            Self::LoopConvConfig(c) => write!(f, " {c:?}"),
            Self::LoopConv(c) => write!(f, " {c:?}"),
            Self::ClockGate { enable } => f.write_str(if *enable { " on" } else { " off" }),
            Self::Counter(c) => write!(f, " {}", c.index),
        }
    }
}
