//! What is not understood, with its line and what to do.

use crate::kernels::{ADD, rewriter};
use autocomp_core::Rewriter;

/// Changes of [`ADD`], and what is said of each: the line and a part of the reason.
const CASES: &[(&str, &str, usize, &str)] = &[
    (
        "  if (i >= N) return;",
        "  for (int k = 0; k < 2; k++) { if (x[k] < 0.0f) return; }",
        4,
        "leaves the kernel from inside a loop or a branch",
    ),
    (
        "  if (i >= N) return;",
        "  if (i < N) { if (x[i] < 0.0f) { z[i] = 0.0f; return; } }",
        4,
        "leaves the kernel from inside a loop or a branch",
    ),
    (
        "  if (i >= N) return;",
        "  while (i < N) { z[i] = 0.0f; i += 128; }",
        4,
        "write it as `for`",
    ),
    (
        "z[i] = x[i] + y[i];",
        "z[0] = x[i] + y[i];",
        2,
        "stores to `Z` in several threads at once",
    ),
    (
        "z[i] = x[i] + y[i];",
        "z[i] = unknown(x[i]);",
        5,
        "calls a function that is not known",
    ),
    (
        "z[i] = x[i] + y[i];",
        "float t[4]; z[i] = x[i];",
        5,
        "is an array of the thread, which is not read; keep scalars",
    ),
    (
        "z[i] = x[i] + y[i];",
        "__shared__ float t[2][i]; z[i] = x[i];",
        5,
        "is an array of a size that is not known; write one with a number: t[2][i]",
    ),
    (
        "z[i] = x[i] + y[i];",
        "__shared__ float t[2][128]; t[0][threadIdx.x] = x[i]; z[i] = t[0][threadIdx.x][0];",
        5,
        "has more indices than the array has dimensions",
    ),
    (
        "z[i] = x[i] + y[i];",
        "if (x[i] > 0.0f) { y += 4; } z[i] = x[i] + y[i];",
        5,
        "moves a pointer in a branch, or not by the same number",
    ),
    (
        "z[i] = x[i] + y[i];",
        "for (int k = 0; k < 4; k++) { y += k; z[i] = y[i]; }",
        5,
        "moves a pointer in a branch, or not by the same number",
    ),
    (
        "z[i] = x[i] + y[i];",
        "int at = i; const float* p = x + at; at = 0; z[i] = p[at];",
        5,
        "points to where a variable says that changes",
    ),
    (
        "z[i] = x[i] + y[i];",
        "z[i] = reinterpret_cast<const float*>(x)[i];",
        5,
        "casts by name other than `static_cast`",
    ),
    (
        "  dim3 block(128);",
        "  dim3 block(size());",
        9,
        "has sizes that are no numbers",
    ),
    (
        "  dim3 block(128);",
        "  for (int k = 0; k < 2; k++)",
        9,
        "write launches one after the other",
    ),
    (
        "<<<(N + 127) / 128, block>>>",
        "<<<(N + 127) / 128, block, bytes()>>>",
        10,
        "shared memory of a size that is not known",
    ),
    (
        "<<<(N + 127) / 128, block>>>",
        "<<<(N + 127) / 128, block, 0, stream>>>",
        10,
        "launches on a stream",
    ),
    (
        "z[i] = x[i] + y[i];",
        "extern __shared__ float t[]; z[i] = x[i];",
        5,
        "of a size that is not known",
    ),
    (
        "const float* X,",
        "int n, const float* X,",
        8,
        "write it as a constant",
    ),
    (
        "(X, Y, Z);",
        "(X, Y, Z + 1);",
        10,
        "is neither an array nor a number that is written",
    ),
    (
        "  add<<<",
        "  other<<<",
        10,
        "which the file does not define",
    ),
];

#[test]
fn what_is_not_understood_is_named_with_its_line() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    assert_eq!(rewriter.not_understood(ADD), []);
    for (from, to, line, why) in CASES {
        let source = ADD.replace(from, to);
        assert_ne!(source, ADD, "{from}");
        let found = rewriter.not_understood(&source);
        let is_said = found
            .iter()
            .any(|it| it.line == *line && it.reason.contains(why));
        assert!(is_said, "{to}: {found:?}");
    }
}

#[test]
fn a_kernel_that_was_changed_by_hand_is_left_alone() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let made = rewriter.every(ADD).unwrap();
    let (_, text) = &made[0];
    assert_eq!(rewriter.not_understood(text), []);
    let changed = text.replace("__launch_bounds__(", "__launch_bounds__(1 * ");
    assert_ne!(changed, *text);
    let found = rewriter.not_understood(&changed);
    assert!(found[0].reason.contains("was changed since"), "{found:?}");
}

#[test]
fn threads_that_read_what_others_write_are_not_put_together() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let source = ADD.replace("z[i] = x[i] + y[i];", "z[i] = x[i] + z[(i + 1) % N];");
    assert!(rewriter.every(&source).unwrap().is_empty());
}

/// A schedule in a kernel's comments may say anything.
#[test]
fn schedules_of_strangers_are_not_carried_out() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let (schedule, text) = rewriter.every(ADD).unwrap().remove(0);
    let own = serde_json::to_string(&schedule).unwrap();
    for part in [
        r#"{"points":{"across":0,"down":1,"vector":1,"each":[1]}}"#,
        r#"{"points":{"across":128,"down":1,"vector":0,"each":[1]}}"#,
        r#"{"points":{"across":128,"down":1,"vector":1,"each":[0]}}"#,
        r#"{"points":{"across":128,"down":9223372036854775807,"vector":1,"each":[]}}"#,
        r#"{"rows":{"team":0,"vector":0,"threads":0,"keep":true,"fast":true,"split":0}}"#,
        r#"{"turn":{"rows":0,"pad":-1,"tiles":0}}"#,
        r#"{"counting":{"places":0,"copies":0,"vector":0,"threads":0,"blocks":0}}"#,
        r#"{"tiles":{"tile":[0,0,0],"each":[0,0],"stages":0,"pad":0,"split":0}}"#,
        r#"{"matrix":{"tile":[0,0,0],"warps":[0,0],"stages":0,"pad":0}}"#,
    ] {
        let other = text.replace(&own, &format!("{{\"launches\":[{part}]}}"));
        assert_ne!(other, text);
        let found = rewriter.not_understood(&other);
        assert!(
            found[0].reason.contains("was changed since"),
            "{part}: {found:?}"
        );
    }
}
