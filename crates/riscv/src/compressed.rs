//! Expansion of 16-bit instructions (RV64C) to their 32-bit form.

/// Returns the 32-bit instruction that `bits` abbreviates, `None` if it is
/// reserved or illegal.
///
/// *Source*: RISC-V unprivileged specification, chapter "C".
#[must_use]
pub fn expand(bits: u16) -> Option<u32> {
    let c = u32::from(bits);
    let field = |high: u32, low: u32| (c >> low) & ((1 << (high - low + 1)) - 1);
    let short_high = 8 + field(9, 7);
    let short_low = 8 + field(4, 2);
    let rd = field(11, 7);
    let rs2 = field(6, 2);
    let imm6 = sign(field(12, 12) << 5 | field(6, 2), 6);
    let shamt = field(12, 12) << 5 | field(6, 2);
    Some(match (field(1, 0), field(15, 13)) {
        (0, 0) => {
            let imm = field(10, 7) << 6 | field(12, 11) << 4 | field(5, 5) << 3 | field(6, 6) << 2;
            if imm == 0 {
                return None;
            }
            i_type(0x13, 0, short_low, 2, imm)
        }
        (0, 1) => i_type(0x07, 3, short_low, short_high, doubleword_offset(c)),
        (0, 2) => i_type(0x03, 2, short_low, short_high, word_offset(c)),
        (0, 3) => i_type(0x03, 3, short_low, short_high, doubleword_offset(c)),
        (0, 5) => s_type(0x27, 3, short_high, short_low, doubleword_offset(c)),
        (0, 6) => s_type(0x23, 2, short_high, short_low, word_offset(c)),
        (0, 7) => s_type(0x23, 3, short_high, short_low, doubleword_offset(c)),
        (1, 0) => i_type(0x13, 0, rd, rd, imm6),
        (1, 1) => {
            if rd == 0 {
                return None;
            }
            i_type(0x1b, 0, rd, rd, imm6)
        }
        (1, 2) => i_type(0x13, 0, rd, 0, imm6),
        (1, 3) if rd == 2 => {
            let imm = sign(
                field(12, 12) << 9
                    | field(4, 3) << 7
                    | field(5, 5) << 6
                    | field(2, 2) << 5
                    | field(6, 6) << 4,
                10,
            );
            if imm == 0 {
                return None;
            }
            i_type(0x13, 0, 2, 2, imm)
        }
        (1, 3) => {
            if imm6 == 0 {
                return None;
            }
            imm6 << 12 | rd << 7 | 0x37
        }
        (1, 4) => match (field(11, 10), field(12, 12), field(6, 5)) {
            (0, _, _) => i_type(0x13, 5, short_high, short_high, shamt),
            (1, _, _) => i_type(0x13, 5, short_high, short_high, shamt | 0x400),
            (2, _, _) => i_type(0x13, 7, short_high, short_high, imm6),
            (_, 0, 0) => r_type(0x33, 0, 0x20, short_high, short_high, short_low),
            (_, 0, 1) => r_type(0x33, 4, 0, short_high, short_high, short_low),
            (_, 0, 2) => r_type(0x33, 6, 0, short_high, short_high, short_low),
            (_, 0, 3) => r_type(0x33, 7, 0, short_high, short_high, short_low),
            (_, 1, 0) => r_type(0x3b, 0, 0x20, short_high, short_high, short_low),
            (_, 1, 1) => r_type(0x3b, 0, 0, short_high, short_high, short_low),
            _ => return None,
        },
        (1, 5) => {
            let imm = sign(
                field(12, 12) << 11
                    | field(8, 8) << 10
                    | field(10, 9) << 8
                    | field(6, 6) << 7
                    | field(7, 7) << 6
                    | field(2, 2) << 5
                    | field(11, 11) << 4
                    | field(5, 3) << 1,
                12,
            );
            j_type(0, imm)
        }
        (1, funct) => {
            let imm = sign(
                field(12, 12) << 8
                    | field(6, 5) << 6
                    | field(2, 2) << 5
                    | field(11, 10) << 3
                    | field(4, 3) << 1,
                9,
            );
            b_type(funct - 6, short_high, 0, imm)
        }
        (2, 0) => i_type(0x13, 1, rd, rd, shamt),
        (2, 1) => i_type(0x07, 3, rd, 2, doubleword_stack_offset(c)),
        (2, 2) => {
            if rd == 0 {
                return None;
            }
            i_type(
                0x03,
                2,
                rd,
                2,
                field(3, 2) << 6 | field(12, 12) << 5 | field(6, 4) << 2,
            )
        }
        (2, 3) => {
            if rd == 0 {
                return None;
            }
            i_type(0x03, 3, rd, 2, doubleword_stack_offset(c))
        }
        (2, 4) => match (field(12, 12), rd, rs2) {
            (0, 0, 0) => return None,
            (0, _, 0) => i_type(0x67, 0, 0, rd, 0),
            (0, _, _) => r_type(0x33, 0, 0, rd, 0, rs2),
            (_, 0, 0) => 0x0010_0073,
            (_, _, 0) => i_type(0x67, 0, 1, rd, 0),
            _ => r_type(0x33, 0, 0, rd, rd, rs2),
        },
        (2, 5) => s_type(0x27, 3, 2, rs2, field(9, 7) << 6 | field(12, 10) << 3),
        (2, 6) => s_type(0x23, 2, 2, rs2, field(8, 7) << 6 | field(12, 9) << 2),
        (2, 7) => s_type(0x23, 3, 2, rs2, field(9, 7) << 6 | field(12, 10) << 3),
        _ => return None,
    })
}

fn sign(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

fn word_offset(c: u32) -> u32 {
    (c >> 5 & 1) << 6 | (c >> 10 & 7) << 3 | (c >> 6 & 1) << 2
}

fn doubleword_offset(c: u32) -> u32 {
    (c >> 5 & 3) << 6 | (c >> 10 & 7) << 3
}

fn doubleword_stack_offset(c: u32) -> u32 {
    (c >> 2 & 7) << 6 | (c >> 12 & 1) << 5 | (c >> 5 & 3) << 3
}

fn i_type(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: u32) -> u32 {
    (imm & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn s_type(opcode: u32, funct3: u32, rs1: u32, rs2: u32, imm: u32) -> u32 {
    (imm >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 31) << 7 | opcode
}

fn r_type(opcode: u32, funct3: u32, funct7: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
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
