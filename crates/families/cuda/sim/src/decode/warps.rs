//! What threads of a warp or a block do together.

use super::{AtomicOp, Decoder, Num, Op, Reading, ShflMode, VoteMode};
use crate::ptx::{Operand, PtxError};

impl Decoder<'_> {
    pub(super) fn warps(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let everyone = self.word_constant(u32::MAX);
        match reading.words[0] {
            "shfl" => self.shuffle(reading, everyone),
            "vote" => self.vote(reading, everyone),
            "match" => {
                let num = reading.num()?;
                let (d, p) = match reading.operand(0)? {
                    Operand::Pair(d, p) => {
                        let d = self.any_destination(reading, d)?;
                        (d, Some(self.predicate_destination(reading, p)?))
                    }
                    other => (self.any_destination(reading, other)?, None),
                };
                let super::Reg::Word(d) = d else {
                    return Err(reading.error("a register of 32 bits was expected"));
                };
                let a = self.source(reading, 1, num)?;
                let members = self.source(reading, 2, Num::U32)?;
                let all = reading.has("all");
                let is_double = num.bytes() == 8;
                Ok(Op::Match {
                    all,
                    is_double,
                    d,
                    p,
                    a,
                    members,
                })
            }
            "redux" => {
                let op = match reading.words.get(2).copied() {
                    Some("add") => AtomicOp::Add,
                    Some("min") => AtomicOp::Min,
                    Some("max") => AtomicOp::Max,
                    Some("and") => AtomicOp::And,
                    Some("or") => AtomicOp::Or,
                    Some("xor") => AtomicOp::Xor,
                    _ => return Err(reading.unsupported()),
                };
                let num = reading.num()?;
                if !matches!(num, Num::U32 | Num::S32) {
                    return Err(reading.unsupported());
                }
                let d = self.destination(reading, 0, num)?;
                let a = self.source(reading, 1, num)?;
                let members = self.source(reading, 2, Num::U32)?;
                Ok(Op::Reduce {
                    op,
                    signed: num.is_signed(),
                    d,
                    a,
                    members,
                })
            }
            "activemask" => Ok(Op::ActiveMask {
                d: self.destination(reading, 0, Num::U32)?,
            }),
            "elect" => {
                let Operand::Pair(d, p) = reading.operand(0)? else {
                    return Err(reading.error("a register and a predicate were expected"));
                };
                let d = match self.any_destination(reading, d)? {
                    super::Reg::Word(d) => Some(d),
                    _ => None,
                };
                let p = self.predicate_destination(reading, p)?;
                let members = self.source(reading, 1, Num::U32)?;
                Ok(Op::ElectSync { d, p, members })
            }
            "membar" | "fence" => {
                if ["proxy", "mbarrier_init"]
                    .iter()
                    .any(|word| reading.has(word))
                {
                    return Err(reading.unsupported());
                }
                let is_block = reading.has("cta");
                Ok(Op::Fence { device: !is_block })
            }
            _ => self.barrier(reading),
        }
    }

    fn shuffle(&mut self, reading: &Reading<'_>, everyone: u32) -> Result<Op, PtxError> {
        let mode = reading.words[1..].iter().find_map(|word| {
            Some(match *word {
                "up" => ShflMode::Up,
                "down" => ShflMode::Down,
                "bfly" => ShflMode::Bfly,
                "idx" => ShflMode::Idx,
                _ => return None,
            })
        });
        let mode = mode.ok_or_else(|| reading.unsupported())?;
        let (d, p) = match reading.operand(0)? {
            Operand::Pair(d, p) => {
                let d = self.any_destination(reading, d)?;
                (d, Some(self.predicate_destination(reading, p)?))
            }
            other => (self.any_destination(reading, other)?, None),
        };
        let super::Reg::Word(d) = d else {
            return Err(reading.error("a register of 32 bits was expected"));
        };
        let a = self.source(reading, 1, Num::U32)?;
        let b = self.source(reading, 2, Num::U32)?;
        let c = self.source(reading, 3, Num::U32)?;
        let members = match reading.has("sync") {
            true => self.source(reading, 4, Num::U32)?,
            false => everyone,
        };
        Ok(Op::Shuffle {
            mode,
            d,
            p,
            a,
            b,
            c,
            members,
        })
    }

    fn vote(&mut self, reading: &Reading<'_>, everyone: u32) -> Result<Op, PtxError> {
        let is_ballot = reading.has("ballot");
        let mode = if is_ballot {
            VoteMode::Ballot
        } else if reading.has("all") {
            VoteMode::All
        } else if reading.has("any") {
            VoteMode::Any
        } else if reading.has("uni") {
            VoteMode::Uni
        } else {
            return Err(reading.unsupported());
        };
        let d = match is_ballot {
            true => self.destination(reading, 0, Num::U32)?,
            false => self.predicate_destination(reading, reading.operand(0)?)?,
        };
        let (a, not) = self.predicate_source(reading, 1)?;
        let members = match reading.has("sync") {
            true => self.source(reading, 2, Num::U32)?,
            false => everyone,
        };
        Ok(Op::Vote {
            mode,
            d,
            a,
            not,
            members,
        })
    }

    fn barrier(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        if reading.has("warp") {
            let members = self.source(reading, 0, Num::U32)?;
            return Ok(Op::BarrierWarp { members });
        }
        if reading.has("cluster") {
            return Err(reading.unsupported());
        }
        let count = reading.instruction.operands.len();
        if reading.has("red") {
            let mode = if reading.has("popc") {
                VoteMode::Ballot
            } else if reading.has("and") {
                VoteMode::All
            } else {
                VoteMode::Any
            };
            let is_count = mode == VoteMode::Ballot;
            let d = match is_count {
                true => self.destination(reading, 0, Num::U32)?,
                false => self.predicate_destination(reading, reading.operand(0)?)?,
            };
            let number = self.source(reading, 1, Num::U32)?;
            let threads = match count {
                4.. => Some(self.source(reading, 2, Num::U32)?),
                _ => None,
            };
            let (a, not) = self.predicate_source(reading, count.saturating_sub(1))?;
            let reduce = Some((mode, is_count, d, a, not));
            return Ok(Op::Barrier {
                number,
                threads,
                is_arrival: false,
                reduce,
            });
        }
        let is_arrival = reading.has("arrive");
        if !is_arrival && !reading.has("sync") {
            return Err(reading.unsupported());
        }
        let number = self.source(reading, 0, Num::U32)?;
        let threads = match count {
            2.. => Some(self.source(reading, 1, Num::U32)?),
            _ => None,
        };
        if is_arrival && threads.is_none() {
            return Err(reading.error("it must say how many threads meet"));
        }
        Ok(Op::Barrier {
            number,
            threads,
            is_arrival,
            reduce: None,
        })
    }
}
