//! Commands of the matrix loop unit and the parameter set that they fill.

use super::half;

/// One configuration command of the matrix loop (functions 9 to 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names are those of MatmulParameters")]
pub enum MatmulConfig {
    Bounds {
        pad_i: u16,
        pad_j: u16,
        pad_k: u16,
        i: u16,
        j: u16,
        k: u16,
    },
    AddressesAb {
        a: u64,
        b: u64,
    },
    AddressesDc {
        d: u64,
        c: u64,
    },
    StridesAb {
        a: u64,
        b: u64,
    },
    StridesDc {
        d: u64,
        c: u64,
    },
}

impl MatmulConfig {
    pub(crate) fn decode(funct: u8, rs1: u64, rs2: u64) -> Self {
        match funct {
            9 => Self::Bounds {
                pad_i: half(rs1, 0),
                pad_j: half(rs1, 16),
                pad_k: half(rs1, 32),
                i: half(rs2, 0),
                j: half(rs2, 16),
                k: half(rs2, 32),
            },
            10 => Self::AddressesAb { a: rs1, b: rs2 },
            11 => Self::AddressesDc { d: rs1, c: rs2 },
            12 => Self::StridesAb { a: rs1, b: rs2 },
            _ => Self::StridesDc { d: rs1, c: rs2 },
        }
    }
}

/// The command that starts the matrix loop (function 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one bit each in the command")]
pub struct MatmulRun {
    /// The first step of K adds to the accumulator too.
    pub accumulate: bool,
    /// C is stored at accumulator width.
    pub full_c: bool,
    /// D has operand width.
    pub low_d: bool,
    /// Activation code, 0 to 7; layer norm (2) and softmax (4) change the
    /// stores.
    pub activation: u8,
    /// Fixed half for B (1 or 2), or 0.
    pub b_spad_id: u8,
    /// Fixed half for A (1 or 2), or 0.
    pub a_spad_id: u8,
    /// A is transposed.
    pub a_transpose: bool,
    /// B is transposed.
    pub b_transpose: bool,
    /// Adds A and B element by element instead of multiplying.
    pub is_resadd: bool,
}

impl MatmulRun {
    pub(crate) fn decode(rs1: u64, rs2: u64) -> Self {
        Self {
            accumulate: rs1 & 1 != 0,
            full_c: rs1 >> 1 & 1 != 0,
            low_d: rs1 >> 2 & 1 != 0,
            activation: (rs1 >> 8 & 7) as u8,
            b_spad_id: (rs1 >> 16 & 3) as u8,
            a_spad_id: (rs1 >> 18 & 3) as u8,
            a_transpose: rs2 & 1 != 0,
            b_transpose: rs2 >> 1 & 1 != 0,
            is_resadd: rs2 >> 2 & 1 != 0,
        }
    }
}

/// What functions 9 to 13 have set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatmulParameters {
    /// Tiles along I, J, K.
    pub bounds: [u16; 3],
    /// Rows or columns missing from the last tile along I, J, K.
    pub pads: [u16; 3],
    /// DRAM addresses of A, B, D, C; 0: absent.
    pub dram: [u64; 4],
    /// Elements between rows of A, B, D, C in DRAM.
    pub strides: [u64; 4],
}

impl MatmulParameters {
    /// Applies one configuration command.
    pub fn set(&mut self, command: MatmulConfig) {
        match command {
            MatmulConfig::Bounds {
                pad_i,
                pad_j,
                pad_k,
                i,
                j,
                k,
            } => {
                self.bounds = [i, j, k];
                self.pads = [pad_i, pad_j, pad_k];
            }
            MatmulConfig::AddressesAb { a, b } => (self.dram[0], self.dram[1]) = (a, b),
            MatmulConfig::AddressesDc { d, c } => (self.dram[2], self.dram[3]) = (d, c),
            MatmulConfig::StridesAb { a, b } => (self.strides[0], self.strides[1]) = (a, b),
            MatmulConfig::StridesDc { d, c } => (self.strides[2], self.strides[3]) = (d, c),
        }
    }
}
