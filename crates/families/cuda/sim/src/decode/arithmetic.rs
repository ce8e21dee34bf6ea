//! Moves, arithmetic, comparisons and choices.

use super::{
    Bin, CarryOp, Cmp, Decoder, Junction, Num, Op, Property, Reading, Reg, Tri, Un, number,
};
use crate::ptx::{Operand, PtxError};

/// Returns the comparison that a word names.
fn comparison(word: &str, num: Num) -> Option<Cmp> {
    Some(match word {
        "eq" => Cmp::Eq,
        "ne" => Cmp::Ne,
        "lt" | "lo" => Cmp::Lt,
        "le" | "ls" => Cmp::Le,
        "gt" | "hi" => Cmp::Gt,
        "ge" | "hs" => Cmp::Ge,
        "equ" if num.is_float() => Cmp::Equ,
        "neu" if num.is_float() => Cmp::Neu,
        "ltu" if num.is_float() => Cmp::Ltu,
        "leu" if num.is_float() => Cmp::Leu,
        "gtu" if num.is_float() => Cmp::Gtu,
        "geu" if num.is_float() => Cmp::Geu,
        "num" if num.is_float() => Cmp::Num,
        "nan" if num.is_float() => Cmp::Nan,
        _ => return None,
    })
}

/// Returns the selectors of a mode of `prmt`, by the lowest two bits of its last operand.
fn selectors(mode: &str) -> Option<[u16; 4]> {
    Some(match mode {
        // Four bytes of both operands from one on, forward and backward.
        "f4e" => [0x3210, 0x4321, 0x5432, 0x6543],
        "b4e" => [0x5670, 0x6701, 0x7012, 0x0123],
        // A byte four times, a half twice.
        "rc8" => [0x0000, 0x1111, 0x2222, 0x3333],
        "rc16" => [0x1010, 0x3232, 0x1010, 0x3232],
        // The bytes below or above one are that one.
        "ecl" => [0x3210, 0x3211, 0x3222, 0x3333],
        "ecr" => [0x0000, 0x1110, 0x2210, 0x3210],
        _ => return None,
    })
}

/// Returns whether results may be cut to what fits (`.sat`).
fn may_saturate(reading: &Reading<'_>, num: Num) -> bool {
    match reading.words[0] {
        "add" | "sub" => matches!(num, Num::F32 | Num::F16 | Num::F16x2 | Num::S32),
        "mul" | "fma" => matches!(num, Num::F32 | Num::F16 | Num::F16x2),
        "mad" => num == Num::F32 || num == Num::S32 && reading.has("hi"),
        "mad24" => num == Num::S32 && reading.has("hi"),
        _ => false,
    }
}

impl Decoder<'_> {
    pub(super) fn arithmetic(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let directed = ["rz", "rm", "rp"].iter().any(|word| reading.has(word));
        let saturate = reading.has("sat");
        let flush = reading.has("ftz");
        if reading.has("cc") || matches!(reading.words[0], "addc" | "subc" | "madc") {
            return self.carried(reading);
        }
        let is_refused = |word: &&str| matches!(*word, "oob" | "xorsign");
        if reading.words.iter().any(is_refused) {
            return Err(reading.unsupported());
        }
        match reading.words[0] {
            "mov" => return self.moved(reading),
            "cvta" => {
                return self.generic_address(reading);
            }
            "testp" => return self.property(reading),
            "setp" => return self.comparison(reading, flush),
            "set" => return self.comparison_value(reading, flush),
            "selp" => {
                let num = reading.num()?;
                let (p, not) = self.predicate_source(reading, 3)?;
                let d = self.destination(reading, 0, num)?;
                let mut a = self.source(reading, 1, num)?;
                let mut b = self.source(reading, 2, num)?;
                if not {
                    std::mem::swap(&mut a, &mut b);
                }
                return Ok(match num.bytes() {
                    8 => Op::SelectDouble { d, a, b, p },
                    _ => Op::SelectWord { d, a, b, p },
                });
            }
            "and" | "or" | "xor" | "not" if reading.last() == "pred" => {
                return self.predicates(reading);
            }
            _ => {}
        }
        if directed {
            return Err(reading.unsupported());
        }
        let name = reading.words[0];
        if let Some(op) = self.wide(reading)? {
            return Ok(op);
        }
        let num = match name {
            "lop3" | "prmt" | "shf" | "bmsk" => Num::U32,
            "dp4a" | "dp2a" => Num::S32,
            _ => reading.num()?,
        };
        let is_half = matches!(num, Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2);
        if saturate && !may_saturate(reading, num)
            || reading.has("relu") && !(name == "fma" && is_half)
            || flush && is_half && matches!(name, "add" | "sub" | "mul" | "fma")
        {
            return Err(reading.unsupported());
        }
        if let Some(op) = Self::of_one(reading, num) {
            let d = match op {
                Un::Popc | Un::Clz | Un::Bfind | Un::BfindShift => {
                    self.destination(reading, 0, Num::U32)?
                }
                _ => self.destination(reading, 0, num)?,
            };
            let a = self.source(reading, 1, num)?;
            return Ok(Op::Un {
                op,
                num,
                d,
                a,
                flush,
            });
        }
        if let Some(op) = Self::of_two(reading, num) {
            let d = self.destination(reading, 0, num)?;
            let a = self.source(reading, 1, num)?;
            let of_second = match op {
                Bin::Shl | Bin::Shr => Num::U32,
                _ => num,
            };
            let b = self.source(reading, 2, of_second)?;
            return Ok(Op::Bin {
                op,
                num,
                d,
                a,
                b,
                saturate,
                flush,
            });
        }
        self.of_three(reading, num, saturate, flush)
    }

    fn of_one(reading: &Reading<'_>, num: Num) -> Option<Un> {
        let is_single = num == Num::F32;
        let is_half = matches!(num, Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2);
        let is_exact = reading.has("rn") && (is_single || num == Num::F64);
        let is_near = reading.has("approx") && (is_single || num == Num::F64);
        Some(match reading.words[0] {
            "neg" => Un::Neg,
            "not" => Un::Not,
            "cnot" => Un::Cnot,
            "abs" => Un::Abs,
            "popc" => Un::Popc,
            "clz" => Un::Clz,
            "brev" => Un::Brev,
            "bfind" if reading.has("shiftamt") => Un::BfindShift,
            "bfind" => Un::Bfind,
            "sqrt" if is_exact || is_near => Un::Sqrt,
            "rsqrt" if is_near => Un::Rsqrt,
            "rcp" if is_exact || is_near => Un::Rcp,
            "ex2" if is_near || is_half => Un::Ex2,
            "lg2" if is_near => Un::Lg2,
            "sin" if is_near => Un::Sin,
            "cos" if is_near => Un::Cos,
            "tanh" if is_near || is_half => Un::Tanh,
            _ => return None,
        })
    }

    fn of_two(reading: &Reading<'_>, num: Num) -> Option<Bin> {
        Some(match reading.words[0] {
            "add" => Bin::Add,
            "sub" => Bin::Sub,
            "mul" if reading.has("hi") => Bin::MulHi,
            "mul" => Bin::Mul,
            "div" if num == Num::F32 && reading.has("approx") => Bin::DivByReciprocal,
            "div" => Bin::Div,
            "rem" if !num.is_float() => Bin::Rem,
            "min" if reading.has("NaN") => Bin::MinNan,
            "max" if reading.has("NaN") => Bin::MaxNan,
            "min" => Bin::Min,
            "max" => Bin::Max,
            "and" => Bin::And,
            "or" => Bin::Or,
            "xor" => Bin::Xor,
            "shl" => Bin::Shl,
            "shr" => Bin::Shr,
            "copysign" => Bin::CopySign,
            _ => return None,
        })
    }

    fn of_three(
        &mut self,
        reading: &Reading<'_>,
        num: Num,
        saturate: bool,
        flush: bool,
    ) -> Result<Op, PtxError> {
        let d = self.destination(reading, 0, num)?;
        if reading.words[0] == "bmsk" {
            // As a field of ones put into zero.
            let ones = self.word_constant(u32::MAX);
            let zero = self.word_constant(0);
            let c = self.source(reading, 1, Num::U32)?;
            let e = self.source(reading, 2, Num::U32)?;
            let is_double = false;
            return Ok(Op::Bfi {
                is_double,
                d,
                a: ones,
                b: zero,
                c,
                e,
            });
        }
        let of_last = match reading.words[0] {
            "bfe" | "bfi" | "shf" => Num::U32,
            "slct" => number(reading.last()).unwrap_or(num),
            _ => num,
        };
        if reading.words[0] == "bfi" {
            let a = self.source(reading, 1, num)?;
            let b = self.source(reading, 2, num)?;
            let c = self.source(reading, 3, Num::U32)?;
            let e = self.source(reading, 4, Num::U32)?;
            let is_double = num.bytes() == 8;
            return Ok(Op::Bfi {
                is_double,
                d,
                a,
                b,
                c,
                e,
            });
        }
        let op = match reading.words[0] {
            "fma" if reading.has("relu") => Tri::MadRelu,
            "fma" => Tri::Mad,
            "mad" if reading.has("hi") => Tri::MadHi,
            "mad" => Tri::Mad,
            "mul24" | "mad24" if num.bytes() != 4 || num.is_float() => {
                return Err(reading.unsupported());
            }
            "mul24" | "mad24" if reading.has("hi") => Tri::Mad24Hi,
            "mul24" | "mad24" => Tri::Mad24,
            "prmt" if reading.last() == "b32" => Tri::Prmt,
            "prmt" => match selectors(reading.last()) {
                Some(of) => Tri::PrmtBy(of),
                None => return Err(reading.unsupported()),
            },
            "shf" => match (reading.has("l"), reading.has("wrap")) {
                (true, true) => Tri::ShfLeftWrap,
                (true, false) => Tri::ShfLeft,
                (false, true) => Tri::ShfRightWrap,
                (false, false) => Tri::ShfRight,
            },
            "bfe" => Tri::Bfe,
            "sad" if num.bytes() == 4 => Tri::Sad,
            "dp4a" => {
                let types: Vec<bool> = reading.words[1..].iter().map(|it| *it == "s32").collect();
                match types[..] {
                    [a, b] => Tri::Dp4a(a, b),
                    _ => return Err(reading.unsupported()),
                }
            }
            "dp2a" => match reading.words[1..] {
                [half @ ("lo" | "hi"), a, b] => Tri::Dp2a(a == "s32", b == "s32", half == "hi"),
                _ => return Err(reading.unsupported()),
            },
            "lop3" => match reading.operand(4)? {
                Operand::Integer(table) if reading.last() == "b32" => Tri::Lop3(*table as u8),
                _ => return Err(reading.unsupported()),
            },
            "slct" if of_last == Num::S32 && num.bytes() == 4 => Tri::Slct,
            _ => return Err(reading.unsupported()),
        };
        let of_second = match op {
            Tri::Bfe => Num::U32,
            _ => num,
        };
        let a = self.source(reading, 1, num)?;
        let b = self.source(reading, 2, of_second)?;
        let c = match reading.words[0] {
            "mul24" => self.word_constant(0),
            _ => self.source(reading, 3, of_last)?,
        };
        Ok(Op::Tri {
            op,
            num,
            d,
            a,
            b,
            c,
            saturate,
            flush,
        })
    }

    /// Reads a link of a chain of sums.
    fn carried(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let num = reading.num()?;
        if num.is_float() || num.bytes() < 4 {
            return Err(reading.unsupported());
        }
        let (op, takes) = match reading.words[0] {
            "add" => (CarryOp::Add, false),
            "addc" => (CarryOp::Add, true),
            "sub" => (CarryOp::Sub, false),
            "subc" => (CarryOp::Sub, true),
            name @ ("mad" | "madc") => match (reading.has("hi"), reading.has("lo")) {
                (true, false) => (CarryOp::MadHigh, name == "madc"),
                (false, true) => (CarryOp::MadLow, name == "madc"),
                _ => return Err(reading.unsupported()),
            },
            _ => return Err(reading.unsupported()),
        };
        let is_product = matches!(op, CarryOp::MadLow | CarryOp::MadHigh);
        let a = self.source(reading, 1, num)?;
        let carry = *self.carry.get_or_insert_with(|| {
            self.predicates += 1;
            self.predicates - 1
        });
        Ok(Op::Carry {
            op,
            num,
            d: self.destination(reading, 0, num)?,
            a,
            b: self.source(reading, 2, num)?,
            c: match is_product {
                true => self.source(reading, 3, num)?,
                false => a,
            },
            from: takes.then_some(carry),
            to: reading.has("cc").then_some(carry),
        })
    }

    fn wide(&mut self, reading: &Reading<'_>) -> Result<Option<Op>, PtxError> {
        if !reading.has("wide") {
            return Ok(None);
        }
        let num = reading.num()?;
        let twice = match num {
            Num::U16 => Num::U32,
            Num::S16 => Num::S32,
            Num::U32 => Num::U64,
            Num::S32 => Num::S64,
            _ => return Err(reading.unsupported()),
        };
        let d = self.destination(reading, 0, twice)?;
        let a = self.source(reading, 1, num)?;
        let b = self.source(reading, 2, num)?;
        Ok(Some(match reading.words[0] {
            "mul" => Op::MulWide { num, d, a, b },
            "mad" => {
                let c = self.source(reading, 3, twice)?;
                Op::MadWide { num, d, a, b, c }
            }
            _ => return Err(reading.unsupported()),
        }))
    }

    fn moved(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let (to, from) = (reading.operand(0)?, reading.operand(1)?);
        if let Operand::Name(name) = from
            && matches!(
                name.as_str(),
                "%clock" | "%clock64" | "%globaltimer" | "%clock_hi"
            )
        {
            let d = self.any_destination(reading, to)?;
            return Ok(Op::Clock { d });
        }
        if reading.last() == "pred" {
            let (a, not) = self.predicate_source(reading, 1)?;
            let d = self.predicate_destination(reading, to)?;
            return Ok(match not {
                false => Op::MovPredicate { d, a },
                true => Op::JoinPredicates {
                    op: Junction::And,
                    d,
                    a,
                    b: a,
                    not: [true; 2],
                },
            });
        }
        let num = reading.num()?;
        let bits = num.bytes() * 8;
        if let Operand::Vector(parts) = from {
            let Some(width) = bits
                .checked_div(parts.len() as u32)
                .filter(|it| *it * parts.len() as u32 == bits && 8 <= *it)
            else {
                return Err(reading.error("the parts do not make up the whole"));
            };
            let d = self.any_destination(reading, to)?;
            let parts = parts
                .iter()
                .map(|part| self.word_of(reading, part, Num::U32));
            let parts = parts.collect::<Result<_, _>>()?;
            return Ok(Op::Pack {
                d,
                parts,
                bits: width,
            });
        }
        if let Operand::Vector(parts) = to {
            let Some(width) = bits
                .checked_div(parts.len() as u32)
                .filter(|it| *it * parts.len() as u32 == bits && 8 <= *it)
            else {
                return Err(reading.error("the parts do not make up the whole"));
            };
            let a = self.any_source(reading, from, num)?;
            let mut registers = Vec::new();
            for part in parts {
                registers.push(match part {
                    Operand::Name(name) if name == "_" => None,
                    part => match self.any_destination(reading, part)? {
                        Reg::Word(register) => Some(register),
                        _ => return Err(reading.error("a part does not fit its register")),
                    },
                });
            }
            if matches!(a, Reg::Predicate(_)) {
                return Err(reading.error("a predicate has no parts"));
            }
            return Ok(Op::Unpack {
                parts: registers.into(),
                a,
                bits: width,
            });
        }
        let d = self.destination(reading, 0, num)?;
        let a = self.source(reading, 1, num)?;
        Ok(match num.bytes() {
            8 => Op::MovDouble { d, a },
            _ => Op::MovWord { d, a },
        })
    }

    /// Addresses of one memory and of any differ for shared and local memory only.
    fn generic_address(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let window = if reading.has("shared") || reading.has("shared::cta") {
            super::SHARED_WINDOW
        } else if reading.has("local") {
            super::LOCAL_WINDOW
        } else {
            0
        };
        if reading.num()?.bytes() != 8 {
            return Err(reading.unsupported());
        }
        let d = self.destination(reading, 0, Num::U64)?;
        let a = self.source(reading, 1, Num::U64)?;
        if window == 0 {
            return Ok(Op::MovDouble { d, a });
        }
        let b = self.double_constant(window);
        let op = if reading.has("to") {
            Bin::Sub
        } else {
            Bin::Add
        };
        let (saturate, flush) = (false, false);
        Ok(Op::Bin {
            op,
            num: Num::U64,
            d,
            a,
            b,
            saturate,
            flush,
        })
    }

    fn comparison(&mut self, reading: &Reading<'_>, flush: bool) -> Result<Op, PtxError> {
        let num = reading.num()?;
        let unknown = || reading.unsupported();
        let cmp = comparison(reading.words.get(1).ok_or_else(unknown)?, num).ok_or_else(unknown)?;
        let (d, q) = match reading.operand(0)? {
            Operand::Pair(d, q) => (
                self.predicate_destination(reading, d)?,
                Some(self.predicate_destination(reading, q)?),
            ),
            other => (self.predicate_destination(reading, other)?, None),
        };
        if matches!(num, Num::F16x2 | Num::Bf16x2) {
            return Err(unknown());
        }
        let a = self.source(reading, 1, num)?;
        let b = self.source(reading, 2, num)?;
        let junction = match reading.words.get(2) {
            Some(&"and") => Some(Junction::And),
            Some(&"or") => Some(Junction::Or),
            Some(&"xor") => Some(Junction::Xor),
            _ => None,
        };
        let with = match junction {
            None => None,
            Some(junction) => {
                let (p, not) = self.predicate_source(reading, 3)?;
                Some((junction, p, not))
            }
        };
        Ok(Op::Setp {
            cmp,
            num,
            d,
            q,
            a,
            b,
            with,
            flush,
        })
    }

    fn property(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let num = reading.num()?;
        let property = match reading.words[1..] {
            ["finite", _] => Property::Finite,
            ["infinite", _] => Property::Infinite,
            ["number", _] => Property::Number,
            ["notanumber", _] => Property::NotANumber,
            ["normal", _] => Property::Normal,
            ["subnormal", _] => Property::Subnormal,
            _ => return Err(reading.unsupported()),
        };
        if !matches!(num, Num::F32 | Num::F64) {
            return Err(reading.unsupported());
        }
        let d = self.predicate_destination(reading, reading.operand(0)?)?;
        let a = self.source(reading, 1, num)?;
        Ok(Op::Testp {
            property,
            num,
            d,
            a,
        })
    }

    fn comparison_value(&mut self, reading: &Reading<'_>, flush: bool) -> Result<Op, PtxError> {
        let num = reading.num()?;
        let unknown = || reading.unsupported();
        let cmp = comparison(reading.words.get(1).ok_or_else(unknown)?, num).ok_or_else(unknown)?;
        let [.., to, _] = reading.words[..] else {
            return Err(unknown());
        };
        let to_float = match to {
            "f32" => true,
            "u32" | "s32" => false,
            _ => return Err(unknown()),
        };
        if matches!(num, Num::F16x2 | Num::Bf16x2) || reading.words.len() != 4 + usize::from(flush)
        {
            return Err(unknown());
        }
        let d = self.destination(reading, 0, Num::U32)?;
        let a = self.source(reading, 1, num)?;
        let b = self.source(reading, 2, num)?;
        Ok(Op::Set {
            cmp,
            num,
            to_float,
            d,
            a,
            b,
            flush,
        })
    }

    fn predicates(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let d = self.predicate_destination(reading, reading.operand(0)?)?;
        let (a, not_a) = self.predicate_source(reading, 1)?;
        let op = match reading.words[0] {
            "and" => Junction::And,
            "or" => Junction::Or,
            "xor" => Junction::Xor,
            _ => {
                let not = [!not_a; 2];
                return Ok(Op::JoinPredicates {
                    op: Junction::And,
                    d,
                    a,
                    b: a,
                    not,
                });
            }
        };
        let (b, not_b) = self.predicate_source(reading, 2)?;
        Ok(Op::JoinPredicates {
            op,
            d,
            a,
            b,
            not: [not_a, not_b],
        })
    }
}
