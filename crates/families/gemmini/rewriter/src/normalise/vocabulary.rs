//! What kernels may take for granted: the target's constants and the entry.

use crate::limits::HardwareLimits;
use std::collections::BTreeMap;

/// Names and sizes that the surroundings of a kernel give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// Constants by name, as the target's header defines them.
    pub constants: BTreeMap<String, i64>,
    /// Bytes of an operand (`elem_t`).
    pub element_bytes: i64,
    /// Bytes of a sum (`acc_t`).
    pub sum_bytes: i64,
    /// The function that is called.
    pub entry: String,
    /// The declaration of the function, which gives its arrays their extents
    /// where the kernel declares plain pointers; empty if unknown.
    pub signature: String,
    /// Functions of the target's headers that kernels may call, in C; empty for none.
    pub library: String,
}

impl Vocabulary {
    /// Returns the vocabulary of a target of these sizes, with the customary
    /// entry `solution`.
    #[must_use]
    pub fn of(limits: &HardwareLimits) -> Self {
        let constants = [
            ("DIM", limits.dim),
            ("BANK_NUM", limits.scratchpad_banks),
            ("BANK_ROWS", limits.scratchpad_bank_rows),
            (
                "ACC_ROWS",
                limits.accumulator_banks * limits.accumulator_bank_rows,
            ),
            ("MAX_BLOCK_LEN", limits.move_tiles),
            (
                "MAX_BLOCK_LEN_ACC",
                i64::from(limits.accelerator.max_block_len_acc()),
            ),
            ("MAX_BYTES", i64::from(limits.accelerator.dma_max_bytes)),
            ("ADDR_LEN", 32),
            ("GARBAGE_ADDR", 0xffff_ffff),
            ("elem_t_max", 127),
            ("elem_t_min", -128),
            ("true", 1),
            ("false", 0),
        ];
        Self {
            constants: constants
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            element_bytes: i64::from(limits.accelerator.element_bytes()),
            sum_bytes: 4,
            entry: "solution".to_owned(),
            signature: String::new(),
            library: String::new(),
        }
    }

    /// Returns the bytes of a scalar type; `None` if it has no fixed size.
    #[must_use]
    pub(crate) fn bytes(&self, name: &str) -> Option<i64> {
        Some(match name {
            "elem_t" => self.element_bytes,
            "acc_t" => self.sum_bytes,
            "int8_t" | "uint8_t" | "char" | "signed char" | "unsigned char" | "bool" => 1,
            "int16_t" | "uint16_t" | "short" => 2,
            "int" | "unsigned" | "unsigned int" | "int32_t" | "uint32_t" | "float" => 4,
            "int64_t" | "uint64_t" | "size_t" | "long" | "unsigned long" | "uintptr_t"
            | "intptr_t" | "ptrdiff_t" | "double" | "long long" | "unsigned long long" => 8,
            _ => return None,
        })
    }
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::of(&HardwareLimits::gemmini_int8_16())
    }
}
