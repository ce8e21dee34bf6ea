//! Types of elements, and the groups of registers that hold vectors of them.

/// Least and greatest value of a whole number.
pub(crate) type Range = (i64, i64);

/// What a number of 32 bits with a sign may be.
pub(crate) const WORD: Range = (i32::MIN as i64, i32::MAX as i64);

/// A type of elements, with its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Signed(u32),
    Unsigned(u32),
    Float(u32),
}

impl Kind {
    /// Returns what C calls by this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "int8_t" => Self::Signed(8),
            "uint8_t" => Self::Unsigned(8),
            "int16_t" => Self::Signed(16),
            "uint16_t" => Self::Unsigned(16),
            "int32_t" | "int" => Self::Signed(32),
            "_Float16" => Self::Float(16),
            "float" | "double" => Self::Float(32),
            _ => return None,
        })
    }

    /// Returns the type of so many bits that holds a range, with a sign where both do.
    pub(crate) fn holding(bits: u32, range: Range) -> Option<Self> {
        let kinds = [Self::Signed(bits), Self::Unsigned(bits)];
        kinds.into_iter().find(|it| it.holds(range))
    }

    /// Returns the narrowest type of whole numbers, of `least` bits or more, that holds a range.
    pub(crate) fn narrowest(least: u32, range: Range) -> Option<Self> {
        let widths = [8, 16, 32].into_iter().filter(|it| least <= *it);
        widths.into_iter().find_map(|it| Self::holding(it, range))
    }

    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Signed(bits) | Self::Unsigned(bits) | Self::Float(bits) => bits,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }

    /// Returns the same with other bits.
    pub(crate) fn with_bits(self, bits: u32) -> Self {
        match self {
            Self::Signed(_) => Self::Signed(bits),
            Self::Unsigned(_) => Self::Unsigned(bits),
            Self::Float(_) => Self::Float(bits),
        }
    }

    /// Returns the values; those of floats as whole numbers are nothing.
    pub(crate) fn limits(self) -> Range {
        match self {
            Self::Signed(bits) => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
            Self::Unsigned(bits) => (0, (1 << bits) - 1),
            Self::Float(_) => (0, -1),
        }
    }

    pub(crate) fn holds(self, range: Range) -> bool {
        let (least, most) = self.limits();
        least <= range.0 && range.1 <= most
    }

    /// Returns its name in C.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Signed(8) => "int8_t",
            Self::Unsigned(8) => "uint8_t",
            Self::Signed(16) => "int16_t",
            Self::Unsigned(16) => "uint16_t",
            Self::Unsigned(_) => "uint32_t",
            Self::Signed(_) => "int32_t",
            Self::Float(16) => "_Float16",
            Self::Float(_) => "float",
        }
    }

    /// Returns the letter and bits that intrinsics name it by.
    fn short(self) -> String {
        match self {
            Self::Signed(bits) => format!("i{bits}"),
            Self::Unsigned(bits) => format!("u{bits}"),
            Self::Float(bits) => format!("f{bits}"),
        }
    }
}

/// How many registers vectors have: all of a loop hold as many elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// Bits of the widest elements.
    pub widest: u32,
    /// Registers of a group of these: 1, 2, 4 or 8.
    pub registers: u32,
}

impl Groups {
    /// Returns the group for elements of so many bits, as intrinsics name it (`m4`, `mf2`); nothing
    /// where they are wider than the widest.
    pub(crate) fn group(self, bits: u32) -> Option<String> {
        if self.widest < bits {
            return None;
        }
        Some(match 8 * self.registers * bits / self.widest {
            1 => "mf8".into(),
            2 => "mf4".into(),
            4 => "mf2".into(),
            eighths if 8 <= eighths => format!("m{}", eighths / 8),
            _ => return None,
        })
    }

    /// Returns type and group as the last part of the name of an intrinsic (`f32m4`).
    pub(crate) fn suffix(self, kind: Kind) -> Option<String> {
        Some(format!("{}{}", kind.short(), self.group(kind.bits())?))
    }

    /// Returns the type of vectors.
    pub(crate) fn vector(self, kind: Kind) -> Option<String> {
        let letters = match kind {
            Kind::Signed(_) => "int",
            Kind::Unsigned(_) => "uint",
            Kind::Float(_) => "float",
        };
        let (bits, group) = (kind.bits(), self.group(kind.bits())?);
        Some(format!("v{letters}{bits}{group}_t"))
    }

    /// Returns bits of a register for each bit of a mask.
    pub(crate) fn mask(self) -> u32 {
        self.widest / self.registers
    }

    /// Returns the intrinsic that asks how many elements the next strip has.
    pub(crate) fn ask(self) -> String {
        format!("__riscv_vsetvl_e{}m{}", self.widest, self.registers)
    }

    /// Returns the intrinsic that tells how many elements a strip has at most.
    pub(crate) fn most(self) -> String {
        format!("__riscv_vsetvlmax_e{}m{}()", self.widest, self.registers)
    }
}
