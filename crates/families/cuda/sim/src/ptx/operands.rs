//! Operands of instructions: numbers, registers, vectors, addresses.

use super::lexer::Kind;
use super::parser::Parser;
use super::{Operand, PtxError};

impl Parser<'_> {
    pub(super) fn integer(&mut self) -> Result<u64, PtxError> {
        let line = self.line();
        let is_negative = self.eat(b'-');
        let text = self.word()?;
        let value = integer_of(text)
            .ok_or_else(|| PtxError::new(line, format!("`{text}` is no integer")))?;
        Ok(if is_negative {
            value.wrapping_neg()
        } else {
            value
        })
    }

    /// Reads a constant and returns its bits in `width` bytes.
    pub(super) fn constant_bits(&mut self, width: u64) -> Result<u64, PtxError> {
        let line = self.line();
        match self.operand()? {
            Operand::Integer(value) => Ok(value),
            Operand::Single(bits) if width == 8 => Ok(f64::from(f32::from_bits(bits)).to_bits()),
            Operand::Single(bits) => Ok(bits.into()),
            Operand::Double(bits) if width == 4 => {
                Ok((f64::from_bits(bits) as f32).to_bits().into())
            }
            Operand::Double(bits) => Ok(bits),
            _ => Err(PtxError::unsupported(line, "addresses in initial values")),
        }
    }

    pub(super) fn operand(&mut self) -> Result<Operand, PtxError> {
        let token = self.next()?;
        let first = match token.kind {
            Kind::Mark(b'{') => {
                self.enter()?;
                let mut parts = Vec::new();
                if !self.eat(b'}') {
                    loop {
                        parts.push(self.operand()?);
                        if !self.eat(b',') {
                            break;
                        }
                    }
                    self.expect(b'}')?;
                }
                self.leave();
                Operand::Vector(parts)
            }
            Kind::Mark(b'[') => self.address()?,
            Kind::Mark(b'!') => Operand::Not(self.word()?.to_owned()),
            Kind::Mark(b'-') => {
                let text = self.word()?;
                match number_of(text) {
                    Some(Operand::Integer(value)) => Operand::Integer(value.wrapping_neg()),
                    Some(Operand::Double(bits)) => Operand::Double(bits ^ (1 << 63)),
                    _ => {
                        return Err(PtxError::new(token.line, format!("`-{text}` is no number")));
                    }
                }
            }
            Kind::Word => {
                number_of(token.text).unwrap_or_else(|| Operand::Name(token.text.to_owned()))
            }
            _ => {
                let message = format!("an operand was expected, not `{}`", token.text);
                return Err(PtxError::new(token.line, message));
            }
        };
        if self.eat(b'|') {
            let second = Operand::Name(self.word()?.to_owned());
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        if let Operand::Name(name) = &first {
            // An address without brackets, `variable+8`.
            if self.eat(b'+') {
                let offset = self.integer()? as i64;
                return Ok(Operand::Address {
                    base: Some(name.clone()),
                    offset,
                });
            }
        }
        Ok(first)
    }

    fn address(&mut self) -> Result<Operand, PtxError> {
        let line = self.line();
        let mut base = None;
        let mut offset = 0_i64;
        let mut is_negative = false;
        loop {
            if self.eat(b'-') {
                is_negative = !is_negative;
                continue;
            }
            let text = self.word()?;
            match number_of(text) {
                Some(Operand::Integer(value)) => {
                    let value = value as i64;
                    let signed = if is_negative {
                        value.wrapping_neg()
                    } else {
                        value
                    };
                    offset = offset.wrapping_add(signed);
                }
                None if base.is_none() && !is_negative => base = Some(text.to_owned()),
                _ => return Err(PtxError::new(line, "an address that cannot be read")),
            }
            is_negative = false;
            if self.eat(b'+') {
                continue;
            }
            if self.peek_mark() == Some(b'-') {
                continue;
            }
            break;
        }
        if self.eat(b',') {
            return Err(PtxError::unsupported(
                line,
                "addresses of tensors and textures",
            ));
        }
        self.expect(b']')?;
        Ok(Operand::Address { base, offset })
    }
}

/// Returns the value of an integer in any of its spellings.
pub(super) fn integer_of(text: &str) -> Option<u64> {
    let text = text.strip_suffix(['U', 'u']).unwrap_or(text);
    let parse = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return parse(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        return parse(digits, 2);
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => parse(digits, 8),
        _ => parse(text, 10),
    }
}

/// Returns the number that `text` spells, if it spells one.
fn number_of(text: &str) -> Option<Operand> {
    if !text.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let bits = |digits: &str, count: usize| {
        (digits.len() == count)
            .then(|| u64::from_str_radix(digits, 16).ok())
            .flatten()
    };
    if let Some(digits) = text.strip_prefix("0f").or_else(|| text.strip_prefix("0F")) {
        return bits(digits, 8).map(|bits| Operand::Single(bits as u32));
    }
    if let Some(digits) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0D")) {
        return bits(digits, 16).map(Operand::Double);
    }
    if let Some(value) = integer_of(text) {
        return Some(Operand::Integer(value));
    }
    let value: f64 = text.parse().ok()?;
    Some(Operand::Double(value.to_bits()))
}
