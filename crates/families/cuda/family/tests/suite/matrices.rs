//! Products of small matrices through the header.

use crate::benches::{open_on, small_problem, verdict_of};
use autocomp_core::Outcome;

/// Tiles of all shapes divide it.
const SHAPE: &str = "M = 64\nN = 64\nK = 64";

/// Matrix products of the three shapes that halves and bfloat16 have.
#[test]
fn wmma_has_its_shapes() {
    for (name, element) in [("gemm-f16", "half"), ("gemm-bf16", "__nv_bfloat16")] {
        let bench = open_on(&small_problem(name, SHAPE), "cuda-sm89");
        for (rows, columns) in [(16, 16), (32, 8), (8, 32)] {
            let source = format!(
            "#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const {element}* a, const {element}* b, float* c) {{
  wmma::fragment<wmma::matrix_a, {rows}, {columns}, 16, {element}, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, {rows}, {columns}, 16, {element}, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, {rows}, {columns}, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  int row = blockIdx.y * {rows}, column = blockIdx.x * {columns};
  __shared__ __align__(32) {element} tile[16 * {columns}];
  for (int k = 0; k < 64; k += 16) {{
    wmma::load_matrix_sync(x, a + row * 64 + k, 64);
    for (int e = threadIdx.x; e < 16 * {columns}; e += 32) tile[e] = b[(k + e / {columns}) * 64 + column + e % {columns}];
    __syncwarp();
    wmma::load_matrix_sync(y, tile, {columns});
    wmma::mma_sync(sum, x, y, sum);
    __syncwarp();
  }}
  wmma::store_matrix_sync(c + row * 64 + column, sum, 64, wmma::mem_row_major);
}}
void solution(const {element}* A, const {element}* B, float* C) {{
  multiply<<<dim3(64 / {columns}, 64 / {rows}), 32>>>(A, B, C);
}}
"
        );
            let (outcome, code, line) = verdict_of(&*bench, &source);
            assert_eq!(
                outcome,
                Outcome::Ok,
                "{element} {rows}x{columns} {code}: {line}"
            );
        }
    }
}

/// Products of bytes by the units of signed bytes, of unsigned ones (each 128 more) and
/// of tf32, where bytes and their sums are exact.
#[test]
fn wmma_has_its_types() {
    let bench = open_on(&small_problem("gemm-i8", SHAPE), "cuda-sm89");
    const BYTES: &[[u32; 3]] = &[[16, 16, 16], [32, 8, 16], [8, 32, 16]];
    let cases = [
        ("signed char", "signed char", "int", 0, BYTES),
        ("unsigned char", "unsigned char", "int", 128, BYTES),
        ("wmma::precision::tf32", "float", "float", 0, &[[16, 16, 8]]),
    ];
    for (of, stored, sum, more, shapes) in cases {
        for [rows, columns, depth] in shapes {
            let source = format!(
                "#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const signed char* a, const signed char* b, int* c) {{
  __shared__ __align__(32) {stored} left[{rows} * {depth}], right[{columns} * {depth}];
  __shared__ __align__(32) {sum} sums[{rows} * {columns}];
  wmma::fragment<wmma::matrix_a, {rows}, {columns}, {depth}, {of}, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, {rows}, {columns}, {depth}, {of}, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, {rows}, {columns}, {depth}, {sum}> z;
  int row = blockIdx.y * {rows}, column = blockIdx.x * {columns};
  for (int e = threadIdx.x; e < {rows} * {columns}; e += 32) sums[e] = e % 7;
  __syncwarp();
  wmma::load_matrix_sync(z, sums, {columns}, wmma::mem_row_major);
  for (int k = 0; k < 64; k += {depth}) {{
    for (int e = threadIdx.x; e < {rows} * {depth}; e += 32) left[e] = a[(row + e / {depth}) * 64 + k + e % {depth}] + {more};
    for (int e = threadIdx.x; e < {columns} * {depth}; e += 32) right[e] = b[(column + e / {depth}) * 64 + k + e % {depth}] + {more};
    __syncwarp();
    wmma::load_matrix_sync(x, left, {depth});
    wmma::load_matrix_sync(y, right, {depth});
    wmma::mma_sync(z, x, y, z);
    __syncwarp();
  }}
  wmma::store_matrix_sync(sums, z, {rows}, wmma::mem_col_major);
  __syncwarp();
  for (int e = threadIdx.x; e < {rows} * {columns}; e += 32) {{
    int r = e / {columns}, s = e % {columns}, all = (int)sums[s * {rows} + r] - e % 7;
    for (int k = 0; k < 64 && {more}; k++) all -= {more} * (a[(row + r) * 64 + k] + b[(column + s) * 64 + k] + {more});
    c[(row + r) * 64 + column + s] = all;
  }}
}}
void solution(const signed char* A, const signed char* B, int* C) {{
  multiply<<<dim3(64 / {columns}, 64 / {rows}), 32>>>(A, B, C);
}}
"
            );
            let (outcome, code, line) = verdict_of(&*bench, &source);
            let what = format!("{of} {rows}x{columns}x{depth}");
            assert_eq!(outcome, Outcome::Ok, "{what} {code}: {line}");
        }
    }
}
