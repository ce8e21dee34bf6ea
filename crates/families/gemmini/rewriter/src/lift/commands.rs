//! The accelerator's macros: what instructions their calls stand for.

use super::run::Value;
use autocomp_gemmini::{
    Activation, ConfigEx, ConfigLd, ConfigSt, ConvConfig, ConvRun, Dataflow, GemminiConfig,
    Instruction, LocalAddress, MatmulConfig, MatmulRun, PoolFields, Tile, decode,
};

/// What a call does.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// Instructions, in order.
    Issue(Vec<Instruction>),
    /// Waits for the accelerator.
    Fence,
    /// Changes nothing that is computed.
    Nothing,
}

/// Macros by name, with the numbers of arguments that they take.
const MACROS: &[(&str, &[usize])] = &[
    ("config_ex", &[5]),
    ("gemmini_config_ex", &[3]),
    ("gemmini_extended_config_ex", &[6]),
    ("gemmini_extended2_config_ex", &[6]),
    ("gemmini_extended3_config_ex", &[9]),
    ("config_ld", &[3, 4]),
    ("gemmini_config_ld", &[1]),
    ("gemmini_extended_config_ld", &[2]),
    ("gemmini_extended2_config_ld", &[3]),
    ("gemmini_extended3_config_ld", &[4]),
    ("gemmini_extended4_config_ld", &[5]),
    ("gemmini_extended5_config_ld", &[6]),
    ("config_st", &[1, 2]),
    ("gemmini_config_st", &[1]),
    ("gemmini_extended_config_st", &[3]),
    ("gemmini_extended2_config_st", &[12]),
    ("mvin", &[4]),
    ("mvin2", &[4]),
    ("mvin3", &[4]),
    ("mvout", &[4]),
    ("gemmini_extended_mvin", &[4]),
    ("gemmini_extended_mvin2", &[4]),
    ("gemmini_extended_mvin3", &[4]),
    ("gemmini_extended_mvout", &[4]),
    ("gemmini_mvin", &[2]),
    ("gemmini_mvin2", &[2]),
    ("gemmini_mvin3", &[2]),
    ("gemmini_mvout", &[2]),
    ("gemmini_block_mvin", &[3]),
    ("preload", &[6]),
    ("gemmini_extended_preload", &[6]),
    ("gemmini_preload", &[2]),
    ("preload_zeros", &[1]),
    ("gemmini_preload_zeros", &[1]),
    ("compute_preloaded", &[6]),
    ("compute_accumulated", &[6]),
    ("gemmini_extended_compute_preloaded", &[6]),
    ("gemmini_extended_compute_accumulated", &[6]),
    ("gemmini_compute_preloaded", &[2]),
    ("gemmini_compute_accumulated", &[2]),
    ("gemmini_loop_ws", &[23]),
    ("gemmini_loop_conv_ws", &[54]),
    ("fence", &[0]),
    ("gemmini_fence", &[0]),
    ("gemmini_flush", &[1]),
    ("GEMMINI_ISSUE", &[3]),
    ("GEMMINI_ISSUE_DMA", &[3]),
    ("ROCC_INSTRUCTION_RS1_RS2", &[4]),
    ("ROCC_INSTRUCTION_0_R_R", &[4]),
];

/// Returns whether there is such a macro.
pub(super) fn is_command(name: &str, arguments: usize) -> bool {
    MACROS
        .iter()
        .any(|(other, counts)| *other == name && counts.contains(&arguments))
}

/// Returns what a call does.
///
/// # Errors
/// Why it is not understood.
pub(super) fn effect(
    name: &str,
    arguments: &[Value],
    config: &GemminiConfig,
) -> Result<Effect, String> {
    let call = Call { arguments, config };
    let short = name
        .strip_prefix("gemmini_extended_")
        .or_else(|| name.strip_prefix("gemmini_"))
        .unwrap_or(name);
    if let Some(places) = bare(name) {
        return call.bare(places);
    }
    let dim = u64::from(config.dim);
    let one = |instruction| Ok(Effect::Issue(vec![instruction]));
    match (name, short) {
        (_, "fence") => Ok(Effect::Fence),
        (_, "flush") => Ok(Effect::Nothing),
        (_, text) if text.ends_with("config_ex") => one(call.config_ex(name)?),
        (_, text) if text.ends_with("config_ld") => one(call.config_ld(name)?),
        (_, text) if text.ends_with("config_st") => one(call.config_st(name)?),
        (_, "mvin" | "mvin2" | "mvin3" | "block_mvin" | "mvout") => {
            let (columns, rows) = match arguments.len() {
                2 => (dim, dim),
                3 => (call.integer(2)?.wrapping_mul(dim), dim),
                _ => (call.integer(2)?, call.integer(3)?),
            };
            let tile = call.tile_of(1, columns, rows)?;
            let dram = call.integer(0)?;
            one(match short {
                "mvout" => Instruction::Mvout { dram, tile },
                "mvin2" => Instruction::Mvin {
                    channel: 1,
                    dram,
                    tile,
                },
                "mvin3" => Instruction::Mvin {
                    channel: 2,
                    dram,
                    tile,
                },
                _ => Instruction::Mvin {
                    channel: 0,
                    dram,
                    tile,
                },
            })
        }
        (_, "preload_zeros") => one(Instruction::Preload {
            stationary: Tile {
                address: LocalAddress::none(),
                cols: dim as u16,
                rows: dim as u16,
            },
            dest: call.tile_of(0, dim, dim)?,
        }),
        (_, "preload") => {
            let [first, second] = call.tiles()?;
            one(Instruction::Preload {
                stationary: first,
                dest: second,
            })
        }
        (_, "compute_preloaded" | "compute_accumulated") => {
            let [a, bd] = call.tiles()?;
            one(Instruction::Compute {
                preloaded: short == "compute_preloaded",
                a,
                bd,
            })
        }
        (_, "loop_ws") => call.loop_ws(),
        (_, "loop_conv_ws") => call.loop_conv(),
        _ => Err("a command of another kind".to_owned()),
    }
}

/// Returns which arguments of a bare instruction are its function and its two operands.
fn bare(name: &str) -> Option<[usize; 3]> {
    match name {
        "GEMMINI_ISSUE" | "GEMMINI_ISSUE_DMA" => Some([0, 1, 2]),
        "ROCC_INSTRUCTION_RS1_RS2" | "ROCC_INSTRUCTION_0_R_R" => Some([3, 1, 2]),
        _ => None,
    }
}

struct Call<'call> {
    arguments: &'call [Value],
    config: &'call GemminiConfig,
}

impl Call<'_> {
    fn integer(&self, index: usize) -> Result<u64, String> {
        match self.arguments.get(index) {
            Some(Value::Integer(value)) => Ok(*value as u64),
            Some(Value::Float(value)) => Ok(*value as u64),
            _ => Err("an argument depends on the contents of memory".to_owned()),
        }
    }

    fn bare(&self, [funct, rs1, rs2]: [usize; 3]) -> Result<Effect, String> {
        let funct = u8::try_from(self.integer(funct)?)
            .map_err(|_| "a function that does not exist".to_owned())?;
        let (rs1, rs2) = (self.integer(rs1)?, self.integer(rs2)?);
        match decode(self.config, funct, rs1, rs2) {
            Ok(Instruction::Flush { .. }) => Ok(Effect::Nothing),
            Ok(instruction) => Ok(Effect::Issue(vec![instruction])),
            Err(unknown) => Err(unknown.to_string()),
        }
    }

    fn short(&self, index: usize) -> Result<u16, String> {
        u16::try_from(self.integer(index)?)
            .map_err(|_| "an argument does not fit its field".to_owned())
    }

    fn flag(&self, index: usize) -> Result<bool, String> {
        Ok(self.integer(index)? != 0)
    }

    fn float(&self, index: usize) -> Result<f32, String> {
        match self.arguments.get(index) {
            Some(Value::Integer(value)) => Ok(*value as f32),
            Some(Value::Float(value)) => Ok(*value as f32),
            _ => Err("a factor depends on the contents of memory".to_owned()),
        }
    }

    fn tile_of(&self, index: usize, columns: u64, rows: u64) -> Result<Tile, String> {
        let raw = self.integer(index)? as u32;
        let fits = |size: u64| u16::try_from(size).ok();
        let (Some(cols), Some(rows)) = (fits(columns), fits(rows)) else {
            return Err("a tile does not fit its fields".to_owned());
        };
        Ok(Tile {
            address: LocalAddress::new(raw, self.config),
            cols,
            rows,
        })
    }

    /// Reads two tiles: `first, second, columns, rows, columns, rows`.
    fn tiles(&self) -> Result<[Tile; 2], String> {
        let dim = u64::from(self.config.dim);
        let size = |index: usize| {
            if self.arguments.len() == 2 {
                Ok(dim)
            } else {
                self.integer(index)
            }
        };
        Ok([
            self.tile_of(0, size(2)?, size(3)?)?,
            self.tile_of(1, size(4)?, size(5)?)?,
        ])
    }

    fn activation(&self, index: usize) -> Result<Activation, String> {
        Ok(match self.integer(index)? {
            0 => Activation::None,
            1 => Activation::Relu,
            2 => Activation::LayerNorm,
            _ => Activation::IGelu,
        })
    }

    fn config_ex(&self, name: &str) -> Result<Instruction, String> {
        let dataflow = match self.integer(0)? {
            0 => Dataflow::OutputStationary,
            _ => Dataflow::WeightStationary,
        };
        let (stride, transposes, shift) = match name {
            "config_ex" => (self.short(2)?, [self.flag(3)?, self.flag(4)?], 0),
            "gemmini_config_ex" => (1, [false; 2], self.integer(2)?),
            "gemmini_extended3_config_ex" => (
                self.short(5)?,
                [self.flag(6)?, self.flag(7)?],
                self.integer(2)?,
            ),
            _ => (
                self.short(3)?,
                [self.flag(4)?, self.flag(5)?],
                self.integer(2)?,
            ),
        };
        let full = name == "gemmini_extended3_config_ex";
        Ok(Instruction::ConfigEx(ConfigEx {
            dataflow,
            activation: self.activation(1)?,
            strides_only: full && self.flag(8)?,
            a_transpose: transposes[0],
            b_transpose: transposes[1],
            a_stride: stride,
            c_stride: if full { self.short(4)? } else { 1 },
            acc_scale: if full { self.float(3)? } else { 1.0 },
            in_shift: shift as u8,
        }))
    }

    fn config_ld(&self, name: &str) -> Result<Instruction, String> {
        let dim = self.config.dim as u16;
        let scale = match self.arguments.len() {
            1 => 1.0,
            _ => self.float(1)?,
        };
        let (shrink, block_stride, repeats, channel) = match (name, self.arguments.len()) {
            ("config_ld", 4) => (false, self.short(2)?, 1, self.integer(3)?),
            ("config_ld", _) => (false, dim, 1, self.integer(2)?),
            (_, 1 | 2) => (false, dim, 1, 0),
            (_, 3) => (self.flag(2)?, dim, 1, 0),
            (_, 4) => (self.flag(2)?, dim, 1, self.integer(3)?),
            (_, 5) => (self.flag(2)?, self.short(3)?, 1, self.integer(4)?),
            _ => (
                self.flag(2)?,
                self.short(3)?,
                self.integer(4)?,
                self.integer(5)?,
            ),
        };
        Ok(Instruction::ConfigLd(ConfigLd {
            channel: channel as u8,
            shrink,
            pixel_repeats: repeats as u8,
            block_stride,
            scale,
            stride: self.integer(0)?,
        }))
    }

    fn config_st(&self, name: &str) -> Result<Instruction, String> {
        let (activation, scale) = match (name, self.arguments.len()) {
            ("config_st", 2) => (Activation::None, self.float(1)?),
            (_, 1) => (Activation::None, 1.0),
            _ => (self.activation(1)?, self.float(2)?),
        };
        let mut pool = PoolFields::default();
        if self.arguments.len() == 12 {
            pool.stride = self.short(3)? as u8;
            pool.size = self.short(4)? as u8;
        }
        Ok(Instruction::ConfigSt(ConfigSt {
            activation,
            stride: self.integer(0)? as u32,
            scale: Some(scale),
            pool,
        }))
    }

    fn loop_ws(&self) -> Result<Effect, String> {
        let low = |index| Ok::<u8, String>((self.integer(index)? & 7) as u8);
        Ok(Effect::Issue(vec![
            Instruction::LoopWsConfig(MatmulConfig::Bounds {
                pad_i: self.short(3)?,
                pad_j: self.short(4)?,
                pad_k: self.short(5)?,
                i: self.short(0)?,
                j: self.short(1)?,
                k: self.short(2)?,
            }),
            Instruction::LoopWsConfig(MatmulConfig::AddressesAb {
                a: self.integer(6)?,
                b: self.integer(7)?,
            }),
            Instruction::LoopWsConfig(MatmulConfig::AddressesDc {
                d: self.integer(8)?,
                c: self.integer(9)?,
            }),
            Instruction::LoopWsConfig(MatmulConfig::StridesAb {
                a: self.integer(10)?,
                b: self.integer(11)?,
            }),
            Instruction::LoopWsConfig(MatmulConfig::StridesDc {
                d: self.integer(12)?,
                c: self.integer(13)?,
            }),
            Instruction::LoopWs(MatmulRun {
                a_transpose: self.flag(14)?,
                b_transpose: self.flag(15)?,
                full_c: self.flag(16)?,
                low_d: self.flag(17)?,
                accumulate: self.flag(18)?,
                activation: low(19)?,
                a_spad_id: low(20)? & 3,
                b_spad_id: low(21)? & 3,
                is_resadd: self.flag(22)?,
            }),
        ]))
    }

    fn loop_conv(&self) -> Result<Effect, String> {
        let s = |index| self.short(index);
        Ok(Effect::Issue(vec![
            Instruction::LoopConvConfig(ConvConfig::Outer {
                batch_size: s(0)?,
                in_row_dim: s(1)?,
                in_col_dim: None,
                in_channels: s(3)?,
                out_channels: s(4)?,
                out_row_dim: s(5)?,
                out_col_dim: s(6)?,
                pool_out_row_dim: s(7)?,
                pool_out_col_dim: None,
                stride: s(9)?,
                padding: s(10)?,
            }),
            Instruction::LoopConvConfig(ConvConfig::Kernel {
                pool_out_col_dim: Some(s(8)?),
                kernel_dim: s(11)?,
                pool_size: s(13)?,
                pool_stride: s(14)?,
                pool_padding: s(15)?,
                batches: s(16)?,
                porows: s(17)?,
                pocols: s(18)?,
                pochs: s(19)?,
            }),
            Instruction::LoopConvConfig(ConvConfig::Inner {
                krows: s(20)?,
                kcols: s(21)?,
                kchs: s(22)?,
                lpad: s(23)?,
                rpad: s(24)?,
                upad: s(25)?,
                dpad: s(26)?,
                plpad: s(27)?,
                in_col_dim: Some(s(2)?),
            }),
            Instruction::LoopConvConfig(ConvConfig::Rows {
                kernel_dilation: s(12)?,
                prpad: s(28)?,
                pupad: s(29)?,
                pdpad: s(30)?,
                orows: s(31)?,
                ocols: s(32)?,
                strides: Some([s(48)?, s(49)?, s(50)?]),
            }),
            Instruction::LoopConvConfig(ConvConfig::WeightsOutput {
                weights: self.integer(33)?,
                output: self.integer(34)?,
            }),
            Instruction::LoopConvConfig(ConvConfig::BiasInput {
                bias: self.integer(35)?,
                input: self.integer(36)?,
            }),
            Instruction::LoopConv(ConvRun {
                no_bias: self.flag(37)?,
                no_pool: self.flag(38)?,
                downsample: self.flag(39)?,
                wrot180: self.flag(40)?,
                input_dilated: self.flag(41)?,
                activation: (self.integer(42)? & 3) as u8,
                trans_output_1203: self.flag(43)?,
                trans_weight_1203: self.flag(44)?,
                trans_weight_0132: self.flag(45)?,
                trans_input_3120: self.flag(46)?,
                max_pixels_per_row: s(47)? as u8,
                dw: self.flag(51)?,
                a_spad_id: (self.integer(52)? & 3) as u8,
                b_spad_id: (self.integer(53)? & 3) as u8,
            }),
        ]))
    }
}
