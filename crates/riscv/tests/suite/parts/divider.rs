//! Cycles of divisions and square roots.

use autocomp_riscv::inside::{FloatForm, FloatOperation, divider_cycles, plain_divider_cycles};

#[test]
fn cycles_follow_from_the_operands() {
    let form = |operation, double| FloatForm {
        operation,
        double,
        rounding: 0,
        integer: 0,
    };
    let single = |a: f32, b: f32| {
        let boxed = |x: f32| u64::from(x.to_bits()) | !0 << 32;
        let divide = form(FloatOperation::Divide, false);
        let root = form(FloatOperation::SquareRoot, false);
        let are_normal = a.is_normal() && b.is_normal();
        let [a, b] = [a, b].map(boxed);
        let cycles = [divide, root].map(|form| divider_cycles(form, a, b));
        let plain = [divide, root].map(|form| plain_divider_cycles(form, a, b));
        assert_eq!(plain[0], are_normal.then_some(cycles[0]));
        assert!(plain[1].is_none_or(|plain| plain == cycles[1]));
        cycles
    };
    assert_eq!(single(1.0, 3.0), [26, 25]);
    assert_eq!(single(3.0, 1.0), [25, 24]);
    assert_eq!(single(f32::MIN_POSITIVE / 2.0, 1.0), [25, 24]);
    assert_eq!(single(-3.0, 3.0), [25, 1]);
    assert_eq!(single(0.0, 3.0), [1, 1]);
    assert_eq!(single(3.0, f32::INFINITY), [1, 24]);
    assert_eq!(single(f32::NAN, 1.0), [1, 1]);
    let double = form(FloatOperation::Divide, true);
    let [one, three] = [1.0f64, 3.0].map(f64::to_bits);
    assert_eq!(divider_cycles(double, one, three), 55);
    // No single-precision value is in this register.
    assert_eq!(
        divider_cycles(form(FloatOperation::Divide, false), one, three),
        1
    );
}
