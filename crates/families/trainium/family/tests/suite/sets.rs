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
fn an_output_of_memory_that_nothing_wrote_names_that_memory() {
    let bench = open(&copying(&[("few", 2.0), ("many", 60.0)]), REFERENCE).unwrap();
    let head = "y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
u = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
nisa.dma_copy(dst=t, src=x)
";
    let tail = "nisa.dma_copy(dst=y, src=u)\nreturn y";
    let told = |body: &str| {
        let evaluation = evaluated(&*bench, &kernel("x", &format!("{head}{body}{tail}")));
        assert_eq!(evaluation.outcome, Outcome::Wrong, "{body}");
        let found = evaluation.diagnostics.into_iter().next().unwrap();
        let line = found.location.as_ref().map(|place| place.line);
        (found.code.clone(), line, found.message)
    };
    // Line 8 is the first of the body, line 12 the first behind the head.
    let (code, line, message) = told(
        "nisa.tensor_tensor(dst=t, data1=t, data2=u, op=nl.add)\nnisa.tensor_copy(dst=u, src=t)\n",
    );
    assert_eq!((code.as_str(), line), ("unwritten-memory", Some(12)));
    assert!(
        message.starts_with("32 of the 32 elements read here of the tensor made at line 10"),
        "{message}"
    );
    assert!(
        message.contains("32 of 32 elements of y were computed from such"),
        "{message}"
    );
    // A part of it.
    let (code, line, message) = told("nisa.tensor_copy(dst=u[:, 0:4], src=t[:, 0:4])\n");
    assert_eq!(
        (code.as_str(), line),
        ("unwritten-memory", Some(12 + 1)),
        "{message}"
    );
    assert!(message.starts_with("16 of the 32 elements"), "{message}");
    // What the scalar engine has no function for.
    let (code, line, message) = told(
        "nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=4.0)\nnisa.activation(dst=u, op=nl.sin, data=t)\n",
    );
    assert_eq!((code.as_str(), line), ("activation-range", Some(12 + 1)));
    assert!(message.contains("from -pi to pi only"), "{message}");
    assert!(
        message.contains("elements of y were computed from such"),
        "{message}"
    );
    // The output itself.
    let (code, _, message) = told("nisa.dma_copy(dst=y[0:2, :], src=t[0:2, :])\nreturn y\n");
    assert_eq!(code, "output-not-written", "{message}");
}

/// A product that is added to what no product has written is told once, in full.
#[test]
fn an_accusation_stands_once() {
    let bench = open(&copying(&[("few", 2.0), ("many", 60.0)]), REFERENCE).unwrap();
    let body = "y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
p = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)
nisa.dma_copy(dst=t, src=x)
nisa.nc_matmul(dst=p, stationary=t, moving=t, accumulate=True)
nisa.nc_matmul(dst=p, stationary=t, moving=t, accumulate=True)
nisa.tensor_copy(dst=t, src=p[0:4, :])
nisa.dma_copy(dst=y, src=t)
return y";
    let evaluation = evaluated(&*bench, &kernel("x", body));
    let found = &evaluation.diagnostics[0];
    assert_eq!(found.code, "unset-accumulator");
    assert_eq!(found.notes, ["input set: few"]);
    assert_eq!(found.remedy, None);
}

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
