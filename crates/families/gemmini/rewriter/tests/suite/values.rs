//! Values that are followed through a kernel.

use autocomp_gemmini_rewriter::inside::{FIELD, Values, in_field, multiply};

#[test]
fn fractions_are_found_in_the_field() {
    assert_eq!(multiply(in_field(0.25), 4), 1);
    assert_eq!(in_field(-1.0), FIELD - 1);
    assert_eq!(in_field(3.0), 3);
}

#[test]
fn sums_in_another_order_are_equal() {
    let mut values = Values::default();
    let [a, b, c] = [0, 1, 2].map(|element| values.given(0, element));
    let ab = values.add(a, b, 1.0).unwrap();
    let left = values.add(ab, c, -1.0).unwrap();
    let ac = values.add(a, c, -1.0).unwrap();
    let right = values.add(ac, b, 1.0).unwrap();
    assert_eq!(left, right);
    let back = values.add(left, c, 1.0).unwrap();
    assert_eq!(back, ab);
}
