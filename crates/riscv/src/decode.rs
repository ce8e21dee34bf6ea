//! From instruction bits to predecoded [`Instruction`]s.

use crate::compressed::expand;
use crate::float::{FloatForm, FusedForm};
use crate::instruction::{DISCARD, Decoded, FLOAT_UNIT, Instruction, Operation};

/// Decodes the instruction whose first bytes are the low bytes of `bits`,
/// located at address `pc`. If it is a 16-bit one, the upper half is ignored.
///
/// Bits that are no RV64GC, Zba, Zbb, Zbs, Zfh or V instruction become [`Operation::Illegal`].
///
/// *Source*: RISC-V unprivileged specification, instruction listings.
#[must_use]
pub fn decode(bits: u32, pc: u64) -> Decoded {
    if bits & 3 == 3 {
        let instruction = decode_word(bits, pc).unwrap_or_else(|| illegal(bits));
        return Decoded {
            instruction,
            length: 4,
        };
    }
    let instruction = expand(bits as u16)
        .and_then(|word| decode_word(word, pc))
        .unwrap_or_else(|| illegal(bits & 0xffff));
    Decoded {
        instruction,
        length: 2,
    }
}

pub(crate) fn illegal(bits: u32) -> Instruction {
    Instruction {
        operation: Operation::Illegal,
        rd: DISCARD,
        rs1: 0,
        rs2: 0,
        offset: 0,
        extra: 0,
        immediate: i64::from(bits),
        uses: 0,
    }
}

/// Which registers an encoding names, and in which file.
#[derive(Clone, Copy)]
struct Operands {
    rd: Option<u8>,
    rs1: Option<u8>,
    rs2: Option<u8>,
    float_mask: u8,
}

fn decode_word(bits: u32, pc: u64) -> Option<Instruction> {
    use Operation as O;
    let field = |high: u32, low: u32| (bits >> low) & ((1 << (high - low + 1)) - 1);
    let (rd, rs1, rs2) = (field(11, 7) as u8, field(19, 15) as u8, field(24, 20) as u8);
    let (funct3, funct7) = (field(14, 12), field(31, 25));
    let imm_i = i64::from(bits as i32 >> 20);
    let imm_s = i64::from((bits & 0xfe00_0000) as i32 >> 20 | field(11, 7) as i32);
    let imm_b = i64::from(
        (bits & 0x8000_0000) as i32 >> 19
            | (field(7, 7) << 11 | field(30, 25) << 5 | field(11, 8) << 1) as i32,
    );
    let imm_u = i64::from((bits & 0xffff_f000) as i32);
    let imm_j = i64::from(
        (bits & 0x8000_0000) as i32 >> 11
            | (field(19, 12) << 12 | field(20, 20) << 11 | field(30, 21) << 1) as i32,
    );
    let at = |offset: i64| (pc as i64).wrapping_add(offset);
    let with = |operation, rd, rs1, rs2, immediate| {
        build(
            operation,
            Operands {
                rd,
                rs1,
                rs2,
                float_mask: 0,
            },
            0,
            immediate,
        )
    };
    Some(match field(6, 0) {
        0x37 => with(O::Constant, Some(rd), None, None, imm_u),
        0x17 => with(O::Constant, Some(rd), None, None, at(imm_u)),
        0x6f => with(O::Jal, Some(rd), None, None, at(imm_j)),
        0x67 if funct3 == 0 => with(O::Jalr, Some(rd), Some(rs1), None, imm_i),
        0x63 => {
            let operation = match funct3 {
                0 => O::Beq,
                1 => O::Bne,
                4 => O::Blt,
                5 => O::Bge,
                6 => O::Bltu,
                7 => O::Bgeu,
                _ => return None,
            };
            with(operation, None, Some(rs1), Some(rs2), at(imm_b))
        }
        0x03 => {
            let loads = [O::Lb, O::Lh, O::Lw, O::Ld, O::Lbu, O::Lhu, O::Lwu];
            with(
                *loads.get(funct3 as usize)?,
                Some(rd),
                Some(rs1),
                None,
                imm_i,
            )
        }
        0x23 => {
            let stores = [O::Sb, O::Sh, O::Sw, O::Sd];
            with(
                *stores.get(funct3 as usize)?,
                None,
                Some(rs1),
                Some(rs2),
                imm_s,
            )
        }
        0x13 => {
            let shamt = i64::from(field(25, 20));
            let (operation, immediate) = match (funct3, field(31, 26)) {
                (0, _) => (O::Addi, imm_i),
                (2, _) => (O::Slti, imm_i),
                (3, _) => (O::Sltiu, imm_i),
                (4, _) => (O::Xori, imm_i),
                (6, _) => (O::Ori, imm_i),
                (7, _) => (O::Andi, imm_i),
                (1, 0) => (O::Slli, shamt),
                (5, 0) => (O::Srli, shamt),
                (5, 0x10) => (O::Srai, shamt),
                (1, 0x18) => match rs2 {
                    _ if funct7 & 1 == 1 => return None,
                    0 => (O::Clz, 0),
                    1 => (O::Ctz, 0),
                    2 => (O::Cpop, 0),
                    4 => (O::SextB, 0),
                    5 => (O::SextH, 0),
                    _ => return None,
                },
                (1, 0x12) => (O::Bclr, shamt),
                (1, 0x1a) => (O::Binv, shamt),
                (1, 0x0a) => (O::Bset, shamt),
                (5, 0x12) => (O::Bext, shamt),
                (5, 0x18) => (O::Ror, shamt),
                (5, 0x0a) if shamt == 7 => (O::OrcB, 0),
                (5, 0x1a) if shamt == 0x38 => (O::Rev8, 0),
                _ => return None,
            };
            with(operation, Some(rd), Some(rs1), None, immediate)
        }
        0x1b => {
            let (operation, immediate) = match (funct3, funct7) {
                (0, _) => (O::Addiw, imm_i),
                (1, 0) => (O::Slliw, i64::from(rs2)),
                (5, 0) => (O::Srliw, i64::from(rs2)),
                (5, 0x20) => (O::Sraiw, i64::from(rs2)),
                (1, 4 | 5) => (O::SlliUw, i64::from(field(25, 20))),
                (1, 0x30) => match rs2 {
                    0 => (O::Clzw, 0),
                    1 => (O::Ctzw, 0),
                    2 => (O::Cpopw, 0),
                    _ => return None,
                },
                (5, 0x30) => (O::Rorw, i64::from(rs2)),
                _ => return None,
            };
            with(operation, Some(rd), Some(rs1), None, immediate)
        }
        0x33 => {
            let operation = match (funct7, funct3) {
                (0, 0) => O::Add,
                (0x20, 0) => O::Sub,
                (0, 1) => O::Sll,
                (0, 2) => O::Slt,
                (0, 3) => O::Sltu,
                (0, 4) => O::Xor,
                (0, 5) => O::Srl,
                (0x20, 5) => O::Sra,
                (0, 6) => O::Or,
                (0, 7) => O::And,
                (1, 0) => O::Mul,
                (1, 1) => O::Mulh,
                (1, 2) => O::Mulhsu,
                (1, 3) => O::Mulhu,
                (1, 4) => O::Div,
                (1, 5) => O::Divu,
                (1, 6) => O::Rem,
                (1, 7) => O::Remu,
                (0x10, 2) => O::Sh1add,
                (0x10, 4) => O::Sh2add,
                (0x10, 6) => O::Sh3add,
                (0x20, 4) => O::Xnor,
                (0x20, 6) => O::Orn,
                (0x20, 7) => O::Andn,
                (5, 4) => O::Min,
                (5, 5) => O::Minu,
                (5, 6) => O::Max,
                (5, 7) => O::Maxu,
                (0x30, 1) => O::Rol,
                (0x30, 5) => O::Ror,
                (0x24, 1) => O::Bclr,
                (0x24, 5) => O::Bext,
                (0x34, 1) => O::Binv,
                (0x14, 1) => O::Bset,
                _ => return None,
            };
            with(operation, Some(rd), Some(rs1), Some(rs2), 0)
        }
        0x3b => {
            let operation = match (funct7, funct3) {
                (0, 0) => O::Addw,
                (0x20, 0) => O::Subw,
                (0, 1) => O::Sllw,
                (0, 5) => O::Srlw,
                (0x20, 5) => O::Sraw,
                (1, 0) => O::Mulw,
                (1, 4) => O::Divw,
                (1, 5) => O::Divuw,
                (1, 6) => O::Remw,
                (1, 7) => O::Remuw,
                (4, 0) => O::AddUw,
                (4, 4) if rs2 == 0 => O::ZextH,
                (0x10, 2) => O::Sh1addUw,
                (0x10, 4) => O::Sh2addUw,
                (0x10, 6) => O::Sh3addUw,
                (0x30, 1) => O::Rolw,
                (0x30, 5) => O::Rorw,
                _ => return None,
            };
            with(operation, Some(rd), Some(rs1), Some(rs2), 0)
        }
        0x0f => match funct3 {
            0 => with(O::Fence, None, None, None, 0),
            1 => with(O::FenceI, None, None, None, 0),
            _ => return None,
        },
        0x73 => match (funct3, bits) {
            (0, 0x0000_0073) => with(O::Ecall, None, None, None, 0),
            (0, 0x0010_0073) => with(O::Ebreak, None, None, None, 0),
            (0, 0x3020_0073) => with(O::Mret, None, None, None, 0),
            (0, 0x1050_0073) => with(O::Wfi, None, None, None, 0),
            (1..=3 | 5..=7, _) => {
                let source = (funct3 < 4).then_some(rs1);
                let operands = Operands {
                    rd: Some(rd),
                    rs1: source,
                    rs2: None,
                    float_mask: 0,
                };
                let mut instruction =
                    build(O::Csr, operands, funct3 as u16, i64::from(field(31, 20)));
                instruction.rs1 = rs1;
                // The destination x0 matters: it suppresses the read.
                instruction.rs2 = rd;
                instruction
            }
            _ => return None,
        },
        0x2f => {
            let funct5 = field(31, 27);
            let double = match funct3 {
                2 => false,
                3 => true,
                _ => return None,
            };
            let operation = match funct5 {
                2 if rs2 == 0 => [O::LrW, O::LrD][usize::from(double)],
                3 => [O::ScW, O::ScD][usize::from(double)],
                0 | 1 | 4 | 8 | 12 | 16 | 20 | 24 | 28 => [O::AmoW, O::AmoD][usize::from(double)],
                _ => return None,
            };
            let operands = Operands {
                rd: Some(rd),
                rs1: Some(rs1),
                rs2: Some(rs2),
                float_mask: 0,
            };
            build(operation, operands, funct5 as u16, 0)
        }
        0x0b | 0x2b | 0x5b | 0x7b => {
            let flag = |bit: u32| field(bit, bit) == 1;
            let operands = Operands {
                rd: flag(14).then_some(rd),
                rs1: flag(13).then_some(rs1),
                rs2: flag(12).then_some(rs2),
                float_mask: 0,
            };
            let extra = field(6, 5) | field(14, 12) << 2;
            build(O::Custom, operands, extra as u16, i64::from(funct7))
        }
        0x57 => vector(bits),
        0x07 | 0x27 if matches!(funct3, 0 | 5..=7) => vector(bits),
        0x07 | 0x27 => {
            let load = field(5, 5) == 0;
            let operation = match (load, funct3) {
                (true, 1) => O::Flh,
                (false, 1) => O::Fsh,
                (true, 2) => O::Flw,
                (true, 3) => O::Fld,
                (false, 2) => O::Fsw,
                (false, 3) => O::Fsd,
                _ => return None,
            };
            if load {
                let operands = Operands {
                    rd: Some(rd),
                    rs1: Some(rs1),
                    rs2: None,
                    float_mask: 1,
                };
                build(operation, operands, 0, imm_i)
            } else {
                let operands = Operands {
                    rd: None,
                    rs1: Some(rs1),
                    rs2: Some(rs2),
                    float_mask: 4,
                };
                build(operation, operands, 0, imm_s)
            }
        }
        0x43 | 0x47 | 0x4b | 0x4f => {
            let is_half = field(26, 25) == 2;
            let format = if is_half { 0 } else { field(26, 25) };
            let form = FusedForm::decode(field(3, 2), format, funct3)?;
            let operation = if is_half { O::HalfFused } else { O::Fused };
            let rs3 = field(31, 27);
            let operands = Operands {
                rd: Some(rd),
                rs1: Some(rs1),
                rs2: Some(rs2),
                float_mask: 7,
            };
            let mut instruction = build(operation, operands, form.pack(), i64::from(rs3));
            instruction.uses |= 1 << (32 + rs3);
            instruction
        }
        0x53 => {
            let half = FloatForm::decode_half(funct7, u32::from(rs2), funct3);
            let operation = if half.is_some() { O::Half } else { O::Float };
            let form = match half {
                Some(form) => form,
                None => FloatForm::decode(funct7, u32::from(rs2), funct3)?,
            };
            let operands = Operands {
                rd: Some(rd),
                rs1: Some(rs1),
                rs2: form.reads_second().then_some(rs2),
                float_mask: u8::from(form.writes_float())
                    | u8::from(form.reads_float()) << 1
                    | u8::from(form.reads_float()) << 2,
            };
            build(operation, operands, form.pack(), 0)
        }
        _ => return None,
    })
}

/// Takes an instruction on vectors as it is; the scalar registers that it may name are told,
/// since what they hold has to be waited for.
fn vector(bits: u32) -> Instruction {
    let field = |low: u32| (bits >> low) as u8 & 31;
    let is_access = bits & 0x7f != 0x57;
    let funct3 = if is_access { 8 } else { bits >> 12 & 7 };
    let is_strided = is_access && bits >> 26 & 3 == 2;
    let takes_x = matches!(funct3, 4 | 6..=8);
    // `vset*`, and what moves the first element or a count to a scalar register.
    let gives_scalar = funct3 == 7 || matches!(funct3, 1 | 2) && bits >> 26 == 0x10;
    let operands = Operands {
        rd: gives_scalar.then(|| field(7)),
        rs1: (takes_x || funct3 == 5).then(|| field(15)),
        rs2: (is_strided || funct3 == 7).then(|| field(20)),
        float_mask: u8::from(gives_scalar && funct3 == 1) | u8::from(funct3 == 5) << 1,
    };
    build(Operation::Vector, operands, 0, i64::from(bits))
}

/// `float_mask`: bit 0 rd, bit 1 rs1, bit 2 rs2 are floating-point registers.
fn build(operation: Operation, operands: Operands, extra: u16, immediate: i64) -> Instruction {
    let mut uses = if operands.float_mask != 0 {
        FLOAT_UNIT
    } else {
        0
    };
    for (position, register) in [operands.rd, operands.rs1, operands.rs2]
        .into_iter()
        .enumerate()
    {
        if let Some(register) = register {
            uses |= if operands.float_mask >> position & 1 == 1 {
                1 << (32 + register)
            } else {
                // Register x0 is never waited for.
                (1u64 << register) & !1
            };
        }
    }
    let rd = match operands.rd {
        Some(register) if operands.float_mask & 1 == 1 => register,
        Some(0) | None => DISCARD,
        Some(register) => register,
    };
    Instruction {
        operation,
        rd,
        rs1: operands.rs1.unwrap_or(0),
        rs2: operands.rs2.unwrap_or(0),
        offset: 0,
        extra,
        immediate,
        uses,
    }
}
