//! Infinities and numbers too small to be normal: kernels that are right but for them.

use crate::attacks::bench_of;
use autocomp_catalog::Catalog;
use autocomp_core::Outcome;

/// The greatest so far and the sum of powers of distances to it: where nothing but -inf has come yet,
/// the distance is no number.
const SOFTMAX: &str = "void solution(float X[20][333], float Y[20][333]) {
  for (int i = 0; i < 20; i++) {
    float top = -INFINITY, sum = 0.0f;
    for (int j = 0; j < 333; j++) {
      float greater = X[i][j] > top ? X[i][j] : top;
      sum = sum * expf(top - greater) + expf(X[i][j] - greater);
      top = greater;
    }
    for (int j = 0; j < 333; j++) Y[i][j] = expf(X[i][j] - top) / sum;
  }
}";

/// The greatest of a window begins with what is taken for the least number.
const MAXPOOL: &str = "void solution(float X[30][70], float Y[15][35]) {
  for (int i = 0; i < 15; i++)
    for (int j = 0; j < 35; j++) {
      float top = -3.4028235e38f;
      for (int at = 0; at < 4; at++) {
        float x = X[2 * i + at / 2][2 * j + at % 2];
        top = x > top ? x : top;
      }
      Y[i][j] = top;
    }
}";

/// What is too small to be normal is taken for zero.
const DOT: &str = "void solution(uint16_t X[3][333], uint16_t Y[3][333], float S[3]) {
  for (int i = 0; i < 3; i++) {
    float sum = 0.0f;
    for (int j = 0; j < 333; j++) {
      const _Float16 *x = (const _Float16 *)&X[i][j], *y = (const _Float16 *)&Y[i][j];
      sum += fabsf((float)*x) < 6.1e-5f ? 0.0f : (float)*x * (float)*y;
    }
    S[i] = sum;
  }
}";

#[test]
fn what_is_wrong_for_special_numbers_only_is_found() {
    let catalog = Catalog::built_in().expect("built-in data");
    for (problem, kernel, set) in [
        ("rvv/softmax-f32-20x333", SOFTMAX, "masked"),
        ("rvv/maxpool-f32-30x70", MAXPOOL, "special"),
        ("rvv/dot-f16-3x333", DOT, "denormal"),
    ] {
        let found = bench_of(&catalog, problem, "rvv-k230").evaluate(kernel);
        let found = found.expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Wrong, "{problem}");
        let text = format!("{:?}", found.diagnostics);
        let said = format!("input sets that go wrong: {set}; right: ");
        assert!(text.contains(&said), "{problem}: {text}");
    }
}
