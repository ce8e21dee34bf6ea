//! Sums over a long depth.

use crate::int8_16;
use autocomp_gemmini_rewriter::Vocabulary;
use autocomp_gemmini_rewriter::inside::{Operation, lift};

/// A product of 512x512x8192 by tiles: a sum of each of its rows has 512 steps.
const DEEP: &str = "void solution(int8_t A[512][8192], int8_t B[8192][512], int8_t C[512][512]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(512);
  config_ld(8192, 1.0f, 16, 0);
  config_ld(512, 1.0f, 16, 1);
  for (int i = 0; i < 32; i += 4) {
    for (int j = 0; j < 32; j += 8) {
      for (int k = 0; k < 512; k += 16) {
        gemmini_loop_ws(4, 8, 16, 0, 0, 0, &A[i * 16][k * 16], &B[k * 16][j * 16], 0,
            k == 496 ? &C[i * 16][j * 16] : 0, 8192, 512, 0, 512, 0, 0, 0, 0, k != 0,
            NO_ACTIVATION, 0, 0, 0);
      }
    }
  }
  fence();
}
";

#[test]
fn products_that_go_on_in_memory_are_one() {
    let limits = int8_16();
    let lifted = lift(DEEP, &limits.accelerator, &Vocabulary::default()).unwrap();
    let [work] = lifted.works.as_slice() else {
        panic!("{} operations", lifted.works.len());
    };
    let Operation::Product { depth, .. } = work.operation else {
        panic!("no product");
    };
    assert_eq!((work.rows, work.columns, depth), (512, 512, 8192));
}
