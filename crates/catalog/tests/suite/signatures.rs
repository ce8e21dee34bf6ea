//! Signatures and buffers that contradict each other.

use autocomp_catalog::inside::contradiction;
use autocomp_catalog::{Buffer, DataType, Role};

fn said(parameters: &str) -> Option<String> {
    let buffer = |name: &str, dtype, shape: &[u64]| Buffer {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
        role: Role::Input,
        alignment: 64,
        used: None,
    };
    let buffers = [
        buffer("A", DataType::Int8, &[16, 64]),
        buffer("x", DataType::Float32, &[4]),
    ];
    let signature = format!("void solution({parameters})");
    contradiction((&signature, "solution"), &buffers, &["scale", "taps"])
}

#[test]
fn what_means_the_same_may_be_written_in_many_ways() {
    for parameters in [
        "int8_t A[16][64], float x[4]",
        "const int8_t A[ 16 ][64],float*x",
        "elem_t A[][64], const float * restrict x",
        "int8_t A[1024], float x[2][2]",
        "signed char A[16][64], float x[N]",
        "int8_t (*A)[64], float x[4]",
    ] {
        assert_eq!(said(parameters), None, "{parameters}");
    }
}

#[test]
fn what_means_something_else_is_told() {
    for (parameters, expected) in [
        (
            "int8_t A[16][64]",
            "parameters in the signature: 1, buffers: 2",
        ),
        (
            "float x[4], int8_t A[16][64]",
            "1 of the signature is `x`, but the buffer at this place is `A`",
        ),
        (
            "int8_t A[16][64], int32_t x[4]",
            "2 of the signature has elements of type `int32_t`, those of buffer `x` are `float`",
        ),
        (
            "int8_t A[64][16], float x[4]",
            "1 of the signature has the extents [64, 16], buffer `A` has [16, 64]",
        ),
        ("int8_t A[16][64], float x[8]", "has the extents [8]"),
        (
            "signed char B[16][64], float x[4]",
            "1 of the signature is `B`",
        ),
        ("int8_t A[512], float x[4]", "has the extents [512]"),
    ] {
        let found = said(parameters).unwrap_or_default();
        assert!(found.contains(expected), "{parameters}: {found}");
    }
}
