//! What the host function asks for, and what becomes of it.

use crate::cheats::{RIGHT, of};
use autocomp_core::Outcome;

#[test]
fn inputs_are_no_room() {
    let front = "__global__ void add_up(float* x) { x[threadIdx.x] += 1; }
__global__ void take_off(float* x) { x[threadIdx.x] -= 1; }";
    let host = format!("add_up<<<1, 32>>>((float*)X); take_off<<<1, 32>>>((float*)X); {RIGHT}");
    let (outcome, code) = of(front, &host);
    assert_eq!((outcome, code.as_str()), (Outcome::Wrong, "input-changed"));
}

#[test]
fn memory_that_was_given_back_is_gone() {
    let front = "__global__ void fill(float* s) { s[threadIdx.x] = 1; }";
    let host = |calls: &str| format!("float* a; cudaMalloc(&a, 128); {calls} {RIGHT}");
    let cases = [
        (
            "fill<<<1, 32>>>(a); cudaFree(a); cudaFree(0);",
            Outcome::Ok,
            "",
        ),
        (
            "cudaFree(a); fill<<<1, 32>>>(a);",
            Outcome::Illegal,
            "use-after-free",
        ),
        (
            "cudaFree(a); cudaMemset(a, 0, 128);",
            Outcome::Illegal,
            "use-after-free",
        ),
        ("cudaFree(a); cudaFree(a);", Outcome::Crashed, "bad-free"),
        ("cudaFree((void*)X);", Outcome::Crashed, "bad-free"),
    ];
    for (calls, outcome, code) in cases {
        assert_eq!(of(front, &host(calls)), (outcome, code.into()), "{calls}");
    }
}

#[test]
fn there_is_one_stream() {
    for calls in [
        "add<<<(N + 255) / 256, 256, 0, (cudaStream_t)1>>>(X, Y, Z);",
        "add<<<(N + 255) / 256, 256>>>(X, Y, Z); cudaMemsetAsync(Z, 0, 0, (cudaStream_t)2);",
    ] {
        assert_eq!(
            of("", calls),
            (Outcome::Crashed, "host-part".into()),
            "{calls}"
        );
    }
}
