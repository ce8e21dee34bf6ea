//! Hints for the compiler in kernels that are not read.

use autocomp_nests::inside::{Hints, TRIED};

#[test]
fn hints_stand_where_they_belong() {
    let source = "static float f(const float *a, const float *b) { return *a + *b; }\n\
                  void solution(float A[64][64], const float *b, float (*C)[64], int n) {\n  \
                  for (int i = 0; i < 64; i++) {\n    \
                  for (int j = 0; j <= i; j++)\n      C[i][j] = f(&A[i][j], b + j);\n    \
                  if (n) for (int j = 0; j < n; j++) C[0][j] = 0;\n  }\n}\n";
    let told = Hints::of(source);
    assert_eq!(told.len(), TRIED.len());
    assert_eq!(
        told[1].1,
        "static float f(const float *a, const float *b) {\n\
         #pragma clang fp reassociate(on)\n return *a + *b; }\n\
         void solution(float A[restrict 64][64], const float *restrict b, float (*restrict C)[64], int n) {\n\
         #pragma clang fp reassociate(on)\n  \
         for (int i = 0; i < 64; i++) {\n    \
         #pragma clang loop vectorize(enable) interleave_count(4)\n    \
         for (int j = 0; j <= i; j++)\n      C[i][j] = f(&A[i][j], b + j);\n    \
         if (n) \n\
         #pragma clang loop vectorize(enable) interleave_count(4)\n\
         for (int j = 0; j < n; j++) C[0][j] = 0;\n  }\n}\n"
    );
    // What is there is not added again.
    for (hints, text) in told {
        assert_eq!(hints.added(&text), None);
    }
    assert!(Hints::of("void solution(int n) {}").is_empty());
    assert!(Hints::of("void solution(float A[8]) { for (").is_empty());
}
