//! Widths of elements as constants of compiled loops.

/// Returns the value of an element of `N` bytes with its sign.
#[inline(always)]
pub(super) fn signed<const N: usize>(value: u64) -> i64 {
    (value << (64 - 8 * N)) as i64 >> (64 - 8 * N)
}

/// Returns the value of an element of `N` bytes without bits above.
#[inline(always)]
pub(super) fn unsigned<const N: usize>(value: u64) -> u64 {
    value << (64 - 8 * N) >> (64 - 8 * N)
}

/// Evaluates an expression with the width of the selected elements as the constant `$n`.
macro_rules! by_width {
    ($unit:expr, $n:ident => $body:expr) => {
        match $unit.element_bytes() {
            1 => {
                const $n: usize = 1;
                $body
            }
            2 => {
                const $n: usize = 2;
                $body
            }
            4 => {
                const $n: usize = 4;
                $body
            }
            _ => {
                const $n: usize = 8;
                $body
            }
        }
    };
}

/// The same for elements that have a width twice as large, which is the constant `$w`.
macro_rules! by_widened {
    ($unit:expr, $n:ident, $w:ident => $body:expr) => {
        match $unit.element_bytes() {
            1 => {
                const $n: usize = 1;
                const $w: usize = 2;
                $body
            }
            2 => {
                const $n: usize = 2;
                const $w: usize = 4;
                $body
            }
            _ => {
                const $n: usize = 4;
                const $w: usize = 8;
                $body
            }
        }
    };
}

pub(super) use {by_widened, by_width};
