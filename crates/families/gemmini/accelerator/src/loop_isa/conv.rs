//! Commands of the convolution loop unit and the parameter set that they fill.

use super::half;

/// One configuration command of the convolution loop (functions 16 to 21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names are those of ConvParameters")]
pub enum ConvConfig {
    Outer {
        batch_size: u16,
        in_row_dim: u16,
        in_col_dim: Option<u16>,
        in_channels: u16,
        out_channels: u16,
        out_row_dim: u16,
        out_col_dim: u16,
        pool_out_row_dim: u16,
        pool_out_col_dim: Option<u16>,
        stride: u16,
        padding: u16,
    },
    Kernel {
        kernel_dim: u16,
        pool_out_col_dim: Option<u16>,
        pool_size: u16,
        pool_stride: u16,
        pool_padding: u16,
        batches: u16,
        porows: u16,
        pocols: u16,
        pochs: u16,
    },
    Inner {
        krows: u16,
        kcols: u16,
        kchs: u16,
        lpad: u16,
        rpad: u16,
        upad: u16,
        dpad: u16,
        plpad: u16,
        in_col_dim: Option<u16>,
    },
    Rows {
        orows: u16,
        ocols: u16,
        prpad: u16,
        pupad: u16,
        pdpad: u16,
        kernel_dilation: u16,
        strides: Option<[u16; 3]>,
    },
    WeightsOutput {
        weights: u64,
        output: u64,
    },
    BiasInput {
        bias: u64,
        input: u64,
    },
}

impl ConvConfig {
    pub(crate) fn decode_square(funct: u8, rs1: u64, rs2: u64) -> Self {
        match funct {
            16 => Self::Outer {
                batch_size: half(rs1, 0),
                in_row_dim: half(rs1, 16),
                in_col_dim: Some(half(rs1, 16)),
                in_channels: half(rs1, 32),
                out_channels: half(rs1, 48),
                out_row_dim: half(rs2, 0),
                out_col_dim: half(rs2, 0),
                pool_out_row_dim: half(rs2, 16),
                pool_out_col_dim: Some(half(rs2, 16)),
                stride: half(rs2, 32),
                padding: half(rs2, 48),
            },
            17 => Self::Kernel {
                kernel_dim: half(rs1, 48),
                pool_out_col_dim: None,
                pool_size: half(rs1, 32),
                pool_stride: half(rs1, 16),
                pool_padding: half(rs1, 0),
                batches: half(rs2, 48),
                porows: half(rs2, 32),
                pocols: half(rs2, 16),
                pochs: half(rs2, 0),
            },
            18 => Self::Inner {
                krows: half(rs1, 48),
                kcols: half(rs1, 32),
                kchs: half(rs1, 16),
                lpad: half(rs1, 0),
                rpad: half(rs2, 48),
                upad: half(rs2, 32),
                dpad: half(rs2, 16),
                plpad: half(rs2, 0),
                in_col_dim: None,
            },
            19 => Self::Rows {
                orows: half(rs1, 48),
                prpad: half(rs1, 32),
                pupad: half(rs1, 16),
                pdpad: half(rs1, 0),
                kernel_dilation: half(rs2, 16),
                ocols: half(rs2, 0),
                strides: None,
            },
            _ => Self::decode_addresses(funct, rs1, rs2),
        }
    }

    pub(crate) fn decode_rectangular(funct: u8, rs1: u64, rs2: u64) -> Self {
        match funct {
            16 => Self::Outer {
                batch_size: half(rs1, 0),
                in_row_dim: half(rs1, 16),
                in_col_dim: None,
                in_channels: half(rs1, 32),
                out_channels: half(rs1, 48),
                out_row_dim: half(rs2, 0),
                out_col_dim: half(rs2, 32),
                pool_out_row_dim: half(rs2, 16),
                pool_out_col_dim: None,
                stride: (rs2 >> 48 & 0xff) as u16,
                padding: (rs2 >> 56) as u16,
            },
            17 => Self::Kernel {
                kernel_dim: half(rs1, 48),
                pool_out_col_dim: Some(half(rs1, 32)),
                pool_size: half(rs1, 16),
                pool_stride: (rs1 >> 8 & 0xff) as u16,
                pool_padding: (rs1 & 0xff) as u16,
                batches: half(rs2, 48),
                porows: half(rs2, 32),
                pocols: half(rs2, 16),
                pochs: half(rs2, 0),
            },
            18 => Self::Inner {
                krows: half(rs1, 48),
                kcols: half(rs1, 32),
                kchs: half(rs1, 16),
                lpad: half(rs1, 0),
                rpad: half(rs2, 48),
                upad: half(rs2, 32),
                dpad: (rs2 >> 24 & 0xff) as u16,
                plpad: (rs2 >> 16 & 0xff) as u16,
                in_col_dim: Some(half(rs2, 0)),
            },
            19 => Self::Rows {
                orows: half(rs1, 48),
                prpad: half(rs1, 32),
                pupad: (rs1 >> 21 & 0x7ff) as u16,
                pdpad: (rs1 >> 10 & 0x7ff) as u16,
                kernel_dilation: (rs1 & 0x3ff) as u16,
                ocols: half(rs2, 0),
                strides: Some([half(rs2, 48), half(rs2, 32), half(rs2, 16)]),
            },
            _ => Self::decode_addresses(funct, rs1, rs2),
        }
    }

    fn decode_addresses(funct: u8, rs1: u64, rs2: u64) -> Self {
        if funct == 20 {
            Self::WeightsOutput {
                weights: rs1,
                output: rs2,
            }
        } else {
            Self::BiasInput {
                bias: rs1,
                input: rs2,
            }
        }
    }
}

/// The command that starts the convolution loop (function 15).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one bit each in the command")]
pub struct ConvRun {
    /// Zeros instead of a bias.
    pub no_bias: bool,
    /// Kernel rotated by half a turn.
    pub wrot180: bool,
    /// Output stored with the batch innermost but one.
    pub trans_output_1203: bool,
    /// Weights in that order.
    pub trans_weight_1203: bool,
    /// Weights with channels swapped.
    pub trans_weight_0132: bool,
    /// Input with channel and batch swapped.
    pub trans_input_3120: bool,
    /// Depthwise.
    pub dw: bool,
    /// Pixels packed in one row, 0 to 255.
    pub max_pixels_per_row: u8,
    /// Fixed half for the weights (1 or 2), or 0.
    pub b_spad_id: u8,
    /// Fixed half for the input (1 or 2), or 0.
    pub a_spad_id: u8,
    /// No pooling.
    pub no_pool: bool,
    /// Only every second input pixel is used.
    pub downsample: bool,
    /// Zeros between input pixels.
    pub input_dilated: bool,
    /// Activation code, 0 to 3.
    pub activation: u8,
}

impl ConvRun {
    pub(crate) fn decode(rs1: u64, rs2: u64) -> Self {
        let bit = |value: u64, at: u32| value >> at & 1 != 0;
        Self {
            no_bias: bit(rs1, 0),
            wrot180: bit(rs1, 1),
            trans_output_1203: bit(rs1, 2),
            trans_weight_1203: bit(rs1, 3),
            trans_weight_0132: bit(rs1, 4),
            trans_input_3120: bit(rs1, 5),
            dw: bit(rs1, 6),
            max_pixels_per_row: (rs1 >> 8) as u8,
            b_spad_id: (rs1 >> 16 & 3) as u8,
            a_spad_id: (rs1 >> 18 & 3) as u8,
            no_pool: bit(rs2, 0),
            downsample: bit(rs2, 1),
            input_dilated: bit(rs2, 2),
            activation: (rs2 >> 3 & 3) as u8,
        }
    }
}

/// What functions 16 to 21 have set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the command fields")]
pub struct ConvParameters {
    pub batch_size: u16,
    pub in_row_dim: u16,
    pub in_col_dim: u16,
    pub in_channels: u16,
    pub out_channels: u16,
    pub out_row_dim: u16,
    pub out_col_dim: u16,
    pub pool_out_row_dim: u16,
    pub pool_out_col_dim: u16,
    pub stride: u16,
    pub padding: u16,
    pub kernel_dim: u16,
    pub kernel_dilation: u16,
    pub pool_size: u16,
    pub pool_stride: u16,
    pub pool_padding: u16,
    pub batches: u16,
    pub porows: u16,
    pub pocols: u16,
    pub pochs: u16,
    pub krows: u16,
    pub kcols: u16,
    pub kchs: u16,
    pub lpad: u16,
    pub rpad: u16,
    pub upad: u16,
    pub dpad: u16,
    pub plpad: u16,
    pub prpad: u16,
    pub pupad: u16,
    pub pdpad: u16,
    pub orows: u16,
    pub ocols: u16,
    /// Elements between pixels of the input; `None`: `in_channels`.
    pub in_stride: Option<u16>,
    /// Elements between rows of the weights; `None`: `out_channels`.
    pub weight_stride: Option<u16>,
    /// Elements between pixels of the output; `None`: `out_channels`.
    pub out_stride: Option<u16>,
    pub weights: u64,
    pub output: u64,
    pub bias: u64,
    pub input: u64,
}

impl ConvParameters {
    /// Applies one configuration command.
    pub fn set(&mut self, command: ConvConfig) {
        match command {
            ConvConfig::Outer {
                batch_size,
                in_row_dim,
                in_col_dim,
                in_channels,
                out_channels,
                out_row_dim,
                out_col_dim,
                pool_out_row_dim,
                pool_out_col_dim,
                stride,
                padding,
            } => {
                self.batch_size = batch_size;
                self.in_row_dim = in_row_dim;
                self.in_col_dim = in_col_dim.unwrap_or(self.in_col_dim);
                self.in_channels = in_channels;
                self.out_channels = out_channels;
                self.out_row_dim = out_row_dim;
                self.out_col_dim = out_col_dim;
                self.pool_out_row_dim = pool_out_row_dim;
                self.pool_out_col_dim = pool_out_col_dim.unwrap_or(self.pool_out_col_dim);
                self.stride = stride;
                self.padding = padding;
            }
            ConvConfig::Kernel {
                kernel_dim,
                pool_out_col_dim,
                pool_size,
                pool_stride,
                pool_padding,
                batches,
                porows,
                pocols,
                pochs,
            } => {
                self.kernel_dim = kernel_dim;
                self.pool_out_col_dim = pool_out_col_dim.unwrap_or(self.pool_out_col_dim);
                self.pool_size = pool_size;
                self.pool_stride = pool_stride;
                self.pool_padding = pool_padding;
                self.batches = batches;
                self.porows = porows;
                self.pocols = pocols;
                self.pochs = pochs;
            }
            ConvConfig::Inner {
                krows,
                kcols,
                kchs,
                lpad,
                rpad,
                upad,
                dpad,
                plpad,
                in_col_dim,
            } => {
                self.krows = krows;
                self.kcols = kcols;
                self.kchs = kchs;
                self.lpad = lpad;
                self.rpad = rpad;
                self.upad = upad;
                self.dpad = dpad;
                self.plpad = plpad;
                self.in_col_dim = in_col_dim.unwrap_or(self.in_col_dim);
            }
            ConvConfig::Rows {
                orows,
                ocols,
                prpad,
                pupad,
                pdpad,
                kernel_dilation,
                strides,
            } => {
                self.orows = orows;
                self.ocols = ocols;
                self.prpad = prpad;
                self.pupad = pupad;
                self.pdpad = pdpad;
                self.kernel_dilation = kernel_dilation;
                self.in_stride = strides.map(|s| s[0]);
                self.weight_stride = strides.map(|s| s[1]);
                self.out_stride = strides.map(|s| s[2]);
            }
            ConvConfig::WeightsOutput { weights, output } => {
                (self.weights, self.output) = (weights, output)
            }
            ConvConfig::BiasInput { bias, input } => (self.bias, self.input) = (bias, input),
        }
    }
}
