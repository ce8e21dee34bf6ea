//! Floating-point operations on usual numbers, one by one.

use super::generate::{for_all_pairs, i_type, r_type, s_type, word};
use super::image::Image;

/// Numbers in double precision of which operations raise no flag, or the inexact one, or
/// that lie around the limits of integers and halfway between two.
const USUAL: [f64; 30] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -7.0,
    0.1,
    -0.3,
    1e10,
    -1e10,
    123_456_789.75,
    2_147_483_646.5,
    2_147_483_647.5,
    -2_147_483_648.5,
    -2_147_483_649.0,
    4_294_967_294.5,
    4_294_967_295.5,
    2_251_799_813_685_247.5,
    2_251_799_813_685_248.0,
    4_503_599_627_370_497.0,
    9_223_372_036_854_774_784.0,
    9_223_372_036_854_775_808.0,
    -9_223_372_036_854_775_808.0,
    18_446_744_073_709_549_568.0,
    3.402_823_6e38,
    1e-40,
    f64::NAN,
];

/// Returns a program that applies operations to all pairs of usual numbers, with the
/// inexact flag down and up, and stores for each pair a digest of results and flags.
pub fn program() -> Image {
    let doubles = USUAL.map(f64::to_bits);
    let singles = USUAL.map(|number| (number as f32).to_bits().into());
    for_all_pairs(&doubles, &singles, |code, double| {
        // x5 has the bits of the first number, x20 the digest.
        word(code, i_type(0x03, 3, 5, 11, 0));
        word(code, i_type(0x13, 0, 20, 0, 1));
        for flags in [0, 1] {
            for (operation, to_integer) in operations(double) {
                // csrrwi zero, fflags; the operation; its result and flags.
                word(code, 0x0010_5073 | flags << 15);
                word(code, operation);
                if !to_integer {
                    // fmv.x.d x6, f3
                    word(code, r_type(0x53, 0, 0x71, 6, 3, 0));
                }
                word(code, 0x0010_2073 | 7 << 7);
                // x20 = (x20 ^ x6) * 33 + x7, turned a little.
                word(code, r_type(0x33, 4, 0, 20, 20, 6));
                word(code, i_type(0x13, 1, 8, 20, 5));
                word(code, r_type(0x33, 0, 0, 20, 20, 8));
                word(code, r_type(0x33, 0, 0, 20, 20, 7));
                word(code, i_type(0x13, 5, 8, 20, 29));
                word(code, r_type(0x33, 4, 0, 20, 20, 8));
            }
        }
        word(code, s_type(0x23, 3, 14, 20, 0));
        word(code, i_type(0x13, 0, 14, 14, 8));
    })
}

/// Returns operations on `f1`, `f2` and `x5` in one format, and whether the result goes
/// to `x6` instead of `f3`.
fn operations(double: u32) -> Vec<(u32, bool)> {
    let float =
        |funct7: u32, mode: u32, rs2: u32| (r_type(0x53, mode, funct7 | double, 3, 1, rs2), false);
    let integer =
        |funct7: u32, mode: u32, rs2: u32| (r_type(0x53, mode, funct7 | double, 6, 1, rs2), true);
    let mut all = Vec::new();
    for mode in [0, 7] {
        all.extend([0, 4, 8, 0xc].map(|funct7| float(funct7, mode, 2)));
        all.push(float(0x2c, mode, 0));
        let other = r_type(0x53, mode, 0x20 | (1 - double), 3, 1, double);
        all.push((other, false));
        // f1 * f2 + f1 and its kind.
        all.extend([0x43, 0x47, 0x4b, 0x4f].map(|opcode| {
            let registers = 1 << 27 | 2 << 20 | 1 << 15 | 3 << 7;
            (registers | double << 25 | mode << 12 | opcode, false)
        }));
    }
    for kind in 0..4 {
        all.extend([0, 1, 2, 7].map(|mode| integer(0x60, mode, kind)));
        let from = [0, 1, 7].map(|mode| r_type(0x53, mode, 0x68 | double, 3, 5, kind));
        all.extend(from.map(|operation| (operation, false)));
    }
    all.extend([0, 1, 2].map(|sign| float(0x10, sign, 2)));
    all.extend([0, 1].map(|greater| float(0x14, greater, 2)));
    all.extend([0, 1, 2].map(|how| integer(0x50, how, 2)));
    all.extend([integer(0x70, 0, 0), integer(0x70, 1, 0)]);
    let bits = r_type(0x53, 0, 0x78 | double, 3, 5, 0);
    all.push((bits, false));
    all
}
