//! An instruction that is being decoded: its words, its operands, what is wrong with it.

use super::Num;
use crate::ptx::{Instruction, Operand, PtxError};

/// The instruction that is read.
pub(super) struct Reading<'i> {
    pub(super) instruction: &'i Instruction,
    pub(super) words: Vec<&'i str>,
}

impl<'i> Reading<'i> {
    pub(super) fn has(&self, word: &str) -> bool {
        self.words[1..].contains(&word)
    }

    pub(super) fn last(&self) -> &'i str {
        self.words.last().copied().unwrap_or("")
    }

    fn text(&self) -> String {
        self.words.join(".")
    }

    pub(super) fn error(&self, message: impl Into<String>) -> PtxError {
        let message = format!("`{}`: {}", self.text(), message.into());
        PtxError::new(self.instruction.ptx_line, message)
    }

    pub(super) fn unsupported(&self) -> PtxError {
        let message = format!("the instruction `{}`", self.text());
        PtxError::unsupported(self.instruction.ptx_line, message)
    }

    pub(super) fn operand(&self, number: usize) -> Result<&'i Operand, PtxError> {
        let operands = &self.instruction.operands;
        operands
            .get(number)
            .ok_or_else(|| self.error(format!("{} operands are too few", operands.len())))
    }

    /// Returns what the last word says the operands are.
    pub(super) fn num(&self) -> Result<Num, PtxError> {
        number(self.last()).ok_or_else(|| self.unsupported())
    }
}

/// Returns what the bits of a type mean.
pub(super) fn number(name: &str) -> Option<Num> {
    Some(match name {
        "u8" | "b8" => Num::U8,
        "s8" => Num::S8,
        "u16" | "b16" => Num::U16,
        "s16" => Num::S16,
        "u32" | "b32" => Num::U32,
        "s32" => Num::S32,
        "u64" | "b64" => Num::U64,
        "s64" => Num::S64,
        "f16" => Num::F16,
        "f16x2" => Num::F16x2,
        "bf16" => Num::Bf16,
        "bf16x2" => Num::Bf16x2,
        "f32" => Num::F32,
        "f64" => Num::F64,
        _ => return None,
    })
}
