//! Integer arithmetic, branches and jumps.

use super::begin;
use crate::arithmetic as a;
use crate::record::{Below, Core, How, Record};

/// What an operation of one cycle does.
pub(super) trait Arithmetic {
    /// Returns what it makes of two registers and the immediate number.
    fn of(a: u64, b: u64, immediate: u64) -> u64;

    /// Executes the instruction of `record`; returns what it computes.
    #[inline(always)]
    fn execute(core: &mut Core, record: &Record) -> u64 {
        let a = core.x[usize::from(record.rs1)];
        let b = core.x[usize::from(record.rs2)];
        let result = Self::of(a, b, record.immediate);
        core.x[usize::from(record.rd)] = result;
        result
    }
}

macro_rules! arithmetic {
    ($($name:ident, $operation:ident: |$a:ident, $b:ident, $immediate:ident| $value:expr;)*) => {$(
        pub(super) struct $operation;

        impl Arithmetic for $operation {
            #[inline(always)]
            fn of($a: u64, $b: u64, $immediate: u64) -> u64 {
                $value
            }
        }

        #[inline(always)]
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, next, now) = begin!(core, records, now, below);
            $operation::execute(core, record);
            (next.step)(core, &records[1..], now, below)
        }
    )*};
}

arithmetic! {
    constant, Constant: |_a, _b, immediate| immediate;
    addi, Addi: |a, _b, immediate| a.wrapping_add(immediate);
    slti, Slti: |a, _b, immediate| u64::from((a as i64) < immediate as i64);
    sltiu, Sltiu: |a, _b, immediate| u64::from(a < immediate);
    xori, Xori: |a, _b, immediate| a ^ immediate;
    ori, Ori: |a, _b, immediate| a | immediate;
    andi, Andi: |a, _b, immediate| a & immediate;
    slli, Slli: |a, _b, immediate| a << (immediate & 63);
    srli, Srli: |a, _b, immediate| a >> (immediate & 63);
    srai, Srai: |a, _b, immediate| (a as i64 >> (immediate & 63)) as u64;
    addiw, Addiw: |a, _b, immediate| a::word(a.wrapping_add(immediate) as u32);
    slliw, Slliw: |a, _b, immediate| a::word((a as u32) << (immediate & 31));
    srliw, Srliw: |a, _b, immediate| a::word(a as u32 >> (immediate & 31));
    sraiw, Sraiw: |a, _b, immediate| a::word((a as i32 >> (immediate & 31)) as u32);
    add, Add: |a, b, _immediate| a.wrapping_add(b);
    sub, Sub: |a, b, _immediate| a.wrapping_sub(b);
    sll, Sll: |a, b, _immediate| a << (b & 63);
    slt, Slt: |a, b, _immediate| u64::from((a as i64) < b as i64);
    sltu, Sltu: |a, b, _immediate| u64::from(a < b);
    xor, Xor: |a, b, _immediate| a ^ b;
    srl, Srl: |a, b, _immediate| a >> (b & 63);
    sra, Sra: |a, b, _immediate| (a as i64 >> (b & 63)) as u64;
    or, Or: |a, b, _immediate| a | b;
    and, And: |a, b, _immediate| a & b;
    addw, Addw: |a, b, _immediate| a::word(a.wrapping_add(b) as u32);
    subw, Subw: |a, b, _immediate| a::word(a.wrapping_sub(b) as u32);
    sllw, Sllw: |a, b, _immediate| a::word((a as u32) << (b & 31));
    srlw, Srlw: |a, b, _immediate| a::word(a as u32 >> (b & 31));
    sraw, Sraw: |a, b, _immediate| a::word((a as i32 >> (b & 31)) as u32);
    sh1add, Sh1add: |a, b, _immediate| (a << 1).wrapping_add(b);
    sh2add, Sh2add: |a, b, _immediate| (a << 2).wrapping_add(b);
    sh3add, Sh3add: |a, b, _immediate| (a << 3).wrapping_add(b);
    add_uw, AddUw: |a, b, _immediate| u64::from(a as u32).wrapping_add(b);
    sh1add_uw, Sh1addUw: |a, b, _immediate| (u64::from(a as u32) << 1).wrapping_add(b);
    sh2add_uw, Sh2addUw: |a, b, _immediate| (u64::from(a as u32) << 2).wrapping_add(b);
    sh3add_uw, Sh3addUw: |a, b, _immediate| (u64::from(a as u32) << 3).wrapping_add(b);
    slli_uw, SlliUw: |a, _b, immediate| u64::from(a as u32) << (immediate & 63);
    andn, Andn: |a, b, _immediate| a & !b;
    orn, Orn: |a, b, _immediate| a | !b;
    xnor, Xnor: |a, b, _immediate| !(a ^ b);
    clz, Clz: |a, _b, _immediate| a.leading_zeros().into();
    clzw, Clzw: |a, _b, _immediate| (a as u32).leading_zeros().into();
    ctz, Ctz: |a, _b, _immediate| a.trailing_zeros().into();
    ctzw, Ctzw: |a, _b, _immediate| (a as u32).trailing_zeros().into();
    cpop, Cpop: |a, _b, _immediate| a.count_ones().into();
    cpopw, Cpopw: |a, _b, _immediate| (a as u32).count_ones().into();
    max, Max: |a, b, _immediate| (a as i64).max(b as i64) as u64;
    maxu, Maxu: |a, b, _immediate| a.max(b);
    min, Min: |a, b, _immediate| (a as i64).min(b as i64) as u64;
    minu, Minu: |a, b, _immediate| a.min(b);
    sext_b, SextB: |a, _b, _immediate| i64::from(a as i8) as u64;
    sext_h, SextH: |a, _b, _immediate| i64::from(a as i16) as u64;
    zext_h, ZextH: |a, _b, _immediate| u64::from(a as u16);
    rol, Rol: |a, b, _immediate| a.rotate_left(b as u32 & 63);
    rolw, Rolw: |a, b, _immediate| a::word((a as u32).rotate_left(b as u32 & 31));
    ror, Ror: |a, b, immediate| a.rotate_right((b | immediate) as u32 & 63);
    rorw, Rorw: |a, b, immediate| a::word((a as u32).rotate_right((b | immediate) as u32 & 31));
    orc_b, OrcB: |a, _b, _immediate| a::or_within_bytes(a);
    rev8, Rev8: |a, _b, _immediate| a.swap_bytes();
    bclr, Bclr: |a, b, immediate| a & !(1 << ((b | immediate) & 63));
    bext, Bext: |a, b, immediate| a >> ((b | immediate) & 63) & 1;
    binv, Binv: |a, b, immediate| a ^ 1 << ((b | immediate) & 63);
    bset, Bset: |a, b, immediate| a | 1 << ((b | immediate) & 63);
}

/// What the multiplier and divider do: a value, and the iterations it takes.
macro_rules! long {
    ($($name:ident: |$a:ident, $b:ident| $value:expr, |$core:ident| $iterations:expr;)*) => {$(
        #[inline(always)]
        pub fn $name<const TIMED: bool>(
            $core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, next, mut now) = begin!($core, records, now, below);
            let $a = $core.x[usize::from(record.rs1)];
            let $b = $core.x[usize::from(record.rs2)];
            if TIMED {
                now = $core.pipeline.muldiv(now, record.rd, $iterations);
            }
            $core.x[usize::from(record.rd)] = $value;
            (next.step)($core, &records[1..], now, below)
        }
    )*};
}

long! {
    mul: |a, b| a.wrapping_mul(b), |core| core.pipeline.multiply_iterations(a, false, false);
    mulh: |a, b| a::mulh(a, b), |core| core.pipeline.multiply_iterations(a, true, false);
    mulhsu: |a, b| a::mulhsu(a, b), |core| core.pipeline.multiply_iterations(a, true, false);
    mulhu: |a, b| a::mulhu(a, b), |core| core.pipeline.multiply_iterations(a, true, false);
    mulw: |a, b| a::word(a.wrapping_mul(b) as u32),
        |core| core.pipeline.multiply_iterations(a, false, true);
    div: |a, b| a::div(a, b), |core| a::divide_iterations(a, b, true, false);
    divu: |a, b| a::divu(a, b), |core| a::divide_iterations(a, b, false, false);
    rem: |a, b| a::rem(a, b), |core| a::divide_iterations(a, b, true, false);
    remu: |a, b| a::remu(a, b), |core| a::divide_iterations(a, b, false, false);
    divw: |a, b| a::divw(a, b), |core| a::divide_iterations(a, b, true, true);
    divuw: |a, b| a::divuw(a, b), |core| a::divide_iterations(a, b, false, true);
    remw: |a, b| a::remw(a, b), |core| a::divide_iterations(a, b, true, true);
    remuw: |a, b| a::remuw(a, b), |core| a::divide_iterations(a, b, false, true);
}
