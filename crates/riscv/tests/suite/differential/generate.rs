//! Random programs.

use super::image::{BASE, DATA, Image, OUTPUT, OUTPUT_BYTES, SCRATCH, SCRATCH_BYTES, STATE_WORDS};

/// Holds the address of the scratch area; never written by a case.
const POINTER: u32 = 30;
/// Holds addresses of states; never written by a case.
const STATE: u32 = 31;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 33) % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A number of the sort at which mistakes show.
    fn integer(&mut self) -> u64 {
        match self.below(6) {
            0 => self.pick(&[0, 1, 2, 7, u64::MAX, i64::MIN as u64, i64::MAX as u64]),
            1 => self.pick(&[0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_ffff_8000_0000]),
            2 => self.next() >> self.below(64),
            3 => (self.next() as i64 >> self.below(64)) as u64,
            _ => self.next(),
        }
    }

    fn float(&mut self) -> u64 {
        if self.below(2) == 0 {
            let bits: u32 = match self.below(5) {
                0 => self.pick(&[
                    0,
                    0x8000_0000,
                    0x3f80_0000,
                    0xbf80_0000,
                    0x7f80_0000,
                    0xff80_0000,
                    0x7fc0_0000,
                    0x7f80_0001,
                    0x0080_0000,
                    0x007f_ffff,
                    1,
                    0x7f7f_ffff,
                    0x4f00_0000,
                    0xcf00_0000,
                    0x5f00_0000,
                    0x3f00_0000,
                ]),
                1 => (self.next() as u32 & 0x807f_ffff) | (100 + self.below(60) as u32) << 23,
                2 => (self.next() as u32 & 0x8000_0fff) | (120 + self.below(10) as u32) << 23,
                3 => (self.next() as u32 & 0x807f_ffff) | (self.below(3) as u32) << 23,
                _ => self.next() as u32,
            };
            // Now and then a value that is not boxed.
            let upper = if self.below(16) == 0 {
                self.next() >> 32
            } else {
                0xffff_ffff
            };
            upper << 32 | u64::from(bits)
        } else {
            match self.below(5) {
                0 => self.pick(&[
                    0,
                    1 << 63,
                    0x3ff0 << 48,
                    0xbff0 << 48,
                    0x7ff0 << 48,
                    0xfff0 << 48,
                    0x7ff8 << 48,
                    (0x7ff0 << 48) | 1,
                    0x0010 << 48,
                    (0x0010 << 48) - 1,
                    1,
                    (0x7ff0 << 48) - 1,
                    0x41e0 << 48,
                    0xc1e0 << 48,
                    0x43e0 << 48,
                    0x3fe0 << 48,
                    0x3810 << 48,
                    0x380f_ffff_ffff_ffff,
                ]),
                1 => (self.next() & !(0x7ff << 52)) | (1000 + self.below(60)) << 52,
                2 => (self.next() & 0x8000_0000_ffff_ffff) | (1015 + self.below(20)) << 52,
                3 => (self.next() & !(0x7ff << 52)) | self.below(3) << 52,
                _ => self.next(),
            }
        }
    }
}

/// Returns a program of `cases` random cases.
pub fn program(seed: u64, cases: usize) -> Image {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut image = Image {
        code: Vec::new(),
        data: Vec::new(),
        listing: Vec::new(),
    };
    for case_idx in 0..cases {
        let offset = case_idx as u64 * STATE_WORDS as u64 * 8;
        for _ in 0..32 {
            image.data.push(random.integer());
        }
        for _ in 0..32 {
            image.data.push(random.float());
        }
        image.data.push(random.below(5) << 5 | random.below(32));
        address(&mut image.code, STATE, DATA + offset);
        word(&mut image.code, i_type(0x03, 3, 5, STATE, 64 * 8));
        word(&mut image.code, 0x0030_1073 | 5 << 15 | 1 << 12);
        for register in 0..32 {
            word(
                &mut image.code,
                i_type(0x07, 3, register, STATE, 256 + register * 8),
            );
        }
        for register in 1..30 {
            word(
                &mut image.code,
                i_type(0x03, 3, register, STATE, register * 8),
            );
        }
        address(&mut image.code, POINTER, SCRATCH);
        let listing = body(&mut random);
        for instruction in &listing {
            word(&mut image.code, *instruction);
        }
        image.listing.push(listing);
        address(&mut image.code, STATE, OUTPUT + offset);
        for register in 0..31 {
            word(
                &mut image.code,
                s_type(0x23, 3, STATE, register, register * 8),
            );
        }
        for register in 0..32 {
            word(
                &mut image.code,
                s_type(0x27, 3, STATE, register, 256 + register * 8),
            );
        }
        // csrr x5, fcsr
        word(&mut image.code, 0x0030_2073 | 5 << 7);
        word(&mut image.code, s_type(0x23, 3, STATE, 5, 64 * 8));
    }
    // Copy the scratch area behind the states.
    let end = OUTPUT + cases as u64 * STATE_WORDS as u64 * 8;
    assert!(
        end + SCRATCH_BYTES as u64 <= OUTPUT + OUTPUT_BYTES as u64,
        "output too long"
    );
    address(&mut image.code, 5, SCRATCH);
    address(&mut image.code, 6, end);
    address(&mut image.code, 7, SCRATCH + SCRATCH_BYTES as u64);
    word(&mut image.code, i_type(0x03, 3, 8, 5, 0));
    word(&mut image.code, s_type(0x23, 3, 6, 8, 0));
    word(&mut image.code, i_type(0x13, 0, 5, 5, 8));
    word(&mut image.code, i_type(0x13, 0, 6, 6, 8));
    word(&mut image.code, b_type(4, 5, 7, (-16i32) as u32));
    finish(&mut image.code);
    assert!(BASE + (image.code.len() as u64) < DATA, "code too long");
    image
}

/// Numbers at the edges of double precision.
const DOUBLES: [u64; 20] = [
    0,
    1 << 63,
    1,
    (1 << 52) - 1,
    1 << 52,
    (1 << 52) + 1,
    (1 << 63) | (1 << 52),
    0x3fef_ffff_ffff_ffff,
    0x3ff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0xbff0_0000_0000_0001,
    0x3fe0_0000_0000_0000,
    0x3ca0_0000_0000_0000,
    0x4008_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x380f_ffff_f000_0001,
];

/// The same in single precision.
const SINGLES: [u64; 20] = [
    0,
    1 << 31,
    1,
    0x007f_ffff,
    0x0080_0000,
    0x0080_0001,
    0x8080_0000,
    0x3f7f_ffff,
    0x3f80_0000,
    0x3f80_0001,
    0xbf80_0001,
    0x3f00_0000,
    0x3300_0000,
    0x4040_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0x3400_0000,
];

/// Returns a program that applies every rounded operation in every rounding
/// mode to all pairs of numbers at the edges, and stores results and flags.
pub fn edges() -> Image {
    for_all_pairs(&DOUBLES, &SINGLES, |code, double| {
        for mode in 0..5 {
            let fp = |funct7: u32, rs2: u32| r_type(0x53, mode, funct7 | double, 3, 1, rs2);
            let fused = |opcode: u32, rs3: u32| {
                rs3 << 27 | double << 25 | 2 << 20 | 1 << 15 | mode << 12 | 3 << 7 | opcode
            };
            for operation in [
                fp(0, 2),
                fp(4, 2),
                fp(8, 2),
                fp(0xc, 2),
                fp(0x2c, 0),
                fused(0x43, 1),
                fused(0x4f, 2),
                r_type(0x53, mode, 0x20 | (1 - double), 3, 1, double),
            ] {
                // csrw fflags, zero; the operation; its result and flags.
                word(code, 0x0010_1073);
                word(code, operation);
                word(code, s_type(0x27, 3, 14, 3, 0));
                word(code, 0x0010_2073 | 15 << 7);
                word(code, s_type(0x23, 3, 14, 15, 8));
                word(code, i_type(0x13, 0, 14, 14, 16));
            }
        }
    })
}

/// Returns a program that does the same with all pairs of numbers, first of double (1) and
/// then of single precision (0). What `body` adds finds the numbers in `f1` and `f2`, the
/// address of the first one in `x11`, and the next one to store to in `x14`; it leaves
/// `x11` to `x13` as they are.
pub fn for_all_pairs(doubles: &[u64], singles: &[u64], body: impl Fn(&mut Vec<u8>, u32)) -> Image {
    let boxed = singles.iter().map(|bits| bits | 0xffff_ffff_0000_0000);
    let mut image = Image {
        code: Vec::new(),
        data: doubles.iter().copied().chain(boxed).collect(),
        listing: Vec::new(),
    };
    let code = &mut image.code;
    address(code, 14, OUTPUT);
    let mut start = DATA;
    for (double, numbers) in [(1, doubles), (0, singles)] {
        let end = start + 8 * numbers.len() as u64;
        address(code, 13, end);
        address(code, 11, start);
        let outer = code.len();
        address(code, 12, start);
        let inner = code.len();
        word(code, i_type(0x07, 3, 1, 11, 0));
        word(code, i_type(0x07, 3, 2, 12, 0));
        body(code, double);
        for (register, first) in [(12, inner), (11, outer)] {
            word(code, i_type(0x13, 0, register, register, 8));
            // The way back may be too long for a branch.
            word(code, b_type(0, register, 13, 8));
            let back = (first as i64 - code.len() as i64) as u32;
            word(code, j_type(0, back));
        }
        start = end;
    }
    finish(code);
    image
}

/// write(1, OUTPUT, OUTPUT_BYTES); exit(0)
fn finish(code: &mut Vec<u8>) {
    address(code, 10, 1);
    address(code, 11, OUTPUT);
    address(code, 12, OUTPUT_BYTES as u64);
    address(code, 17, 64);
    word(code, 0x73);
    address(code, 10, 0);
    address(code, 17, 93);
    word(code, 0x73);
}

/// Returns the instructions of one case, 16-bit ones with zeros above.
fn body(random: &mut Random) -> Vec<u32> {
    let mut body = Vec::new();
    while body.len() < 24 {
        let rd = random.below(30) as u32;
        let (rs1, rs2, rs3) = (
            random.below(32) as u32,
            random.below(32) as u32,
            random.below(32) as u32,
        );
        let imm = random.next() as u32 & 0xfff;
        let offset = random.below(SCRATCH_BYTES as u64 / 2) as u32;
        match random.below(16) {
            0..=2 => body.push(i_type(0x13, random.pick(&[0, 2, 3, 4, 6, 7]), rd, rs1, imm)),
            3 => {
                let (funct3, high) = random.pick(&[(1, 0), (5, 0), (5, 0x400)]);
                if random.below(2) == 0 {
                    body.push(i_type(0x13, funct3, rd, rs1, high | imm & 63));
                } else {
                    body.push(i_type(0x1b, funct3, rd, rs1, high | imm & 31));
                }
            }
            4 => body.push(i_type(0x1b, 0, rd, rs1, imm)),
            5 | 6 => {
                let wide = [(0, 0x00ff), (0x20, 0x21), (1, 0xff)];
                let half = [(0, 0x23), (0x20, 0x21), (1, 0xf1)];
                let narrow = random.below(2) == 0;
                let (funct7, allowed): (u32, u32) = random.pick(if narrow { &half } else { &wide });
                let funct3 = random.below(8) as u32;
                if allowed >> funct3 & 1 == 1 {
                    let opcode = if narrow { 0x3b } else { 0x33 };
                    body.push(r_type(opcode, funct3, funct7, rd, rs1, rs2));
                }
            }
            7 => body.push((imm << 20 | rs2 << 15 | imm & 7 << 12) & !0xfff | rd << 7 | 0x37),
            8 => {
                let funct3 = random.below(7) as u32;
                let size = 1 << (funct3 & 3);
                body.push(i_type(0x03, funct3, rd, POINTER, offset / size * size));
                let funct3 = random.below(4) as u32;
                let size = 1 << funct3;
                body.push(s_type(0x23, funct3, POINTER, rs2, offset / size * size));
            }
            9 => {
                let funct3 = 2 + random.below(2) as u32;
                let size = 1 << funct3;
                body.push(i_type(0x07, funct3, rs3, POINTER, offset / size * size));
                body.push(s_type(
                    0x27,
                    funct3,
                    POINTER,
                    rs2,
                    (offset ^ 64) / size * size,
                ));
            }
            10 => {
                // A forward branch or jump over one instruction.
                let funct3 = random.pick(&[0, 1, 4, 5, 6, 7]);
                if random.below(4) == 0 {
                    body.push(8 << 20 | rd << 7 | 0x6f);
                } else {
                    body.push(b_type(funct3, rs1, rs2, 8));
                }
                body.push(i_type(0x13, 0, rd, rs1, imm));
            }
            11 => compressed(random, &mut body),
            12 => {
                let funct3 = 2 + random.below(2) as u32;
                let funct5 = random.pick(&[0, 1, 4, 8, 12, 16, 20, 24, 28]);
                body.push(r_type(0x2f, funct3, funct5 << 2, rd, POINTER, rs2));
                if random.below(4) == 0 {
                    body.push(r_type(0x2f, funct3, 2 << 2, rd, POINTER, 0));
                    body.push(r_type(0x2f, funct3, 3 << 2, rd, POINTER, rs2));
                }
            }
            _ => float(random, &mut body, rd, [rs1, rs2, rs3]),
        }
    }
    body
}

fn float(random: &mut Random, body: &mut Vec<u32>, rd: u32, [rs1, rs2, rs3]: [u32; 3]) {
    let double = random.below(2) as u32;
    let mode = random.pick(&[0, 0, 1, 2, 3, 4, 7]);
    let fp =
        |funct7: u32, funct3: u32, rs2: u32| r_type(0x53, funct3, funct7 | double, rd, rs1, rs2);
    body.push(match random.below(12) {
        0..=4 => fp(random.pick(&[0, 4, 8, 0xc]), mode, rs2),
        5 => fp(0x2c, mode, 0),
        6 => {
            let opcode = random.pick(&[0x43, 0x47, 0x4b, 0x4f]);
            rs3 << 27 | double << 25 | rs2 << 20 | rs1 << 15 | mode << 12 | rd << 7 | opcode
        }
        7 => fp(0x10, random.below(3) as u32, rs2),
        8 => fp(0x14, random.below(2) as u32, rs2),
        9 => fp(0x50, random.below(3) as u32, rs2),
        10 => fp(random.pick(&[0x60, 0x68]), mode, random.below(4) as u32),
        _ => match random.below(4) {
            0 => r_type(0x53, mode, 0x20 | double, rd, rs1, 1 - double),
            1 => fp(0x70, random.below(2) as u32, 0),
            2 => fp(0x78, 0, 0),
            _ => r_type(0x53, mode, 0x20 | double, rd, rs1, 1 - double),
        },
    });
}

/// Adds two 16-bit instructions that neither jump nor touch memory, or a nop.
fn compressed(random: &mut Random, body: &mut Vec<u32>) {
    let mut half = || loop {
        let bits = random.next() as u16;
        let (quadrant, funct3) = (bits & 3, bits >> 13);
        let rd = u32::from(bits >> 7 & 31);
        let suitable = match (quadrant, funct3) {
            (0, 0) => bits != 0 && autocomp_riscv::expand(bits).is_some(),
            (1, 0..=4) => rd < POINTER,
            (2, 0) => rd < POINTER,
            (2, 4) => bits & 0x7c != 0 && rd < POINTER,
            _ => false,
        };
        if suitable && autocomp_riscv::expand(bits).is_some() {
            return u32::from(bits);
        }
    };
    let (low, high) = (half(), half());
    body.push(low | high << 16);
}

pub fn word(code: &mut Vec<u8>, bits: u32) {
    code.extend_from_slice(&bits.to_le_bytes());
}

/// Loads a positive constant below 2^31.
fn address(code: &mut Vec<u8>, register: u32, value: u64) {
    let value = value as u32;
    let high = value.wrapping_add(0x800) & 0xffff_f000;
    word(code, high | register << 7 | 0x37);
    word(
        code,
        i_type(0x1b, 0, register, register, value.wrapping_sub(high)),
    );
}

pub fn i_type(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: u32) -> u32 {
    (imm & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

pub fn s_type(opcode: u32, funct3: u32, rs1: u32, rs2: u32, imm: u32) -> u32 {
    (imm >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 31) << 7 | opcode
}

pub fn r_type(opcode: u32, funct3: u32, funct7: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn b_type(funct3: u32, rs1: u32, rs2: u32, imm: u32) -> u32 {
    (imm >> 12 & 1) << 31
        | (imm >> 5 & 0x3f) << 25
        | rs2 << 20
        | rs1 << 15
        | funct3 << 12
        | (imm >> 1 & 15) << 8
        | (imm >> 11 & 1) << 7
        | 0x63
}

fn j_type(rd: u32, imm: u32) -> u32 {
    (imm >> 20 & 1) << 31
        | (imm >> 1 & 0x3ff) << 21
        | (imm >> 11 & 1) << 20
        | (imm >> 12 & 0xff) << 12
        | rd << 7
        | 0x6f
}
