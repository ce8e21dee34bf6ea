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

const OPERATIONS: &[Operation] = &[
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
    let mut body = String::from(
        " .reg .b32 %w<8>; .reg .b32 %c<2000>; mul.wide.u32 %d1, %t, 32; add.u64 %d2, %x, %d1; add.u64 %d3, %y, %d1;\n",
    );
    for word in 0..WORDS {
        let _ = writeln!(body, "ld.global.u32 %w{word}, [%d2+{}];", 4 * word);
    }
    write(&parts, &mut 0, &mut body);
    for word in 0..WORDS {
        let _ = writeln!(body, "st.global.u32 [%d3+{}], %w{word};", 4 * word);
    }
    (body, first, words)
}
