//! Conditions as text.

use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::condition::{Condition, Relation};

#[test]
fn prints_as_people_write() {
    let next = Affine::variable("i").plus_constant(1 - 32).expect("small");
    assert_eq!(
        Condition::compare(next, Relation::Negative).to_c(),
        "i < 31"
    );
    let rows = Affine::variable("i")
        .times(-16)
        .and_then(|a| a.plus_constant(40));
    let rows = Condition::compare(rows.expect("small"), Relation::NonNegative);
    assert_eq!(rows.to_c(), "i < 3");
    assert_eq!(rows.negate().to_c(), "i >= 3");
    let both = Condition::all([Condition::equals("ko", 0), Condition::equals("k", 0)]);
    assert_eq!(both.to_c(), "ko == 0 && k == 0");
    assert_eq!(both.negate().to_c(), "ko != 0 || k != 0");
}

#[test]
fn substitution_folds() {
    let both = Condition::all([Condition::equals("ko", 0), Condition::equals("k", 0)]);
    let at_one = both.substitute("k", &Affine::constant(1));
    assert_eq!(at_one, Some(Condition::Constant(false)));
    let at_zero = both.substitute("k", &Affine::constant(0));
    assert_eq!(at_zero, Some(Condition::equals("ko", 0)));
}
