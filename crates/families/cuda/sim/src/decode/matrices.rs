//! Products of small matrices, and their loads and stores.

use super::{Decoder, MatrixType, Op, Part, Reading};
use crate::ptx::{PtxError, Space};

/// Registers of a thread for a factor of halves of `wmma`, whatever its shape: elements stand in
/// several threads.
const HALF_FACTOR: usize = 8;

/// Returns rows, columns and depth of `m16n8k16`.
fn shape_of(reading: &Reading<'_>) -> Option<[u32; 3]> {
    let word = reading.words.iter().find(|word| {
        word.starts_with('m')
            && word.contains('n')
            && word.contains('k')
            && word[1..].starts_with(|it: char| it.is_ascii_digit())
    })?;
    let (m, rest) = word[1..].split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

fn matrix_type(word: &str) -> Option<MatrixType> {
    Some(match word {
        "f16" => MatrixType::F16,
        "bf16" => MatrixType::Bf16,
        "tf32" => MatrixType::Tf32,
        "s8" => MatrixType::S8,
        "u8" => MatrixType::U8,
        _ => return None,
    })
}

impl MatrixType {
    /// Returns the bits of an element.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 => 32,
            Self::S8 | Self::U8 => 8,
        }
    }

    /// Returns whether it counts integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::S8 | Self::U8)
    }
}

impl Decoder<'_> {
    pub(super) fn matrices(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        match reading.words[0] {
            "ldmatrix" | "stmatrix" => {
                let count = reading.words.iter().find_map(|word| match *word {
                    "x1" => Some(1),
                    "x2" => Some(2),
                    "x4" => Some(4),
                    _ => None,
                });
                if reading.last() != "b16" || !reading.has("m8n8") {
                    return Err(reading.unsupported());
                }
                let transposed = reading.has("trans");
                let is_load = reading.words[0] == "ldmatrix";
                let (registers, place) = if is_load { (0, 1) } else { (1, 0) };
                let parts = self.words_of(reading, registers, is_load)?;
                let address = self.address(reading, reading.operand(place)?, Space::Shared)?;
                if Some(parts.len()) != count {
                    return Err(reading.error("so many registers do not fit it"));
                }
                self.granules[0] = self.granules[0].min(2);
                Ok(match is_load {
                    true => Op::LoadMatrix {
                        d: parts,
                        transposed,
                        address,
                    },
                    false => Op::StoreMatrix {
                        a: parts,
                        transposed,
                        address,
                    },
                })
            }
            "mma" => self.product(reading),
            _ => self.fragments(reading),
        }
    }

    fn product(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let unknown = || reading.unsupported();
        let shape = shape_of(reading).ok_or_else(unknown)?;
        let [.., sum, first, second, last] = reading.words[..] else {
            return Err(unknown());
        };
        if !reading.has("row") || !reading.has("col") || reading.has("sp") || sum != last {
            return Err(unknown());
        }
        let types = [
            matrix_type(first).ok_or_else(unknown)?,
            matrix_type(second).ok_or_else(unknown)?,
        ];
        let half_sum = sum == "f16";
        let fits = match types[0] {
            MatrixType::F16 => matches!(sum, "f16" | "f32") && matches!(shape, [16, 8, 8 | 16]),
            MatrixType::Bf16 => sum == "f32" && matches!(shape, [16, 8, 8 | 16]),
            MatrixType::Tf32 => sum == "f32" && matches!(shape, [16, 8, 4 | 8]),
            MatrixType::S8 | MatrixType::U8 => {
                sum == "s32"
                    && types[1].is_integer()
                    && !reading.has("satfinite")
                    && matches!(shape, [16, 8, 16 | 32])
            }
        };
        let same = types[0] == types[1] || types[0].is_integer() && types[1].is_integer();
        if !fits || !same {
            return Err(unknown());
        }
        let [m, n, k] = shape;
        let count = |elements: u32, bits: u32| (elements * bits / 1024) as usize;
        let d = self.words_of(reading, 0, true)?;
        let a = self.words_of(reading, 1, false)?;
        let b = self.words_of(reading, 2, false)?;
        let c = self.words_of(reading, 3, false)?;
        let bits = types[0].bits();
        let of_sum = count(m * n, if half_sum { 16 } else { 32 });
        if d.len() != of_sum
            || c.len() != of_sum
            || a.len() != count(m * k, bits)
            || b.len() != count(k * n, bits)
        {
            return Err(reading.error("so many registers do not fit it"));
        }
        Ok(Op::Mma {
            shape,
            types,
            half_sum,
            d,
            a,
            b,
            c,
        })
    }

    fn fragments(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        let unknown = || reading.unsupported();
        let shape = shape_of(reading).ok_or_else(unknown)?;
        if !matches!(
            shape,
            [16, 16, 16] | [32, 8, 16] | [8, 32, 16] | [16, 16, 8]
        ) {
            return Err(unknown());
        }
        let [m, n, k] = shape;
        let rows: Vec<bool> = reading
            .words
            .iter()
            .filter_map(|word| match *word {
                "row" => Some(true),
                "col" => Some(false),
                _ => None,
            })
            .collect();
        let space = if reading.has("shared") || reading.has("shared::cta") {
            Space::Shared
        } else if reading.has("global") {
            Space::Global
        } else {
            Space::Generic
        };
        match reading.words.get(1).copied() {
            Some("load") => {
                let part = match reading.words.get(2).copied() {
                    Some("a") => Part::A,
                    Some("b") => Part::B,
                    Some("c") => Part::C,
                    _ => return Err(unknown()),
                };
                let bits = match (reading.last(), part) {
                    ("f16", _) | ("bf16", Part::A | Part::B) => 16,
                    ("tf32", Part::A | Part::B) | ("f32" | "s32", Part::C) => 32,
                    ("s8" | "u8", Part::A | Part::B) => 8,
                    _ => return Err(unknown()),
                };
                if !has_shape(reading.last(), shape) {
                    return Err(unknown());
                }
                let elements = match part {
                    Part::A => m * k,
                    Part::B => k * n,
                    Part::C => m * n,
                };
                let d = self.words_of(reading, 0, true)?;
                let address = self.address(reading, reading.operand(1)?, space)?;
                let stride = self.stride(reading)?;
                let wanted = match (reading.last(), part) {
                    ("f16", Part::A | Part::B) => HALF_FACTOR,
                    _ => (elements * bits / 1024) as usize,
                };
                let [row] = rows[..] else {
                    return Err(unknown());
                };
                if d.len() != wanted {
                    return Err(reading.error("so many registers do not fit it"));
                }
                self.granules = self.granules.map(|it| it.min(bits / 8));
                Ok(Op::WmmaLoad {
                    part,
                    shape,
                    bits,
                    row,
                    d,
                    address,
                    space,
                    stride,
                })
            }
            Some("store") => {
                let bits = match reading.last() {
                    "f16" => 16,
                    "f32" | "s32" => 32,
                    _ => return Err(unknown()),
                };
                if !has_shape(reading.last(), shape) {
                    return Err(unknown());
                }
                let address = self.address(reading, reading.operand(0)?, space)?;
                let a = self.words_of(reading, 1, false)?;
                let stride = self.stride(reading)?;
                let [row] = rows[..] else {
                    return Err(unknown());
                };
                if a.len() != (m * n * bits / 1024) as usize {
                    return Err(reading.error("so many registers do not fit it"));
                }
                self.granules = self.granules.map(|it| it.min(bits / 8));
                Ok(Op::WmmaStore {
                    shape,
                    bits,
                    row,
                    a,
                    address,
                    space,
                    stride,
                })
            }
            Some("mma") => {
                let [row_a, row_b] = rows[..] else {
                    return Err(unknown());
                };
                let at = reading
                    .words
                    .iter()
                    .position(|word| shape_of_word(word))
                    .unwrap_or(0);
                let names = &reading.words[at + 1..];
                let (types, half) = match *names {
                    [d, c] if matches!((d, c), ("f16" | "f32", "f16" | "f32")) => {
                        ([MatrixType::F16; 2], [d == "f16", c == "f16"])
                    }
                    ["f32", a @ ("bf16" | "tf32"), b, "f32"]
                    | ["s32", a @ ("s8" | "u8"), b, "s32"]
                        if a == b =>
                    {
                        ([matrix_type(a).ok_or_else(unknown)?; 2], [false, false])
                    }
                    _ => return Err(unknown()),
                };
                let name = names.get(1).filter(|_| names.len() == 4).unwrap_or(&"f16");
                if !has_shape(name, shape) {
                    return Err(unknown());
                }
                let d = self.words_of(reading, 0, true)?;
                let a = self.words_of(reading, 1, false)?;
                let b = self.words_of(reading, 2, false)?;
                let c = self.words_of(reading, 3, false)?;
                let count = |elements: u32, bits: u32| (elements * bits / 1024) as usize;
                let of_sum = |is_half: bool| count(m * n, if is_half { 16 } else { 32 });
                let bits = types[0].bits();
                let of_factor = |elements: u32| match types[0] {
                    MatrixType::F16 => HALF_FACTOR,
                    _ => count(elements, bits),
                };
                if d.len() != of_sum(half[0])
                    || c.len() != of_sum(half[1])
                    || a.len() != of_factor(m * k)
                    || b.len() != of_factor(k * n)
                {
                    return Err(reading.error("so many registers do not fit it"));
                }
                Ok(Op::WmmaMma {
                    shape,
                    types,
                    half,
                    rows: [row_a, row_b],
                    d,
                    a,
                    b,
                    c,
                })
            }
            _ => Err(unknown()),
        }
    }

    fn stride(&mut self, reading: &Reading<'_>) -> Result<Option<u32>, PtxError> {
        match reading.instruction.operands.len() {
            0..=2 => Ok(None),
            _ => self.source(reading, 2, super::Num::U32).map(Some),
        }
    }
}

/// Returns whether `wmma` has parts of this shape with elements of the type `name`.
fn has_shape(name: &str, shape: [u32; 3]) -> bool {
    match name {
        "f32" => true,
        "tf32" => shape == [16, 16, 8],
        _ => shape[2] == 16,
    }
}

fn shape_of_word(word: &str) -> bool {
    word.starts_with('m') && word.contains('n') && word.contains('k')
}
