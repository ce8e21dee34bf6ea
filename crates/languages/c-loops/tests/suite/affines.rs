//! Sums of loop variables.

use autocomp_c_loops::affine::Affine;

fn sample() -> Affine {
    let i = Affine::variable("i");
    let j = Affine::variable("j");
    i.times(64)
        .and_then(|e| e.plus(&j.remainder_by(2)?.times(4096)?))
        .and_then(|e| e.plus_constant(8192))
        .expect("small numbers")
}

#[test]
fn prints_readable_c() {
    assert_eq!(sample().to_c(), "8192 + 64 * i + 4096 * (j % 2)");
    assert_eq!(
        Affine::variable("i").times(-1).map(|e| e.to_c()),
        Some("-i".to_owned())
    );
}

#[test]
fn substitution_folds_constants() {
    let value = sample()
        .substitute("j", &Affine::constant(3))
        .map(|e| e.to_c());
    assert_eq!(value, Some("12288 + 64 * i".to_owned()));
    let next = Affine::variable("j").plus_constant(1).expect("small");
    let text = sample().substitute("j", &next).map(|e| e.to_c());
    assert_eq!(
        text,
        Some("8192 + 64 * i + 4096 * ((1 + j) % 2)".to_owned())
    );
}
