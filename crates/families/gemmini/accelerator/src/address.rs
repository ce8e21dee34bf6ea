//! Addresses of rows in the scratchpad and the accumulator.

use crate::config::GemminiConfig;
use std::fmt;

/// Bits 28:26 of the address of a store: what the normalisation unit does with
/// the rows instead of storing them ([`Reset`](Self::Reset): store).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the names are those of the hardware's commands"
)]
pub enum NormCommand {
    Reset,
    Sum,
    Mean,
    Variance,
    InvStdDev,
    Max,
    SumExp,
    InvSumExp,
}

/// A local address: 32 bits of flags and a row.
///
/// Bit 31 selects the accumulator, bit 30 adds to the row on a write, bit 29
/// reads the row at full width, bits 28:26 are a normalisation command. The
/// row is in the low bits. All of 31, 30, 29, the row bits and the one bit
/// above them set mean "no operand".
///
/// Source: Gemmini `LocalAddr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddress(u32);

/// Bits 25:0, which no flag uses.
const ROW_BITS: u32 = 0x03ff_ffff;

impl LocalAddress {
    /// Decodes the 32 bits of `raw`. Every form of "no operand" becomes the
    /// one with all bits set.
    ///
    /// Bits between the row field and the flags are taken as part of the row,
    /// so that a row beyond the memory is seen as such and does not wrap.
    #[must_use]
    #[inline]
    pub fn new(raw: u32, config: &GemminiConfig) -> Self {
        Self::with_none(raw, Self::none_bits(config))
    }

    /// Returns the bits that are all set in every form of "no operand".
    pub(crate) fn none_bits(config: &GemminiConfig) -> u32 {
        0xe000_0000 | ((2u32 << config.row_bits()) - 1)
    }

    #[inline(always)]
    fn with_none(raw: u32, none_bits: u32) -> Self {
        Self(if raw & none_bits == none_bits {
            u32::MAX
        } else {
            raw
        })
    }

    /// Returns an accumulator address.
    #[must_use]
    pub fn accumulator(row: u32, accumulate: bool, full_width: bool) -> Self {
        Self(0x8000_0000 | (u32::from(accumulate) << 30) | (u32::from(full_width) << 29) | row)
    }

    /// Returns a scratchpad address.
    #[must_use]
    pub fn scratchpad(row: u32) -> Self {
        Self(row)
    }

    /// Returns the address that means "no operand".
    #[must_use]
    pub const fn none() -> Self {
        Self(u32::MAX)
    }

    /// Returns the address with another normalisation command.
    #[must_use]
    pub fn with_norm(self, command: NormCommand) -> Self {
        Self(self.0 & !(7 << 26) | (command as u32) << 26)
    }

    /// Returns all 32 bits.
    #[must_use]
    #[inline]
    pub fn raw(self) -> u32 {
        self.0
    }

    /// Returns the row; meaningless if [`is_garbage`](Self::is_garbage).
    #[must_use]
    #[inline]
    pub fn row(self) -> u32 {
        self.0 & ROW_BITS
    }

    /// Returns the address `rows` further on, with the same flags.
    #[must_use]
    #[inline]
    pub fn offset(self, rows: u32) -> Self {
        Self(self.0.wrapping_add(rows))
    }

    /// Returns whether the address means "no operand".
    #[must_use]
    #[inline]
    pub fn is_garbage(self) -> bool {
        self.0 == u32::MAX
    }

    /// Returns whether the row is in the accumulator.
    #[must_use]
    #[inline]
    pub fn is_accumulator(self) -> bool {
        self.0 >> 31 != 0
    }

    /// Returns whether a write adds to the accumulator row.
    #[must_use]
    #[inline]
    pub fn accumulates(self) -> bool {
        self.0 >> 30 & 1 != 0
    }

    /// Returns whether a read takes the accumulator row as it is.
    #[must_use]
    #[inline]
    pub fn is_full_width(self) -> bool {
        self.0 >> 29 & 1 != 0
    }

    /// Returns the normalisation command.
    #[must_use]
    #[inline]
    pub fn norm(self) -> NormCommand {
        match self.0 >> 26 & 7 {
            0 => NormCommand::Reset,
            1 => NormCommand::Sum,
            2 => NormCommand::Mean,
            3 => NormCommand::Variance,
            4 => NormCommand::InvStdDev,
            5 => NormCommand::Max,
            6 => NormCommand::SumExp,
            _ => NormCommand::InvSumExp,
        }
    }
}

impl fmt::Display for LocalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_garbage() {
            return f.write_str("none");
        }
        if !self.is_accumulator() {
            return write!(f, "spad[{}]", self.row());
        }
        write!(f, "acc[{}]", self.row())?;
        if self.accumulates() {
            f.write_str("+")?;
        }
        if self.is_full_width() {
            f.write_str(".full")?;
        }
        if self.norm() != NormCommand::Reset {
            write!(f, ".{:?}", self.norm())?;
        }
        Ok(())
    }
}

/// A rectangle of local memory: `rows` rows from `address`, `cols` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// First row.
    pub address: LocalAddress,
    /// Columns, as written in the command.
    pub cols: u16,
    /// Rows, as written in the command.
    pub rows: u16,
}

impl Tile {
    /// Decodes an operand: address in bits 31:0, columns in 47:32, rows in
    /// 63:48.
    #[must_use]
    pub fn new(operand: u64, config: &GemminiConfig) -> Self {
        Self::with_none(operand, LocalAddress::none_bits(config))
    }

    /// Decodes an operand; `none_bits` are those of
    /// [`LocalAddress::none_bits`].
    #[inline(always)]
    pub(crate) fn with_none(operand: u64, none_bits: u32) -> Self {
        Self {
            address: LocalAddress::with_none(operand as u32, none_bits),
            cols: (operand >> 32) as u16,
            rows: (operand >> 48) as u16,
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}x{}", self.address, self.rows, self.cols)
    }
}
