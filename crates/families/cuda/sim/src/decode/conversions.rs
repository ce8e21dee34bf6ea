//! Conversions between types.

use super::{Decoder, Num, Op, Reading, Reg, Rounding, number};
use crate::ptx::PtxError;

impl Decoder<'_> {
    pub(super) fn conversion(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let words = &reading.words;
        let [.., to, from] = words[..] else {
            return Err(reading.unsupported());
        };
        let is_known = |word: &&str| {
            let known = "rn rna rz rm rp rni rzi rmi rpi sat relu ftz";
            known.split(' ').any(|it| it == *word)
        };
        if !words[1..words.len() - 2].iter().all(is_known) {
            return Err(reading.unsupported());
        }
        let relu = reading.has("relu");
        if to == "tf32" && from == "f32" && reading.has("rna") {
            let d = self.destination(reading, 0, Num::U32)?;
            let a = self.source(reading, 1, Num::F32)?;
            return Ok(Op::CvtTf32 { d, a });
        }
        let (Some(to), Some(from)) = (number(to), number(from)) else {
            return Err(reading.unsupported());
        };
        if matches!(to, Num::F16x2 | Num::Bf16x2) && from == Num::F32 {
            let rounding = match words[1] {
                "rn" => Rounding::Nearest,
                "rz" => Rounding::Zero,
                _ => return Err(reading.unsupported()),
            };
            let d = self.destination(reading, 0, to)?;
            let a = self.source(reading, 1, Num::F32)?;
            let b = self.source(reading, 2, Num::F32)?;
            return Ok(Op::CvtPair {
                to,
                rounding,
                relu,
                d,
                a,
                b,
            });
        }
        if [to, from]
            .iter()
            .any(|it| matches!(it, Num::F16x2 | Num::Bf16x2))
        {
            return Err(reading.unsupported());
        }
        let mut rounding = Rounding::Nearest;
        let mut to_integral = false;
        for word in &words[1..] {
            (rounding, to_integral) = match *word {
                "rn" => (Rounding::Nearest, false),
                "rna" => (Rounding::NearestAway, false),
                "rz" => (Rounding::Zero, false),
                "rm" => (Rounding::Down, false),
                "rp" => (Rounding::Up, false),
                "rni" => (Rounding::Nearest, true),
                "rzi" => (Rounding::Zero, true),
                "rmi" => (Rounding::Down, true),
                "rpi" => (Rounding::Up, true),
                _ => continue,
            };
        }
        let is_narrowing = to.is_float() && !to_integral && rounding != Rounding::Nearest;
        let is_wider = match to {
            Num::F16 | Num::Bf16 => from.bytes() > 2,
            _ => from == Num::F64 || !from.is_float() && from.bytes() > 2,
        };
        if is_narrowing && (to == Num::F64 || !is_wider) {
            return Err(reading.unsupported());
        }
        let d = self.any_destination(reading, reading.operand(0)?)?;
        let a = self.any_source(reading, reading.operand(1)?, from)?;
        let narrow = |register: Reg, bytes: u32| match register {
            Reg::Word(_) => bytes <= 4,
            Reg::Double(_) => true,
            Reg::Predicate(_) => false,
        };
        if !narrow(d, to.bytes()) || !narrow(a, from.bytes()) {
            return Err(reading.error("a value does not fit its register"));
        }
        Ok(Op::Cvt {
            to,
            from,
            rounding,
            to_integral,
            saturate: reading.has("sat"),
            relu,
            flush: reading.has("ftz"),
            d,
            a,
        })
    }
}
