//! What numbers in registers and memory are, and how they are rounded.

/// What bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Num {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

impl Num {
    /// Returns the size in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F16x2 | Self::Bf16x2 | Self::F32 => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// Returns whether it counts integers below zero.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Returns whether it is a float of any width, alone or in pairs.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 | Self::F32 | Self::F64
        )
    }
}

/// How results are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// To the nearest, ties away from zero.
    NearestAway,
    /// Towards zero.
    Zero,
    /// Down.
    Down,
    /// Up.
    Up,
}

/// Elements of the factors of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum MatrixType {
    F16,
    Bf16,
    Tf32,
    S8,
    U8,
}
