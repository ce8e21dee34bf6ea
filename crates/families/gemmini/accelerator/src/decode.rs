//! From `(funct, rs1, rs2)` to [`Instruction`].
//!
//! Decoding only takes fields apart. Whether a value is legal is decided when
//! the instruction executes, because most rules depend on earlier commands.
//!
//! Source: Gemmini `GemminiISA` and the operand layouts of its C interface.

use crate::address::{LocalAddress, Tile};
use crate::config::{GemminiConfig, LoopConvLayout};
use crate::isa::{
    Activation, ConfigEx, ConfigLd, ConfigNorm, ConfigSt, CounterAccess, Dataflow, Instruction,
    PoolFields, UnknownFunction,
};
use crate::loop_isa::{ConvConfig, ConvRun, MatmulConfig, MatmulRun};

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
