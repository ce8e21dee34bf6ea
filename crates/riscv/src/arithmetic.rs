//! Integer multiplication, division and atomics.

/// Returns the upper half of the signed product.
pub(crate) fn mulh(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
}

/// Returns the upper half of the product of a signed and an unsigned number.
pub(crate) fn mulhsu(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b)) >> 64) as u64
}

/// Returns the upper half of the unsigned product.
pub(crate) fn mulhu(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// Divides signed; division by zero gives all ones.
pub(crate) fn div(a: u64, b: u64) -> u64 {
    if b == 0 {
        u64::MAX
    } else {
        (a as i64).wrapping_div(b as i64) as u64
    }
}

/// Divides unsigned; division by zero gives all ones.
pub(crate) fn divu(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}

/// Returns the signed remainder; by zero it is the dividend.
pub(crate) fn rem(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        (a as i64).wrapping_rem(b as i64) as u64
    }
}

/// Returns the unsigned remainder; by zero it is the dividend.
pub(crate) fn remu(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

/// Divides the low 32 bits signed.
pub(crate) fn divw(a: u64, b: u64) -> u64 {
    let (a, b) = (a as i32, b as i32);
    if b == 0 {
        u64::MAX
    } else {
        word(a.wrapping_div(b) as u32)
    }
}

/// Divides the low 32 bits unsigned.
pub(crate) fn divuw(a: u64, b: u64) -> u64 {
    (a as u32).checked_div(b as u32).map_or(u64::MAX, word)
}

/// Returns the signed remainder of the low 32 bits.
pub(crate) fn remw(a: u64, b: u64) -> u64 {
    let (a, b) = (a as i32, b as i32);
    if b == 0 {
        word(a as u32)
    } else {
        word(a.wrapping_rem(b) as u32)
    }
}

/// Returns the unsigned remainder of the low 32 bits.
pub(crate) fn remuw(a: u64, b: u64) -> u64 {
    word((a as u32).checked_rem(b as u32).unwrap_or(a as u32))
}

/// Sign-extends 32 bits.
#[inline(always)]
pub(crate) fn word(value: u32) -> u64 {
    i64::from(value as i32) as u64
}

/// Returns all ones for each byte that holds a one, zeros for the others.
pub(crate) fn or_within_bytes(a: u64) -> u64 {
    let bytes = a.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xff });
    u64::from_le_bytes(bytes)
}

/// Returns what an atomic with this funct5 stores over `old`. Both values are
/// sign-extended from the access width, so one comparison serves both widths.
pub(crate) fn atomic(funct5: u16, old: u64, operand: u64) -> u64 {
    match funct5 {
        0 => old.wrapping_add(operand),
        1 => operand,
        4 => old ^ operand,
        8 => old | operand,
        12 => old & operand,
        16 => (old as i64).min(operand as i64) as u64,
        20 => (old as i64).max(operand as i64) as u64,
        24 => old.min(operand),
        _ => old.max(operand),
    }
}

/// Returns the iterations of a multiplier that takes `bits` of the first
/// operand per cycle and stops early when the rest of it is zero;
/// `significant` is the number of bits of that operand up to its highest one.
///
/// *Source*: Rocket Chip, `MulDiv` with early out; latencies measured on RTL.
pub(crate) fn multiply_iterations(significant: u64, half: bool, bits: u64) -> u64 {
    let bits = bits.max(1);
    let full = if half { 32 } else { 64 } / bits;
    // The check for zero takes a step of its own and is not made in the first.
    let least = if half { 0 } else { 1 };
    (significant.div_ceil(bits).max(least) + 1).min(full)
}

/// Returns the iterations of a divider that makes one quotient bit per cycle
/// and skips leading zeros.
///
/// *Source*: as [`multiply_iterations`].
pub(crate) fn divide_iterations(a: u64, b: u64, signed: bool, half: bool) -> u32 {
    let extend = |value: u64| match (half, signed) {
        (false, _) => value,
        (true, true) => word(value as u32),
        (true, false) => u64::from(value as u32),
    };
    let (a, b) = (extend(a), extend(b));
    let negative = |value: u64| signed && (value as i64) < 0;
    let magnitude = |value: u64| {
        if negative(value) {
            value.wrapping_neg()
        } else {
            value
        }
    };
    let (dividend, divisor) = (magnitude(a), magnitude(b));
    let top = |value: u64| 63 - u64::from(value.max(1).leading_zeros());
    // Leading quotient bits known to be zero are skipped. The hardware computes
    // their number in six bits, so a dividend shorter than the divisor wraps
    // around and takes nearly all steps.
    let skipped = if divisor == 0 {
        0
    } else {
        63u64.wrapping_sub(top(dividend).wrapping_sub(top(divisor))) & 63
    };
    let steps = if skipped == 0 {
        65
    } else {
        1 + 64 - skipped + 1
    };
    let negate_inputs = u64::from(negative(a) || negative(b));
    let negate_output = u64::from(negative(a) != negative(b));
    (steps + negate_inputs + negate_output) as u32
}
