//! Floating-point instruction forms (F and D extensions).

/// What a floating-point instruction other than a fused one computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FloatOperation {
    Add,
    Subtract,
    Multiply,
    Divide,
    SquareRoot,
    SignCopy,
    SignNegate,
    SignXor,
    Minimum,
    Maximum,
    LessEqual,
    Less,
    Equal,
    ToInteger,
    FromInteger,
    ToOtherFormat,
    MoveToInteger,
    MoveFromInteger,
    Classify,
}

const OPERATIONS: [FloatOperation; 19] = {
    use FloatOperation as F;
    [
        F::Add,
        F::Subtract,
        F::Multiply,
        F::Divide,
        F::SquareRoot,
        F::SignCopy,
        F::SignNegate,
        F::SignXor,
        F::Minimum,
        F::Maximum,
        F::LessEqual,
        F::Less,
        F::Equal,
        F::ToInteger,
        F::FromInteger,
        F::ToOtherFormat,
        F::MoveToInteger,
        F::MoveFromInteger,
        F::Classify,
    ]
};

/// A floating-point instruction without its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatForm {
    pub operation: FloatOperation,
    /// Whether the format in the instruction is double precision.
    pub double: bool,
    /// Rounding mode field: 0 to 4, or 7 for the one in `frm`.
    pub rounding: u8,
    /// Integer type of a conversion: 0 `w`, 1 `wu`, 2 `l`, 3 `lu`.
    pub integer: u8,
}

impl FloatForm {
    /// Decodes the fields of opcode OP-FP.
    pub fn decode(funct7: u32, rs2: u32, funct3: u32) -> Option<Self> {
        use FloatOperation as F;
        let double = match funct7 & 3 {
            0 => false,
            1 => true,
            _ => return None,
        };
        let rounded = funct3 < 5 || funct3 == 7;
        let operation = match (funct7 >> 2, funct3, rs2) {
            (0, _, _) if rounded => F::Add,
            (1, _, _) if rounded => F::Subtract,
            (2, _, _) if rounded => F::Multiply,
            (3, _, _) if rounded => F::Divide,
            (0x0b, _, 0) if rounded => F::SquareRoot,
            (4, 0, _) => F::SignCopy,
            (4, 1, _) => F::SignNegate,
            (4, 2, _) => F::SignXor,
            (5, 0, _) => F::Minimum,
            (5, 1, _) => F::Maximum,
            (0x14, 0, _) => F::LessEqual,
            (0x14, 1, _) => F::Less,
            (0x14, 2, _) => F::Equal,
            (0x18, _, 0..=3) if rounded => F::ToInteger,
            (0x1a, _, 0..=3) if rounded => F::FromInteger,
            (8, _, other) if rounded && other == u32::from(!double) => F::ToOtherFormat,
            (0x1c, 0, 0) => F::MoveToInteger,
            (0x1c, 1, 0) => F::Classify,
            (0x1e, 0, 0) => F::MoveFromInteger,
            _ => return None,
        };
        Some(Self {
            operation,
            double,
            rounding: funct3 as u8,
            integer: rs2 as u8 & 3,
        })
    }

    /// Returns whether the operands are floating-point registers.
    pub fn reads_float(self) -> bool {
        !matches!(
            self.operation,
            FloatOperation::FromInteger | FloatOperation::MoveFromInteger
        )
    }

    /// Returns whether there is a second operand.
    pub fn reads_second(self) -> bool {
        (self.operation as u8) < FloatOperation::ToInteger as u8
            && self.operation != FloatOperation::SquareRoot
    }

    /// Returns whether the result goes to a floating-point register.
    pub fn writes_float(self) -> bool {
        use FloatOperation as F;
        !matches!(
            self.operation,
            F::LessEqual | F::Less | F::Equal | F::ToInteger | F::MoveToInteger | F::Classify
        )
    }

    /// Packs the form into an instruction's `extra` field.
    pub fn pack(self) -> u16 {
        self.operation as u16
            | u16::from(self.double) << 5
            | u16::from(self.rounding) << 6
            | u16::from(self.integer) << 9
    }

    /// Reverses [`pack`](Self::pack).
    pub fn unpack(extra: u16) -> Self {
        Self {
            operation: OPERATIONS[usize::from(extra & 31) % OPERATIONS.len()],
            double: extra >> 5 & 1 == 1,
            rounding: (extra >> 6 & 7) as u8,
            integer: (extra >> 9 & 3) as u8,
        }
    }
}

/// A fused multiply-add without its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FusedForm {
    /// Whether the product is negated (`fnmadd`, `fnmsub`).
    pub negate_product: bool,
    /// Whether the addend is negated (`fmsub`, `fnmadd`).
    pub negate_addend: bool,
    pub double: bool,
    /// As in [`FloatForm`].
    pub rounding: u8,
}

impl FusedForm {
    /// Decodes bits 3:2 of the opcode, the format and the rounding mode.
    pub fn decode(opcode: u32, format: u32, funct3: u32) -> Option<Self> {
        let double = match format {
            0 => false,
            1 => true,
            _ => return None,
        };
        if funct3 == 5 || funct3 == 6 {
            return None;
        }
        Some(Self {
            negate_product: opcode >= 2,
            negate_addend: opcode == 1 || opcode == 3,
            double,
            rounding: funct3 as u8,
        })
    }

    /// Packs the form into an instruction's `extra` field.
    pub fn pack(self) -> u16 {
        u16::from(self.negate_product)
            | u16::from(self.negate_addend) << 1
            | u16::from(self.double) << 5
            | u16::from(self.rounding) << 6
    }

    /// Reverses [`pack`](Self::pack).
    pub fn unpack(extra: u16) -> Self {
        Self {
            negate_product: extra & 1 == 1,
            negate_addend: extra >> 1 & 1 == 1,
            double: extra >> 5 & 1 == 1,
            rounding: (extra >> 6 & 7) as u8,
        }
    }
}
