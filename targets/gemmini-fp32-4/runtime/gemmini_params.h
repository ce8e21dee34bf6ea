/* Parameters of this instance: float operands and sums, 4x4 mesh. */
#ifndef GEMMINI_PARAMS_H
#define GEMMINI_PARAMS_H

#include <stdint.h>

#define DIM 4                /* rows and columns of the mesh, elements of one local row */
#define ADDR_LEN 32          /* bits of a local address */
#define BANK_NUM 4           /* scratchpad banks */
#define BANK_ROWS 4096       /* rows of one scratchpad bank */
#define ACC_ROWS 4096        /* rows of the whole accumulator, one bank */
#define MAX_BYTES 64         /* largest transfer of one row */
#define MAX_BLOCK_LEN 4      /* tiles side by side in one move to or from the scratchpad */
#define MAX_BLOCK_LEN_ACC 4  /* the same for accumulator rows */

typedef float elem_t;
typedef float acc_t;
typedef double full_t;
typedef float scale_t;
typedef float acc_scale_t;

#define elem_t_max 3.4028234663852886e38f
#define elem_t_min -3.4028234663852886e38f

#define ELEM_T_IS_FLOAT 1
#define HAS_MVIN_SCALE 1
#define HAS_MVIN_ACC_SCALE 1
#define MVIN_SCALE_IDENTITY 1.0f
#define ACC_SCALE_IDENTITY 1.0f

#ifndef __ASSEMBLER__
/* out = left + right, by the core; arrays of rows * cols elements. */
#define add_matrix(left, right, out, rows, cols)                                                   \
  gemmini_add_matrix((const elem_t *)(left), (const elem_t *)(right), (elem_t *)(out), (rows) * (cols))
static inline __attribute__((always_inline, unused)) void gemmini_add_matrix(
    const elem_t *left, const elem_t *right, elem_t *out, int n) {
  for (int i = 0; i < n; i++) out[i] = left[i] + right[i];
}
/* out = -in, by the core; arrays of rows * cols elements. */
#define negate_matrix(in, out, rows, cols)                                                         \
  gemmini_negate_matrix((const elem_t *)(in), (elem_t *)(out), (rows) * (cols))
static inline __attribute__((always_inline, unused)) void gemmini_negate_matrix(
    const elem_t *in, elem_t *out, int n) {
  for (int i = 0; i < n; i++) out[i] = -in[i];
}
#endif

#endif
