//! Kernels whose work depends on the values of an input set.

use crate::parameters::{evaluated, kernel, open};
use autocomp_core::Outcome;

/// A problem that copies 4 by 8 numbers, with the sets of these names, each of numbers from one on
/// that are below the next whole number.
fn copying(sets: &[(&str, f64)]) -> String {
    let mut text = "target = \"trainium-trn2\"
description = \"a test\"
entry = \"solution\"
signature = \"void solution(float x[4][8], float y[4][8])\"
tolerance = { kind = \"exact\" }
work = { macs = 0, bytes = 256 }
[[buffer]]
name = \"x\"
dtype = \"float32\"
shape = [4, 8]
role = \"input\"
[[buffer]]
name = \"y\"
dtype = \"float32\"
shape = [4, 8]
role = \"output\"
"
    .to_owned();
    for (at, (name, low)) in sets.iter().enumerate() {
        let (fresh, high) = (at + 1 == sets.len(), low + 0.5);
        text += &format!(
            "[[input_set]]\nname = \"{name}\"\nfresh = {fresh}\nfill.x = {{ kind = \"real\", low = {low:.1}, high = {high} }}\n"
        );
    }
    text
}

const REFERENCE: &str = "void solution(float x[4][8], float y[4][8]) { for (int i = 0; i < 32; i++) y[0][i] = x[0][i]; }";

/// Copies the input as often as its first number says, or `TIMES`.
const BODY: &str = "y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
u = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
nisa.dma_copy(dst=t, src=x)
def body(i):
    nisa.tensor_copy(dst=u, src=t)
nl.fori_loop(0, TIMES, body)
nisa.dma_copy(dst=y, src=u)
return y";

#[test]
fn the_slowest_input_set_counts() {
    let (few, many, some) = (("few", 2.0), ("many", 60.0), ("some", 9.0));
    let cost = |sets: &[(&str, f64)], times: &str| {
        let bench = open(&copying(sets), REFERENCE).unwrap();
        let source = kernel("x", &BODY.replace("TIMES", times));
        let evaluation = evaluated(&*bench, &source);
        let found = &evaluation.diagnostics;
        assert_eq!(evaluation.outcome, Outcome::Ok, "{found:?}");
        let told = evaluation.feedback.as_ref().map(|it| it.bottleneck.clone());
        (evaluation.cost().unwrap().value, told.unwrap_or_default())
    };
    let by_data = "nisa.register_alloc(t[0:1, 0:1])";
    let (slow, _) = cost(&[many], by_data);
    let (fast, _) = cost(&[few], by_data);
    assert!(fast < slow, "{fast} {slow}");
    // Wherever it stands, made anew for each kernel or not.
    for sets in [[many, few, some], [few, many, some], [few, some, many]] {
        let (found, told) = cost(&sets, by_data);
        assert_eq!(found, slow, "{sets:?}");
        assert!(told.contains("the input set many, the slowest"), "{told}");
    }
    // Where shapes decide, all sets take the same, and none is named.
    let (plain, told) = cost(&[few, many, some], "9");
    assert_eq!(plain, cost(&[many], "9").0);
    assert!(!told.contains("input set"), "{told}");
}
