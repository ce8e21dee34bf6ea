//! Random programs on a second interpreter, which knows one thread at a time, works bit by bit
//! where it can, and shares no code with the first.

use std::fmt::Write;

/// Words of a thread.
const WORDS: usize = 8;

/// A random stream.
pub struct Draw(pub u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn word(&mut self) -> u32 {
        match self.below(6) {
            0 => self.below(40) as u32,
            1 => (self.below(40) as u32).wrapping_neg(),
            2 => 1 << self.below(32),
            3 => (self.below(64) as f32 - 31.5).to_bits(),
            _ => self.next() as u32,
        }
    }
}

/// What is done to words: the first is the result.
#[derive(Clone, Copy)]
struct Operation {
    /// PTX, with `D`, `A`, `B` and `C` for the words.
    text: &'static str,
    /// The same, one thread at a time.
    of: fn(u32, u32, u32) -> u32,
}

fn bit(word: u64, at: u32) -> u64 {
    if at < 64 { word >> at & 1 } else { 0 }
}

fn signed(word: u32) -> i128 {
    i128::from(word)
        - if bit(word.into(), 31) == 1 {
            1 << 32
        } else {
            0
        }
}

fn float(of: f64) -> u32 {
    let rounded = of as f32;
    if rounded.is_nan() {
        0x7fff_ffff
    } else {
        rounded.to_bits()
    }
}

fn value(word: u32) -> f64 {
    f32::from_bits(word).into()
}

fn chosen(word: u64, select: u32) -> u32 {
    let mut result = 0;
    for idx in 0..4 {
        let way = select >> (4 * idx) & 15;
        let byte = (0..8)
            .map(|it| bit(word, 8 * (way & 7) + it) << it)
            .sum::<u64>();
        let byte = match way & 8 {
            0 => byte,
            _ => 255 * (byte >> 7),
        };
        result += (byte as u32) << (8 * idx);
    }
    result
}

/// The value of a half that is no NaN, in units of 2^-24; an infinity is where the next half would
/// be.
fn half_value(bits: u32) -> i128 {
    let (exponent, fraction) = (bits >> 10 & 31, i128::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction,
        exponent => (1024 + fraction) << (exponent - 1),
    };
    if bit(bits.into(), 15) == 1 {
        -magnitude
    } else {
        magnitude
    }
}

fn half_is_nan(bits: u32) -> bool {
    bits & 0x7fff > 0x7c00
}

/// The half of the greatest magnitude that is no greater than one in units of 2^-24 / `parts`.
fn half_below(magnitude: i128, parts: i128) -> u32 {
    (0..15).rev().map(|it| 1 << it).fold(0, |found, step| {
        let next: u32 = found + step;
        let fits = next < 0x7c00 && half_value(next) * parts <= magnitude;
        if fits { next } else { found }
    })
}

/// The nearest half.
fn nearest_half(value: i128, parts: i128) -> u32 {
    let magnitude = value.abs();
    let below = half_below(magnitude, parts);
    let middle = (half_value(below) + half_value(below + 1)) * parts;
    let is_up = middle < 2 * magnitude || middle == 2 * magnitude && below % 2 == 1;
    below + u32::from(is_up) + if value < 0 { 0x8000 } else { 0 }
}

/// `a * b + c` of halves, 0 where it is below.
fn half_fma_relu(a: u32, b: u32, c: u32) -> u32 {
    let is_infinite = |it: u32| it & 0x7fff == 0x7c00;
    let sign = |it: u32| it & 0x8000;
    let is_zero = |it: u32| it & 0x7fff == 0;
    let of_product = sign(a) ^ sign(b);
    let product_is_infinite = is_infinite(a) || is_infinite(b);
    if [a, b, c].into_iter().any(half_is_nan)
        || product_is_infinite && (is_zero(a) || is_zero(b))
        || product_is_infinite && is_infinite(c) && of_product != sign(c)
    {
        return 0x7fff;
    }
    let infinite = match (product_is_infinite, is_infinite(c)) {
        (true, _) => Some(of_product),
        (_, true) => Some(sign(c)),
        _ => None,
    };
    match infinite {
        Some(0) => 0x7c00,
        Some(_) => 0,
        None => {
            let sum = half_value(a) * half_value(b) + (half_value(c) << 24);
            nearest_half(sum.max(0), 1 << 24)
        }
    }
}

/// `a + b` of halves between 0 and 1.
fn half_sum_within_one(a: u32, b: u32) -> u32 {
    let is_infinite = |it: u32| it & 0x7fff == 0x7c00;
    let is_invalid = is_infinite(a) && is_infinite(b) && a != b;
    if half_is_nan(a) || half_is_nan(b) || is_invalid {
        return 0;
    }
    match [a, b].into_iter().find(|it| is_infinite(*it)) {
        Some(0x7c00) => 0x3c00,
        Some(_) => 0,
        None => nearest_half((half_value(a) + half_value(b)).clamp(0, 1 << 24), 1),
    }
}

/// A float cut to a half.
fn half_towards_zero(of: u32) -> u32 {
    let magnitude = of & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return 0x7fff;
    }
    let sign = of >> 16 & 0x8000;
    let half = match magnitude >> 23 {
        255 => 0x7c00,
        143.. => 0x7bff,
        // Below 2^16: a fraction with the unit 2^(exponent - 150), counted as halves are.
        exponent => {
            let fraction = i128::from(magnitude & 0x7f_ffff) + 0x80_0000;
            match exponent {
                126.. => half_below(fraction << (exponent - 126), 1),
                _ => half_below(fraction.checked_shr(126 - exponent).unwrap_or(0), 1),
            }
        }
    };
    sign + half
}

fn each_half(of: impl Fn(u32) -> u32) -> u32 {
    of(0) + (of(16) << 16)
}

/// The lowest 24 bits.
fn of_24(word: u32) -> i128 {
    let low = i128::from(word % (1 << 24));
    low - if low < 1 << 23 { 0 } else { 1 << 24 }
}

/// The sum of the last word and the products of the halves of the first one, as `number` reads them,
/// with two signed bytes of the second one from `from` on.
fn two_products([a, b, c]: [u32; 3], number: fn([u8; 2]) -> i64, from: usize) -> u32 {
    let [a, b] = [a, b].map(u32::to_le_bytes);
    let product =
        |idx: usize| number([a[2 * idx], a[2 * idx + 1]]) * i64::from(b[from + idx] as i8);
    (i64::from(c) + product(0) + product(1)).rem_euclid(1 << 32) as u32
}

fn within_32(value: i128) -> u32 {
    value
        .clamp(-2_147_483_648, 2_147_483_647)
        .rem_euclid(1 << 32) as u32
}

/// A number of two words.
fn wide(high: u32, low: u32) -> i128 {
    i128::from(high) * (1 << 32) + i128::from(low)
}

/// Four bytes of two words, lowest first, by their numbers.
fn bytes_of(a: u32, b: u32, numbers: [u32; 4]) -> u32 {
    let bytes: Vec<u8> = [a.to_le_bytes(), b.to_le_bytes()].concat();
    u32::from_le_bytes(numbers.map(|it| bytes[it as usize]))
}

const OPERATIONS: &[Operation] = &[
    // Sums of three words and more, by carries; a number of the same bits is the right result.
    Operation {
        text: "{ .reg .b32 t; add.cc.u32 t, A, B; addc.u32 D, B, C; }",
        of: |a, b, c| {
            let sum = wide(b, a) + wide(c, b);
            (sum / (1 << 32) % (1 << 32)) as u32
        },
    },
    Operation {
        text: "{ .reg .b32 t; sub.cc.s32 t, A, B; subc.cc.s32 t, B, C; subc.s32 D, A, 0; }",
        of: |a, b, c| {
            let rest = wide(b, a) - wide(c, b);
            (rest.div_euclid(1 << 64) + i128::from(a)).rem_euclid(1 << 32) as u32
        },
    },
    Operation {
        text: "{ .reg .b32 t; add.cc.s32 t, A, B; addc.cc.s32 t, C, C; addc.s32 D, 0, 0; }",
        of: |a, b, c| ((wide(c, a) + wide(c, b)) / (1 << 64)) as u32,
    },
    Operation {
        text: "{ .reg .b32 t; mad.lo.cc.u32 t, A, B, C; madc.hi.u32 D, A, B, C; }",
        of: |a, b, c| {
            let sum = i128::from(a) * i128::from(b) + wide(c, c);
            (sum / (1 << 32) % (1 << 32)) as u32
        },
    },
    Operation {
        text: "{ .reg .b32 t; mad.lo.cc.s32 t, A, B, C; madc.hi.cc.s32 t, A, B, C; addc.u32 D, t, 0; }",
        of: |a, b, c| {
            // What is added to the high half is a word without a sign.
            let product = signed(a) * signed(b);
            let (low, high) = (product.rem_euclid(1 << 32), product.div_euclid(1 << 32));
            let high = high.rem_euclid(1 << 32) + i128::from(c) + (low + i128::from(c)) / (1 << 32);
            ((high % (1 << 32) + high / (1 << 32)) % (1 << 32)) as u32
        },
    },
    Operation {
        text: "{ .reg .b64 x, y; .reg .b32 t; mov.b64 x, {A, B}; mov.b64 y, {B, C}; add.cc.u64 x, x, y; addc.u64 x, y, y; mov.b64 {D, t}, x; }",
        of: |a, b, c| {
            let (x, y) = (wide(b, a), wide(c, b));
            ((2 * y + (x + y) / (1 << 64)) % (1 << 32)) as u32
        },
    },
    Operation {
        text: "add.u32 D, A, B;",
        of: |a, b, _| ((u64::from(a) + u64::from(b)) % (1 << 32)) as u32,
    },
    Operation {
        text: "sub.s32 D, A, B;",
        of: |a, b, _| (signed(a) - signed(b)).rem_euclid(1 << 32) as u32,
    },
    Operation {
        text: "mul.lo.s32 D, A, B;",
        of: |a, b, _| (signed(a) * signed(b)).rem_euclid(1 << 32) as u32,
    },
    Operation {
        text: "mul.hi.s32 D, A, B;",
        of: |a, b, _| {
            (signed(a) * signed(b))
                .div_euclid(1 << 32)
                .rem_euclid(1 << 32) as u32
        },
    },
    Operation {
        text: "mul.hi.u32 D, A, B;",
        of: |a, b, _| ((u128::from(a) * u128::from(b)) / (1 << 32)) as u32,
    },
    Operation {
        text: "mad.lo.u32 D, A, B, C;",
        of: |a, b, c| ((u128::from(a) * u128::from(b) + u128::from(c)) % (1 << 32)) as u32,
    },
    Operation {
        text: "mad.hi.s32 D, A, B, C;",
        of: |a, b, c| {
            ((signed(a) * signed(b)).div_euclid(1 << 32) + i128::from(c)).rem_euclid(1 << 32) as u32
        },
    },
    Operation {
        text: "div.u32 D, A, B;",
        of: |a, b, _| a.checked_div(b).unwrap_or(u32::MAX),
    },
    Operation {
        text: "rem.s32 D, A, B;",
        of: |a, b, _| {
            if b == 0 {
                u32::MAX
            } else {
                (signed(a) % signed(b)).rem_euclid(1 << 32) as u32
            }
        },
    },
    Operation {
        text: "div.s32 D, A, B;",
        of: |a, b, _| {
            if b == 0 {
                u32::MAX
            } else {
                (signed(a) / signed(b)).rem_euclid(1 << 32) as u32
            }
        },
    },
    Operation {
        text: "min.s32 D, A, B;",
        of: |a, b, _| if signed(a) < signed(b) { a } else { b },
    },
    Operation {
        text: "max.u32 D, A, B;",
        of: |a, b, _| if a < b { b } else { a },
    },
    Operation {
        text: "and.b32 D, A, B;",
        of: |a, b, _| {
            (0..32)
                .map(|it| ((bit(a.into(), it) * bit(b.into(), it)) as u32) << it)
                .sum()
        },
    },
    Operation {
        text: "xor.b32 D, A, B;",
        of: |a, b, _| {
            (0..32)
                .map(|it| (((bit(a.into(), it) + bit(b.into(), it)) % 2) as u32) << it)
                .sum()
        },
    },
    Operation {
        text: "not.b32 D, A;",
        of: |a, _, _| u32::MAX - a,
    },
    Operation {
        text: "shl.b32 D, A, B;",
        of: |a, b, _| {
            if b < 32 {
                (u64::from(a) * (1 << b) % (1 << 32)) as u32
            } else {
                0
            }
        },
    },
    Operation {
        text: "shr.u32 D, A, B;",
        of: |a, b, _| {
            if b < 32 {
                (u64::from(a) / (1 << b)) as u32
            } else {
                0
            }
        },
    },
    Operation {
        text: "shr.s32 D, A, B;",
        of: |a, b, _| signed(a).div_euclid(1 << b.min(40)).rem_euclid(1 << 32) as u32,
    },
    Operation {
        text: "popc.b32 D, A;",
        of: |a, _, _| (0..32).map(|it| bit(a.into(), it) as u32).sum(),
    },
    Operation {
        text: "clz.b32 D, A;",
        of: |a, _, _| {
            (0..32)
                .rev()
                .take_while(|it| bit(a.into(), *it) == 0)
                .count() as u32
        },
    },
    Operation {
        text: "brev.b32 D, A;",
        of: |a, _, _| {
            (0..32)
                .map(|it| (bit(a.into(), it) as u32) << (31 - it))
                .sum()
        },
    },
    Operation {
        text: "bfind.u32 D, A;",
        of: |a, _, _| {
            (0..32)
                .rev()
                .find(|it| bit(a.into(), *it) == 1)
                .unwrap_or(u32::MAX)
        },
    },
    Operation {
        text: "bfind.shiftamt.u32 D, A;",
        of: |a, _, _| {
            (0..32)
                .find(|it| bit(a.into(), 31 - it) == 1)
                .unwrap_or(u32::MAX)
        },
    },
    Operation {
        text: "bfind.shiftamt.s32 D, A;",
        of: |a, _, _| {
            (0..32)
                .find(|it| bit(a.into(), 31 - it) != bit(a.into(), 31))
                .unwrap_or(u32::MAX)
        },
    },
    Operation {
        text: "prmt.b32.f4e D, A, B, C;",
        of: |a, b, c| bytes_of(a, b, std::array::from_fn(|it| it as u32 + c % 4)),
    },
    Operation {
        text: "prmt.b32.b4e D, A, B, C;",
        of: |a, b, c| bytes_of(a, b, std::array::from_fn(|it| (c % 4 + 8 - it as u32) % 8)),
    },
    Operation {
        text: "prmt.b32.rc8 D, A, B, C;",
        of: |a, b, c| bytes_of(a, b, [c % 4; 4]),
    },
    Operation {
        text: "prmt.b32.ecl D, A, B, C;",
        of: |a, b, c| bytes_of(a, b, std::array::from_fn(|it| (it as u32).max(c % 4))),
    },
    Operation {
        text: "prmt.b32.ecr D, A, B, C;",
        of: |a, b, c| bytes_of(a, b, std::array::from_fn(|it| (it as u32).min(c % 4))),
    },
    Operation {
        text: "prmt.b32.rc16 D, A, B, C;",
        of: |a, b, c| bytes_of(a, b, std::array::from_fn(|it| it as u32 % 2 + c % 2 * 2)),
    },
    Operation {
        text: "mul24.lo.u32 D, A, B;",
        of: |a, b, _| {
            let factor = |it: u32| u64::from(it) % (1 << 24);
            (factor(a) * factor(b) % (1 << 32)) as u32
        },
    },
    Operation {
        text: "mul24.hi.s32 D, A, B;",
        of: |a, b, _| {
            (of_24(a) * of_24(b))
                .div_euclid(1 << 16)
                .rem_euclid(1 << 32) as u32
        },
    },
    Operation {
        text: "mad24.lo.s32 D, A, B, C;",
        of: |a, b, c| (of_24(a) * of_24(b) + i128::from(c)).rem_euclid(1 << 32) as u32,
    },
    Operation {
        text: "mad24.hi.sat.s32 D, A, B, C;",
        of: |a, b, c| within_32((of_24(a) * of_24(b)).div_euclid(1 << 16) + signed(c)),
    },
    Operation {
        text: "mad.hi.sat.s32 D, A, B, C;",
        of: |a, b, c| within_32((signed(a) * signed(b)).div_euclid(1 << 32) + signed(c)),
    },
    Operation {
        text: "add.sat.s32 D, A, B;",
        of: |a, b, _| within_32(signed(a) + signed(b)),
    },
    Operation {
        text: "sub.sat.s32 D, A, B;",
        of: |a, b, _| within_32(signed(a) - signed(b)),
    },
    Operation {
        text: "dp2a.lo.s32.s32 D, A, B, C;",
        of: |a, b, c| two_products([a, b, c], |half| i16::from_le_bytes(half).into(), 0),
    },
    Operation {
        text: "dp2a.hi.u32.s32 D, A, B, C;",
        of: |a, b, c| two_products([a, b, c], |half| u16::from_le_bytes(half).into(), 2),
    },
    Operation {
        text: "add.sat.f16x2 D, A, B;",
        of: |a, b, _| each_half(|at| half_sum_within_one(a >> at & 0xffff, b >> at & 0xffff)),
    },
    Operation {
        text: "fma.rn.relu.f16x2 D, A, B, C;",
        of: |a, b, c| {
            each_half(|at| half_fma_relu(a >> at & 0xffff, b >> at & 0xffff, c >> at & 0xffff))
        },
    },
    Operation {
        text: "{ .reg .b16 h; cvt.rz.f16.f32 h, A; cvt.u32.u16 D, h; }",
        of: |a, _, _| half_towards_zero(a),
    },
    Operation {
        text: "cvt.rz.bf16x2.f32 D, A, B;",
        of: |a, b, _| {
            each_half(|at| match if at == 0 { b } else { a } {
                it if value(it).is_nan() => 0x7fff,
                it => it >> 16,
            })
        },
    },
    Operation {
        text: "{ .reg .pred p; testp.normal.f32 p, A; selp.b32 D, B, C, p; }",
        of: |a, b, c| {
            let exponent = a >> 23 & 255;
            let is_zero = a << 1 == 0;
            if is_zero || exponent % 255 != 0 { b } else { c }
        },
    },
    Operation {
        text: "{ .reg .pred p; testp.subnormal.f32 p, A; selp.b32 D, B, C, p; }",
        of: |a, b, c| {
            if a >> 23 & 255 == 0 && a << 1 != 0 {
                b
            } else {
                c
            }
        },
    },
    Operation {
        text: "bfe.u32 D, A, B, C;",
        of: |a, b, c| {
            let (from, length) = (b & 255, c & 255);
            (0..length.min(32))
                .filter(|it| from + it < 32)
                .map(|it| (bit(a.into(), from + it) as u32) << it)
                .sum()
        },
    },
    Operation {
        text: "bfe.s32 D, A, B, C;",
        of: |a, b, c| {
            let (from, length) = (b & 255, c & 255);
            let sign = if length == 0 {
                0
            } else {
                bit(a.into(), (from + length - 1).min(31))
            };
            (0..32)
                .map(|it| {
                    let inside = it < length && from + it < 32;
                    (if inside {
                        bit(a.into(), from + it)
                    } else {
                        sign
                    } as u32)
                        << it
                })
                .sum()
        },
    },
    Operation {
        text: "bfi.b32 D, A, B, C, 7;",
        of: |a, b, c| {
            let at = c & 255;
            (0..32)
                .map(|it| {
                    let inside = at <= it && it < at + 7;
                    (if inside {
                        bit(a.into(), it - at)
                    } else {
                        bit(b.into(), it)
                    } as u32)
                        << it
                })
                .sum()
        },
    },
    Operation {
        text: "prmt.b32 D, A, B, C;",
        of: |a, b, c| chosen(u64::from(b) << 32 | u64::from(a), c),
    },
    Operation {
        text: "shf.l.wrap.b32 D, A, B, C;",
        of: |a, b, c| (((u128::from(b) << 32 | u128::from(a)) << (c % 32)) >> 32) as u32,
    },
    Operation {
        text: "shf.r.clamp.b32 D, A, B, C;",
        of: |a, b, c| ((u128::from(b) << 32 | u128::from(a)) >> c.min(32)) as u32,
    },
    Operation {
        text: "lop3.b32 D, A, B, C, 0xca;",
        of: |a, b, c| a & b | !a & c,
    },
    Operation {
        text: "dp4a.u32.s32 D, A, B, C;",
        of: |a, b, c| {
            let part = |idx: u32| {
                i64::from((a >> (8 * idx)) as u8) * i64::from((b >> (8 * idx)) as u8 as i8)
            };
            (i64::from(c) + (0..4).map(part).sum::<i64>()).rem_euclid(1 << 32) as u32
        },
    },
    Operation {
        text: "sad.s32 D, A, B, C;",
        of: |a, b, c| ((signed(a) - signed(b)).abs() + i128::from(c)).rem_euclid(1 << 32) as u32,
    },
    Operation {
        text: "slct.b32.s32 D, A, B, C;",
        of: |a, b, c| if signed(c) < 0 { b } else { a },
    },
    Operation {
        text: "cvt.s32.s8 D, A;",
        of: |a, _, _| {
            (i128::from(a % 256) - if a % 256 < 128 { 0 } else { 256 }).rem_euclid(1 << 32) as u32
        },
    },
    Operation {
        text: "cvt.u32.u16 D, A;",
        of: |a, _, _| a % 65_536,
    },
    Operation {
        text: "cvt.rn.f32.s32 D, A;",
        of: |a, _, _| float(signed(a) as f64),
    },
    Operation {
        text: "cvt.rzi.s32.f32 D, A;",
        of: |a, _, _| {
            let of = value(a);
            if of.is_nan() {
                0
            } else {
                of.clamp(-2_147_483_648.0, 2_147_483_647.0).trunc() as i64 as u32
            }
        },
    },
    Operation {
        text: "add.rn.f32 D, A, B;",
        of: |a, b, _| float(value(a) + value(b)),
    },
    Operation {
        text: "sub.rn.f32 D, A, B;",
        of: |a, b, _| float(value(a) - value(b)),
    },
    Operation {
        text: "mul.rn.f32 D, A, B;",
        of: |a, b, _| float(value(a) * value(b)),
    },
    Operation {
        text: "neg.f32 D, A;",
        of: |a, _, _| float(-value(a)),
    },
    Operation {
        text: "{ .reg .b64 w; mul.wide.s32 w, A, B; shr.u64 w, w, 17; cvt.u32.u64 D, w; }",
        of: |a, b, _| ((signed(a) * signed(b)).rem_euclid(1 << 64) >> 17 & 0xffff_ffff) as u32,
    },
    Operation {
        text: "{ .reg .b64 w; mov.b64 w, {A, B}; add.s64 w, w, 3000000000; mov.b64 {_, D}, w; }",
        of: |a, b, _| (((u128::from(b) << 32) + u128::from(a) + 3_000_000_000) >> 32) as u32,
    },
    Operation {
        text: "{ .reg .pred p; setp.lt.s32 p, A, B; selp.b32 D, A, C, p; }",
        of: |a, b, c| if signed(a) < signed(b) { a } else { c },
    },
    Operation {
        text: "{ .reg .pred p; setp.geu.f32 p, A, B; selp.b32 D, 1, 2, p; }",
        of: |a, b, _| if value(a) < value(b) { 2 } else { 1 },
    },
];

/// A part of a program.
enum Part {
    /// An operation on the words with these numbers.
    Word(Operation, [usize; 4]),
    /// Words of the thread that stands this far away, by the exclusive or.
    Exchange(usize, usize, u32),
    /// The first where a word is below a bound, or else the second.
    Branch(usize, u32, Vec<Part>, Vec<Part>),
    /// So many times, one more for each of the lowest bits of a word.
    Loop(usize, u32, Vec<Part>),
}

fn parts(draw: &mut Draw, depth: usize, count: usize) -> Vec<Part> {
    let part = |draw: &mut Draw| match draw.below(12) {
        0 if depth < 3 => {
            let bound = draw.word();
            Part::Branch(
                draw.below(WORDS),
                bound,
                parts(draw, depth + 1, 3),
                parts(draw, depth + 1, 3),
            )
        }
        1 if depth < 3 => Part::Loop(
            draw.below(WORDS),
            draw.below(3) as u32,
            parts(draw, depth + 1, 3),
        ),
        2 if depth == 0 => {
            Part::Exchange(draw.below(WORDS), draw.below(WORDS), draw.below(32) as u32)
        }
        _ => {
            let words = std::array::from_fn(|_| draw.below(WORDS));
            Part::Word(OPERATIONS[draw.below(OPERATIONS.len())], words)
        }
    };
    (0..count).map(|_| part(draw)).collect()
}

/// Writes a program in PTX.
fn write(parts: &[Part], labels: &mut u32, text: &mut String) {
    for part in parts {
        *labels += 1;
        let label = *labels;
        match part {
            Part::Word(operation, words) => {
                let mut line = operation.text.to_owned();
                for (name, word) in ["D", "A", "B", "C"].iter().zip(words) {
                    let whole =
                        |at: usize| !line[at + 1..].starts_with(|it: char| it.is_alphanumeric());
                    let places: Vec<usize> = line
                        .match_indices(name)
                        .map(|(at, _)| at)
                        .filter(|at| whole(*at))
                        .collect();
                    for at in places.into_iter().rev() {
                        line.replace_range(at..at + 1, &format!("%w{word}"));
                    }
                }
                let _ = writeln!(text, "{line}");
            }
            Part::Exchange(to, from, distance) => {
                let _ = writeln!(
                    text,
                    "shfl.sync.bfly.b32 %w{to}, %w{from}, {distance}, 31, -1;"
                );
            }
            Part::Branch(word, bound, yes, no) => {
                let _ = writeln!(
                    text,
                    "setp.lt.u32 %p1, %w{word}, {bound}; @!%p1 bra no{label};"
                );
                write(yes, labels, text);
                let _ = writeln!(text, "bra end{label}; no{label}:");
                write(no, labels, text);
                let _ = writeln!(text, "end{label}:");
            }
            Part::Loop(word, rounds, inner) => {
                let _ = writeln!(
                    text,
                    "and.b32 %c{label}, %w{word}, 3; add.u32 %c{label}, %c{label}, {rounds}; again{label}: setp.eq.u32 %p2, %c{label}, 0; @%p2 bra out{label};"
                );
                write(inner, labels, text);
                let _ = writeln!(
                    text,
                    "sub.u32 %c{label}, %c{label}, 1; bra again{label}; out{label}:"
                );
            }
        }
    }
}

fn step(part: &Part, words: &mut [u32; WORDS]) {
    match part {
        Part::Word(operation, [d, a, b, c]) => {
            words[*d] = (operation.of)(words[*a], words[*b], words[*c])
        }
        Part::Exchange(..) => {}
        Part::Branch(word, bound, yes, no) => {
            let way = if words[*word] < *bound { yes } else { no };
            way.iter().for_each(|part| step(part, words));
        }
        Part::Loop(word, rounds, inner) => {
            for _ in 0..(words[*word] & 3) + rounds {
                inner.iter().for_each(|part| step(part, words));
            }
        }
    }
}

/// Makes the program of a seed: its text, the words that 32 threads begin with, and those that
/// they end with.
pub fn program(seed: u64) -> (String, Vec<[u32; WORDS]>, Vec<[u32; WORDS]>) {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let count = 4 + draw.below(24);
    let parts = parts(&mut draw, 0, count);
    let first: Vec<[u32; WORDS]> = (0..32)
        .map(|_| std::array::from_fn(|_| draw.word()))
        .collect();
    let mut words = first.clone();
    for part in &parts {
        if let Part::Exchange(to, from, distance) = part {
            let before: Vec<u32> = words.iter().map(|it| it[*from]).collect();
            for (lane, words) in words.iter_mut().enumerate() {
                words[*to] = before[lane ^ *distance as usize];
            }
        } else {
            words.iter_mut().for_each(|words| step(part, words));
        }
    }
    let body = whole(|body| write(&parts, &mut 0, body));
    (body, first, words)
}

/// Returns the text of a program that loads the words of a thread, does what `inner` writes, and
/// stores them.
fn whole(inner: impl Fn(&mut String)) -> String {
    let mut body = String::from(
        " .reg .b32 %w<8>; .reg .b32 %c<2000>; mul.wide.u32 %d1, %t, 32; add.u64 %d2, %x, %d1; add.u64 %d3, %y, %d1;\n",
    );
    for word in 0..WORDS {
        let _ = writeln!(body, "ld.global.u32 %w{word}, [%d2+{}];", 4 * word);
    }
    inner(&mut body);
    for word in 0..WORDS {
        let _ = writeln!(body, "st.global.u32 [%d3+{}], %w{word};", 4 * word);
    }
    body
}

/// Numbers at which operations turn: integers, floats and halves.
const SPECIAL: [u32; 42] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    255,
    0x7fff,
    0x8000,
    0xffff,
    0x7f_ffff,
    0x80_0000,
    0x80_0001,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ff80,
    0xffff_fffe,
    0xffff_ffff,
    0x8080_8080,
    0x3f80_0000,
    0xbf80_0000,
    0x3f7f_ffff,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7f80_0001,
    0x3300_0000,
    0x3380_0001,
    0x387f_e000,
    0x477f_f000,
    0xc77f_efff,
    0x3f81_8000,
    0x3c00_bc00,
    0x7c00_fc00,
    0x7e00_0001,
    0x8001_03ff,
    0x7bff_fbff,
    0x0400_3c01,
];

/// Makes a program of each operation alone: its text, the words that 1,024 threads begin with,
/// special numbers and drawn ones, and those that they end with.
pub fn alone() -> impl Iterator<Item = (String, Vec<[u32; WORDS]>, Vec<[u32; WORDS]>)> {
    OPERATIONS.iter().map(|operation| {
        let mut draw = Draw(7);
        let mut word = || match draw.below(8) {
            0 => draw.word(),
            _ => SPECIAL[draw.below(SPECIAL.len())],
        };
        let first: Vec<[u32; WORDS]> = (0..1024).map(|_| std::array::from_fn(|_| word())).collect();
        let part = Part::Word(*operation, [0, 1, 2, 3]);
        let mut last = first.clone();
        last.iter_mut().for_each(|words| step(&part, words));
        let body = whole(|body| write(std::slice::from_ref(&part), &mut 0, body));
        (body, first, last)
    })
}
