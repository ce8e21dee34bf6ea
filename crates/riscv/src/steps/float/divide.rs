//! Floating-point divisions and square roots.

use super::super::begin_dependent;
use super::{boxed, double, single, slow_float};
use crate::float::{
    BOX, FloatForm, FloatOperation, plain_divider_cycles, plain_quotient_double,
    plain_quotient_single, plain_root_double, plain_root_single,
};
use crate::record::{Below, Core, How, Record};

/// What is rounded to nearest even: which operands have to hold numbers of the format,
/// and the result if it is plain, given whether it may be rounded.
macro_rules! divisions {
    ($($name:ident: $operation:ident, $double:literal, |$a:ident, $b:ident| $are_right:expr,
        |$may_round:ident| $plain:expr;)*) => {$(
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            const FORM: FloatForm = FloatForm {
                operation: FloatOperation::$operation,
                double: $double,
                rounding: 0,
                integer: 0,
            };
            let (record, next, now) = begin_dependent!(core, records, now, below);
            let $a = core.f[usize::from(record.rs1)];
            let $b = core.f[usize::from(record.rs2)];
            let $may_round = core.csr.float_plain();
            let are_plain = $are_right && core.csr.float_nearest();
            let cycles = plain_divider_cycles(FORM, $a, $b);
            let (true, Some(bits), Some(cycles)) = (are_plain, $plain, cycles) else {
                return slow_float::<TIMED>(core, records, now, below);
            };
            if TIMED && !core.pipeline.float_divide(now, record.rd & 31, cycles) {
                return crate::steps::refused(core, records, now, below);
            }
            core.f[usize::from(record.rd)] = bits;
            (next.step)(core, &records[1..], now, below)
        }
    )*};
}

divisions! {
    divide_single: Divide, false, |a, b| a & b >= BOX,
        |may_round| plain_quotient_single(single(a), single(b), may_round).map(boxed);
    root_single: SquareRoot, false, |a, b| a >= BOX,
        |may_round| plain_root_single(single(a), may_round).map(boxed);
    divide_double: Divide, true, |a, b| true,
        |may_round| {
            plain_quotient_double(double(a), double(b), may_round).map(f64::to_bits)
        };
    root_double: SquareRoot, true, |a, b| true,
        |may_round| plain_root_double(double(a), may_round).map(f64::to_bits);
}
