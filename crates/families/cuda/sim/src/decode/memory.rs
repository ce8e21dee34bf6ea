//! Loads, stores, atomic operations and asynchronous copies.

use super::{AtomicOp, Decoder, Meant, Num, Op, Reach, Reading, Reg, number};
use crate::ptx::{Operand, PtxError, Space};

fn space_of(reading: &Reading<'_>) -> Result<Space, PtxError> {
    for word in &reading.words[1..] {
        match *word {
            "global" => return Ok(Space::Global),
            "shared" | "shared::cta" => return Ok(Space::Shared),
            "local" => return Ok(Space::Local),
            "const" => return Ok(Space::Const),
            "param" | "param::entry" => return Ok(Space::Param),
            "shared::cluster" | "param::func" | "multimem" => return Err(reading.unsupported()),
            _ => {}
        }
    }
    Ok(Space::Generic)
}

/// Returns who sees what an access publishes, if it is a release.
fn releases(reading: &Reading<'_>) -> Option<Reach> {
    let is_release = reading.has("release") || reading.has("acq_rel");
    is_release.then_some(match reading.has("cta") {
        true => Reach::Block,
        false => Reach::Device,
    })
}

impl Decoder<'_> {
    /// Takes note of how narrow accesses to a space are.
    fn note(&mut self, space: Space, bytes: u32) {
        if matches!(space, Space::Shared | Space::Generic) {
            self.granules[0] = self.granules[0].min(bytes);
        }
        if matches!(space, Space::Global | Space::Generic) {
            self.granules[1] = self.granules[1].min(bytes);
        }
    }

    pub(super) fn memory(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        match reading.words[0] {
            "ld" | "ldu" | "st" => self.plain(reading),
            "cp" => self.copy(reading),
            _ => self.atomic(reading),
        }
    }

    fn plain(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let space = space_of(reading)?;
        let num = reading.num()?;
        let bytes = num.bytes();
        let is_load = reading.words[0] != "st";
        let (address, values) = if is_load { (1, 0) } else { (0, 1) };
        let address = self.address(reading, reading.operand(address)?, space)?;
        self.note(space, bytes);
        let parts = Self::parts(reading.operand(values)?);
        let vector = reading.words.iter().find_map(|word| match *word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        if parts.len() != vector.unwrap_or(1) || 32 < parts.len() as u32 * bytes {
            return Err(reading.error("so many registers do not fit its type"));
        }
        let fits = |register: &Reg| match register {
            Reg::Word(_) => bytes <= 4,
            Reg::Double(_) => true,
            Reg::Predicate(_) => false,
        };
        let registers = parts.iter().map(|part| match is_load {
            true => self.any_destination(reading, part),
            false => self.any_source(reading, part, num),
        });
        let registers = registers.collect::<Result<Box<[Reg]>, _>>()?;
        if !registers.iter().all(fits) {
            return Err(reading.error("a value does not fit its register"));
        }
        let is_strong = ["volatile", "relaxed", "acquire", "release"]
            .iter()
            .any(|word| reading.has(word));
        let meant = match () {
            () if is_strong => Meant::Strong,
            () if reading.has("nc") => Meant::Constant,
            () => Meant::Plain,
        };
        if !is_load {
            if matches!(space, Space::Const | Space::Param) {
                return Err(reading.error("this memory cannot be written"));
            }
            return Ok(Op::Store {
                space,
                bytes,
                a: registers,
                address,
                meant,
                releases: releases(reading),
            });
        }
        let no_l1 = ["cg", "cv", "volatile", "relaxed", "acquire"]
            .iter()
            .any(|word| reading.has(word));
        Ok(Op::Load {
            space,
            bytes,
            signed: num.is_signed(),
            d: registers,
            address,
            no_l1,
            meant,
        })
    }

    fn copy(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        if reading.words.get(1) != Some(&"async") {
            return Err(reading.unsupported());
        }
        let constant = |number: usize| match reading.operand(number)? {
            Operand::Integer(value) => Ok(*value),
            _ => Err(reading.error("a constant was expected")),
        };
        match reading.words.get(2).copied() {
            Some("commit_group") => Ok(Op::CopyCommit),
            Some("wait_group") => Ok(Op::CopyWait {
                groups: Some(u32::try_from(constant(0)?).unwrap_or(u32::MAX)),
            }),
            Some("wait_all") => Ok(Op::CopyWait { groups: None }),
            Some("ca" | "cg") => {
                let to = self.address(reading, reading.operand(0)?, Space::Shared)?;
                let from = self.address(reading, reading.operand(1)?, Space::Global)?;
                let bytes = constant(2)?;
                let no_l1 = reading.has("cg");
                if !matches!((bytes, no_l1), (4 | 8, false) | (16, _)) {
                    return Err(reading.error(format!("copies of {bytes} bytes")));
                }
                let read = match reading.instruction.operands.len() {
                    3 => None,
                    _ => Some(self.source(reading, 3, Num::U32)?),
                };
                Ok(Op::CopyAsync {
                    bytes: bytes as u32,
                    read,
                    to,
                    from,
                    no_l1,
                })
            }
            _ => Err(reading.unsupported()),
        }
    }

    fn atomic(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let space = space_of(reading)?;
        if !matches!(space, Space::Global | Space::Shared | Space::Generic)
            || reading.has("v2")
            || reading.has("v4")
        {
            return Err(reading.unsupported());
        }
        let num = number(reading.last()).ok_or_else(|| reading.unsupported())?;
        let op = reading.words[1..].iter().find_map(|word| {
            Some(match *word {
                "add" => AtomicOp::Add,
                "min" => AtomicOp::Min,
                "max" => AtomicOp::Max,
                "and" => AtomicOp::And,
                "or" => AtomicOp::Or,
                "xor" => AtomicOp::Xor,
                "exch" => AtomicOp::Exch,
                "cas" => AtomicOp::Cas,
                "inc" => AtomicOp::Inc,
                "dec" => AtomicOp::Dec,
                _ => return None,
            })
        });
        let op = op.ok_or_else(|| reading.unsupported())?;
        let allowed = match op {
            AtomicOp::Add => !matches!(num, Num::U8 | Num::S8 | Num::U16 | Num::S16),
            AtomicOp::Exch => {
                matches!(num.bytes(), 4 | 8) && num != Num::F16x2 && num != Num::Bf16x2
            }
            AtomicOp::Cas => matches!(num, Num::U16 | Num::U32 | Num::U64),
            AtomicOp::Inc | AtomicOp::Dec => num == Num::U32,
            AtomicOp::Min | AtomicOp::Max => !num.is_float() && 4 <= num.bytes(),
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => !num.is_float() && 4 <= num.bytes(),
        };
        if !allowed {
            return Err(reading.unsupported());
        }
        self.note(space, num.bytes());
        let has_result = reading.words[0] == "atom";
        let first = usize::from(has_result);
        let d = match has_result {
            false => None,
            true => match (
                self.any_destination(reading, reading.operand(0)?)?,
                num.bytes(),
            ) {
                (Reg::Word(d), 1..=4) | (Reg::Double(d), 8) => Some(d),
                // `_`, whatever its width.
                (Reg::Word(_), _) => None,
                _ => return Err(reading.error("the result does not fit its register")),
            },
        };
        let address = self.address(reading, reading.operand(first)?, space)?;
        let b = self.source(reading, first + 1, num)?;
        let c = match op {
            AtomicOp::Cas => Some(self.source(reading, first + 2, num)?),
            _ => None,
        };
        Ok(Op::Atomic {
            op,
            num,
            space,
            d,
            address,
            b,
            c,
            releases: releases(reading),
        })
    }
}
