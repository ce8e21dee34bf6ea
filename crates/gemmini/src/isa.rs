//! The instruction set: from `(funct, rs1, rs2)` to [`Instruction`] and text.
//!
//! Decoding only takes fields apart. Whether a value is legal is decided when
//! the instruction executes, because most rules depend on earlier commands.
//!
//! Source: Gemmini `GemminiISA` and the operand layouts of its C interface.

use crate::address::{LocalAddress, Tile};
use crate::config::{GemminiConfig, LoopConvLayout};
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

/// Takes a command apart.
///
/// # Errors
/// [`UnknownFunction`] if `funct` names no command.
pub fn decode(
    config: &GemminiConfig,
    funct: u8,
    rs1: u64,
    rs2: u64,
) -> Result<Instruction, UnknownFunction> {
    Decoder::new(config).decode_then(funct, rs1, rs2, Decoded)
}

/// Takes a decoded command; a closure would not surely be inlined.
pub(crate) trait Receiver {
    /// What becomes of it.
    type Output;

    /// Takes the command.
    fn receive(self, instruction: Result<Instruction, UnknownFunction>) -> Self::Output;
}

/// Only returns the command.
struct Decoded;

impl Receiver for Decoded {
    type Output = Result<Instruction, UnknownFunction>;

    fn receive(self, instruction: Result<Instruction, UnknownFunction>) -> Self::Output {
        instruction
    }
}

/// Takes the commands of one instance apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder {
    none_bits: u32,
    square: bool,
}

impl Decoder {
    pub fn new(config: &GemminiConfig) -> Self {
        Self {
            none_bits: LocalAddress::none_bits(config),
            square: config.loop_conv_layout == LoopConvLayout::Square,
        }
    }

    /// Hands a command on as [`decode`] would return it.
    ///
    /// Each of the common commands calls the receiver by itself: what follows
    /// is compiled for it alone, and its operands stay in registers.
    #[inline(always)]
    pub fn decode_then<R: Receiver>(self, funct: u8, rs1: u64, rs2: u64, receiver: R) -> R::Output {
        let tile = |operand| Tile::with_none(operand, self.none_bits);
        let mvin = |channel| Instruction::Mvin {
            channel,
            dram: rs1,
            tile: tile(rs2),
        };
        match funct {
            1 => receiver.receive(Ok(mvin(1))),
            2 => receiver.receive(Ok(mvin(0))),
            14 => receiver.receive(Ok(mvin(2))),
            3 => receiver.receive(Ok(Instruction::Mvout {
                dram: rs1,
                tile: tile(rs2),
            })),
            4 | 5 => receiver.receive(Ok(Instruction::Compute {
                preloaded: funct == 4,
                a: tile(rs1),
                bd: tile(rs2),
            })),
            6 => receiver.receive(Ok(Instruction::Preload {
                stationary: tile(rs1),
                dest: tile(rs2),
            })),
            _ => receiver.receive(decode_rest(funct, rs1, rs2, self.square)),
        }
    }
}

/// Takes a command apart that neither moves nor computes.
#[inline(never)]
fn decode_rest(
    funct: u8,
    rs1: u64,
    rs2: u64,
    square: bool,
) -> Result<Instruction, UnknownFunction> {
    Ok(match funct {
        0 => decode_config(rs1, rs2),
        7 => Instruction::Flush { skip: rs1 & 1 != 0 },
        8 => Instruction::LoopWs(MatmulRun::decode(rs1, rs2)),
        9..=13 => Instruction::LoopWsConfig(MatmulConfig::decode(funct, rs1, rs2)),
        15 => Instruction::LoopConv(ConvRun::decode(rs1, rs2)),
        16..=21 => Instruction::LoopConvConfig(if square {
            ConvConfig::decode_square(funct, rs1, rs2)
        } else {
            ConvConfig::decode_rectangular(funct, rs1, rs2)
        }),
        22 => Instruction::ClockGate {
            enable: rs1 & 1 != 0,
        },
        126 => Instruction::Counter(CounterAccess {
            reset: rs1 & 1 != 0,
            release_snapshot: rs1 >> 1 & 1 != 0,
            take_snapshot: rs1 >> 2 & 1 != 0,
            configure: rs1 >> 3 & 1 != 0,
            index: (rs1 >> 4 & 7) as u8,
            event: (rs1 >> 12 & 63) as u8,
            external: rs1 >> 31 & 1 != 0,
        }),
        _ => return Err(UnknownFunction { funct }),
    })
}

fn decode_config(rs1: u64, rs2: u64) -> Instruction {
    let bit = |at: u32| rs1 >> at & 1 != 0;
    let high = (rs1 >> 32) as u32;
    match rs1 & 3 {
        0 => Instruction::ConfigEx(ConfigEx {
            dataflow: if bit(2) {
                Dataflow::WeightStationary
            } else {
                Dataflow::OutputStationary
            },
            activation: Activation::from_bits(rs1 >> 3),
            strides_only: bit(7),
            a_transpose: bit(8),
            b_transpose: bit(9),
            a_stride: (rs1 >> 16) as u16,
            c_stride: (rs2 >> 48) as u16,
            acc_scale: f32::from_bits(high),
            in_shift: (rs2 & 31) as u8,
        }),
        1 => Instruction::ConfigLd(ConfigLd {
            channel: (rs1 >> 3 & 3) as u8,
            shrink: bit(2),
            pixel_repeats: ((rs1 >> 8) as u8).max(1),
            block_stride: (rs1 >> 16) as u16,
            scale: f32::from_bits(high),
            stride: rs2,
        }),
        2 => Instruction::ConfigSt(ConfigSt {
            activation: Activation::from_bits(rs1 >> 2),
            stride: rs2 as u32,
            scale: match (rs2 >> 32) as u32 {
                u32::MAX => None,
                bits => Some(f32::from_bits(bits)),
            },
            pool: PoolFields {
                stride: (rs1 >> 4 & 3) as u8,
                size: (rs1 >> 6 & 3) as u8,
                upad: (rs1 >> 8 & 3) as u8,
                lpad: (rs1 >> 10 & 3) as u8,
                out_dim: (rs1 >> 24) as u8,
                porows: (rs1 >> 32) as u8,
                pocols: (rs1 >> 40) as u8,
                orows: (rs1 >> 48) as u8,
                ocols: (rs1 >> 56) as u8,
            },
        }),
        _ => Instruction::ConfigNorm(ConfigNorm {
            stats_id: (rs1 >> 8) as u8,
            act_msb: bit(16),
            stats_id_only: bit(17),
            q_const_is_inverse: bit(18),
            q_const: high as i32,
            qb: rs2 as i32,
            qc: (rs2 >> 32) as i32,
        }),
    }
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
