//! What declarations say: sizes, alignments, first contents.

use super::lexer::Kind;
use super::parser::Parser;
use super::{PtxError, Space, Variable};

/// Bytes that the variables of a module may have together.
const MOST_BYTES: u64 = 256 << 20;

/// Returns the bytes of a type by the name that directives give it.
pub(super) fn type_bytes(name: &str) -> Option<u64> {
    let digits = name.trim_start_matches(|it: char| it.is_ascii_alphabetic());
    match name {
        "pred" => Some(1),
        "f16x2" | "bf16x2" => Some(4),
        "b8" | "u8" | "s8" | "b16" | "u16" | "s16" | "f16" | "bf16" | "b32" | "u32" | "s32"
        | "f32" | "tf32" | "b64" | "u64" | "s64" | "f64" | "b128" => {
            digits.parse::<u64>().ok().map(|bits| bits / 8)
        }
        _ => None,
    }
}

impl Parser<'_> {
    /// Reads what follows `.shared`, `.global`, `.const` or `.local`, up to the semicolon.
    pub(super) fn variable(&mut self, space: Space) -> Result<Variable, PtxError> {
        let mut align = 0;
        let mut width = 0;
        let mut vector = 1;
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Directive => match token.text {
                    ".align" => align = self.integer()?,
                    ".v2" => vector = 2,
                    ".v4" => vector = 4,
                    ".managed" | ".ptr" | ".attribute" => {}
                    other => {
                        width = type_bytes(&other[1..]).ok_or_else(|| {
                            PtxError::unsupported(token.line, format!("variables of type {other}"))
                        })?;
                    }
                },
                Kind::Word => {
                    return self.declared(token.text, token.line, space, align, width * vector);
                }
                _ => {
                    let message = format!("a name was expected, not `{}`", token.text);
                    return Err(PtxError::new(token.line, message));
                }
            }
        }
    }

    fn declared(
        &mut self,
        name: &str,
        line: u32,
        space: Space,
        align: u64,
        width: u64,
    ) -> Result<Variable, PtxError> {
        let too_large = || PtxError::unsupported(line, format!("`{name}` is too large"));
        let mut bytes = width;
        let mut is_open = false;
        while self.eat(b'[') {
            if self.eat(b']') {
                is_open = true;
                continue;
            }
            bytes = bytes.checked_mul(self.integer()?).ok_or_else(too_large)?;
            self.expect(b']')?;
        }
        let mut initial = Vec::new();
        if self.eat(b'=') {
            self.contents(width, &mut initial)?;
        }
        self.expect(b';')?;
        if is_open {
            bytes = initial.len() as u64;
        }
        self.declared_bytes = self.declared_bytes.saturating_add(bytes);
        if MOST_BYTES < self.declared_bytes || bytes < initial.len() as u64 {
            return Err(too_large());
        }
        let align = align.max(width).max(1);
        if !align.is_power_of_two() || 4096 < align {
            return Err(PtxError::new(
                line,
                format!("`{name}` has the alignment {align}"),
            ));
        }
        Ok(Variable {
            name: name.to_owned(),
            space,
            align,
            bytes,
            initial,
        })
    }

    fn contents(&mut self, width: u64, into: &mut Vec<u8>) -> Result<(), PtxError> {
        if !self.eat(b'{') {
            let value = self.constant_bits(width)?;
            into.extend_from_slice(&value.to_le_bytes()[..width.min(8) as usize]);
            return Ok(());
        }
        if self.eat(b'}') {
            return Ok(());
        }
        loop {
            if self.peek_mark() == Some(b'{') {
                self.enter()?;
                self.contents(width, into)?;
                self.leave();
            } else {
                let value = self.constant_bits(width)?;
                into.extend_from_slice(&value.to_le_bytes()[..width.min(8) as usize]);
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b'}')
    }
}
