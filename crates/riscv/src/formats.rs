//! Which formats of floating-point numbers a program computes with.

use crate::decode::decode;
use crate::instruction::Operation;

/// Formats of floating-point numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatFormats {
    /// binary16.
    pub half: bool,
    /// binary32.
    pub single: bool,
    /// binary64.
    pub double: bool,
}

/// Returns the formats in which the instructions that may be reached from the address `entry`
/// compare, compute or convert, loads and stores apart. `code` begins at the address `start`. Where
/// a jump takes its target from a register, all of the code is reached. Vectors of numbers have all
/// the widths that are set anywhere there, whichever of them is computed with.
#[must_use]
pub fn float_formats(code: &[u8], start: u64, entry: u64) -> FloatFormats {
    let all = (start..start + code.len() as u64).step_by(2).collect();
    let mut found = Found::default();
    if !found.walk(code, start, vec![entry]) {
        found.walk(code, start, all);
    }
    let vectors = |width: usize| found.has_vectors && found.widths[width];
    FloatFormats {
        half: found.scalars[2] || vectors(1),
        single: found.scalars[0] || vectors(2),
        double: found.scalars[1] || vectors(3),
    }
}

/// What instructions of a program say.
#[derive(Default)]
struct Found {
    /// Formats of single numbers, by the field `fmt`: single, double, half.
    scalars: [bool; 4],
    /// Widths that are set, by the field `vsew`: 8, 16, 32, 64 bits.
    widths: [bool; 4],
    /// Whether vectors of numbers are computed with.
    has_vectors: bool,
}

impl Found {
    /// Notes the instructions that are reached from `places`; returns whether the targets of all
    /// their jumps are known.
    fn walk(&mut self, code: &[u8], start: u64, mut places: Vec<u64>) -> bool {
        let mut seen = vec![false; code.len().div_ceil(2)];
        let mut is_known = true;
        while let Some(mut at) = places.pop() {
            // A register and the constant that the instruction before has put there.
            let mut constant = None;
            while let Some(bytes) = at
                .checked_sub(start)
                .and_then(|offset| code.get(offset as usize..))
                .filter(|rest| 2 <= rest.len())
            {
                let place = ((at - start) / 2) as usize;
                if std::mem::replace(&mut seen[place], true) {
                    break;
                }
                let mut word = [0; 4];
                let length = bytes.len().min(4);
                word[..length].copy_from_slice(&bytes[..length]);
                let bits = u32::from_le_bytes(word);
                let decoded = decode(bits, at);
                let it = decoded.instruction;
                self.note(it.operation, bits);
                match it.operation {
                    Operation::Illegal | Operation::Mret => break,
                    Operation::Jal => {
                        places.push(it.immediate as u64);
                        if !links(it.rd) {
                            break;
                        }
                    }
                    Operation::Jalr => {
                        match constant {
                            Some((register, base)) if register == it.rs1 => {
                                places.push((base + it.immediate) as u64);
                            }
                            // A return goes to where a call came from.
                            _ => is_known &= links(it.rs1) && !links(it.rd),
                        }
                        if !links(it.rd) {
                            break;
                        }
                    }
                    _ if it.operation.transfers() => places.push(it.immediate as u64),
                    _ => {}
                }
                let is_constant = it.operation == Operation::Constant;
                constant = is_constant.then_some((it.rd, it.immediate));
                at += u64::from(decoded.length);
            }
        }
        is_known
    }

    fn note(&mut self, operation: Operation, bits: u32) {
        /// Conversion from one format to another (funct5): `rs2` names the format of the operand.
        const BETWEEN: u32 = 0b01000;
        use Operation as O;
        match operation {
            O::Float | O::Half | O::Fused | O::HalfFused => {
                self.scalars[(bits >> 25 & 3) as usize] = true;
                if matches!(operation, O::Float | O::Half) && bits >> 27 == BETWEEN {
                    self.scalars[(bits >> 20 & 3) as usize] = true;
                }
            }
            // Loads and stores have other opcodes.
            O::Vector if bits & 0x7f == 0x57 => match bits >> 12 & 7 {
                1 | 5 => self.has_vectors = true,
                // `vsetvl`, whose type is in a register.
                7 if bits >> 30 == 0b10 => self.widths = [true; 4],
                7 => self.widths[(bits >> 23 & 3) as usize] = true,
                _ => {}
            },
            _ => {}
        }
    }
}

/// Returns whether a register holds where a call came from.
fn links(register: u8) -> bool {
    matches!(register, 1 | 5)
}
