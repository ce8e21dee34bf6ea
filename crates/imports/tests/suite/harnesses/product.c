#include <stdint.h>
#include "include/gemmini_testutils.h"

#define B_TRANSPOSE 1
#define A_TRANSPOSE 0
#define NO_BIAS 0
#define SUB_BIAS 0
#define A_MATRIX_NAME A
#define B_MATRIX_NAME B
#define D_MATRIX_NAME D
#define C_MATRIX_NAME C
#define OUTPUT_MATRIX_NAME C_MATRIX_NAME
#define MAT_DIM_I 16
#define MAT_DIM_K (MAT_DIM_I * 2) /* twice
  as deep */
#define MAT_DIM_J 48

#if B_TRANSPOSE==1
  #define B_ROWS MAT_DIM_J
  #define B_COLS MAT_DIM_K
#else
  #define B_ROWS MAT_DIM_K
  #define B_COLS MAT_DIM_J
#endif

int main() {
  static elem_t A_MATRIX_NAME[MAT_DIM_I][MAT_DIM_K] row_align(1);
  static elem_t B_MATRIX_NAME[B_ROWS][B_COLS] row_align(1);
#if NO_BIAS==0
  static elem_t D_MATRIX_NAME[MAT_DIM_I][MAT_DIM_J] row_align_acc(1);
#endif
  static elem_t gold[MAT_DIM_I][MAT_DIM_J] row_align_acc(1);
  static elem_t C_MATRIX_NAME[MAT_DIM_I][MAT_DIM_J] row_align_acc(1);

#ifdef FAST
#define RAND 1
#else
#define RAND rand()
#endif
  for (size_t i = 0; i < MAT_DIM_I; i++) {
    for (size_t j = 0; j < MAT_DIM_K; j++) {
      A_MATRIX_NAME[i][j] = (elem_t) (RAND % (1<<3) == 0);
    }
  }
  for (size_t i = 0; i < B_ROWS; i++) {
    for (size_t j = 0; j < B_COLS; j++) {
      elem_t elem = (elem_t) (RAND % 4);
      B_MATRIX_NAME[i][j] = elem;
    }
  }
  for (size_t i = 0; i < MAT_DIM_I; i++) {
    for (size_t j = 0; j < MAT_DIM_J; j++) {
      D_MATRIX_NAME[i][j] = i + j;
    }
  }
#if NO_BIAS==0
  tiled_matmul_outer_eigen_bias(A_MATRIX_NAME, B_MATRIX_NAME, D_MATRIX_NAME, gold, MAT_DIM_I, MAT_DIM_K, MAT_DIM_J, A_TRANSPOSE, B_TRANSPOSE, SUB_BIAS);
#else
  tiled_matmul_outer_eigen(A_MATRIX_NAME, B_MATRIX_NAME, gold, MAT_DIM_I, MAT_DIM_K, MAT_DIM_J, A_TRANSPOSE, B_TRANSPOSE);
#endif
  // SUBSTITUTE HERE
  // SUBSTITUTE END
}
