//! Test programs of the original as problems.

use autocomp_imports::{HarnessProblem, read_harness};
use proptest::prelude::*;

const PRODUCT: &str = include_str!("harnesses/product.c");
const CONVOLUTION: &str = include_str!("harnesses/convolution.c");

fn read(source: &str) -> Result<HarnessProblem, String> {
    read_harness(source, "gemmini-int8-16")
}

#[test]
fn a_product_has_its_shapes_fills_and_definition() {
    let made = read(PRODUCT).expect("it is understood");
    assert_eq!(
        made.signature,
        "void solution(int8_t A[16][32], int8_t B[48][32], int8_t D[16][48], int8_t C[16][48])"
    );
    assert_eq!(
        made.remarks,
        ["how it fills `D` is not understood: values of either sign are drawn"]
    );
    let description = &made.files["problem.toml"];
    for part in [
        "macs = 24576",
        "bytes = 3584",
        "of = [\"B.0\", \"C.1\", \"D.1\"]",
        "fill.A = { kind = \"sparse\", values = [1], one_in = 8 }",
        "fill.B = { kind = \"uniform\", low = 0, high = 3 }",
        "fill.D = { kind = \"uniform\", low = -2, high = 2 }",
    ] {
        assert!(description.contains(part), "{part}\n{description}");
    }
    let reference = &made.files["reference.c"];
    for part in ["sums[j] = D[i][j]", "sums[j] += A[i][k] * B[j][k]"] {
        assert!(reference.contains(part), "{part}\n{reference}");
    }
    let names = &made.files["harness.toml"];
    for part in ["MAT_DIM_K = \"32\"", "OUTPUT_MATRIX_NAME = \"C\""] {
        assert!(names.contains(part), "{part}\n{names}");
    }
    // Other conditions leave out other parts.
    let plain = PRODUCT.replace("#define NO_BIAS 0", "#define NO_BIAS 1");
    let made = read(&plain).expect("it is understood");
    assert_eq!(
        made.signature,
        "void solution(int8_t A[16][32], int8_t B[48][32], int8_t C[16][48])"
    );
}

#[test]
fn a_convolution_has_its_shapes_fills_and_definition() {
    let made = read(CONVOLUTION).expect("it is understood");
    assert_eq!(
        made.signature,
        "void solution(int8_t inp[2][15][15][16], int8_t weights[3][3][16][32], int32_t bias[1][32], int8_t output[2][7][7][32])"
    );
    assert_eq!(made.remarks, [""; 0]);
    let macs = format!("macs = {}", 2 * 7 * 7 * 9 * 16 * 32);
    let description = &made.files["problem.toml"];
    for part in [
        &macs,
        "fill.inp = { kind = \"uniform\", low = 0, high = 1 }",
        "fill.weights = { kind = \"sparse\", values = [1], one_in = 3 }",
        "fill.bias = { kind = \"uniform\", low = 0, high = 4 }",
    ] {
        assert!(description.contains(part), "{part}\n{description}");
    }
    assert!(made.files["reference.c"].contains("inp[b][y * 2 + r][x * 2 + s][c]"));
}

#[test]
fn what_is_not_known_is_refused_with_the_reason() {
    for (source, said) in [
        (
            PRODUCT.replace("tiled_matmul_outer_eigen_bias(", "full_matmul("),
            "no call that is known",
        ),
        (
            PRODUCT.replace("#define SUB_BIAS 0", "#define SUB_BIAS 1"),
            "what it asks of `tiled_matmul_outer_eigen_bias`",
        ),
        (
            PRODUCT.replace("static elem_t D_", "static full_t D_"),
            "`full_t` are not known",
        ),
        (PRODUCT.replace("#define MAT_DIM_J 48", ""), "is no extent"),
        (
            PRODUCT.replace("#if NO_BIAS==0", "#if defined(NO_BIAS)"),
            "the condition `defined(NO_BIAS)`",
        ),
        (
            CONVOLUTION.replace("STRIDE, 1, 1, 0, R", "STRIDE, 1, 1, 1, R"),
            "what it asks of `tiled_conv_auto`",
        ),
        (
            CONVOLUTION.replace("NO_ACTIVATION, 1", "RELU, 1"),
            "what it asks of `tiled_conv_auto`",
        ),
        (
            CONVOLUTION
                .replace("#define P 7", "#define P 8")
                .replace("ROWS ((P - 1) * STRIDE + R)", "ROWS 15"),
            "what it asks of `tiled_conv_auto`",
        ),
        (
            CONVOLUTION.replace("#define N 2", "#define N (1<<40)"),
            "elements",
        ),
        ("#define A A\n#if A\n#endif".to_owned(), "the condition `A`"),
    ] {
        let error = read(&source).expect_err(said);
        assert!(error.contains(said), "{said}: {error}");
    }
}

proptest! {
    #[test]
    fn damaged_programs_are_read_or_refused(
        is_product in any::<bool>(),
        at in 0..1500_usize,
        length in 0..80_usize,
        other in "[-#()<*/;{}\\[\\] %0-9A-Z\n]{0,12}",
    ) {
        let mut source = if is_product { PRODUCT } else { CONVOLUTION }.to_owned();
        let at = at.min(source.len());
        let end = (at + length).min(source.len());
        source.replace_range(at..end, &other);
        let _ = read(&source);
    }
}
