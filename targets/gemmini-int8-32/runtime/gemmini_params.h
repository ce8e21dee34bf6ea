/* Parameters of this instance: int8 operands, 32x32 mesh, int32 accumulator. */
#ifndef GEMMINI_PARAMS_H
#define GEMMINI_PARAMS_H

#include <stdint.h>

#define DIM 32               /* rows and columns of the mesh, elements of one local row */
#define ADDR_LEN 32          /* bits of a local address */
#define BANK_NUM 4           /* scratchpad banks */
#define BANK_ROWS 2048       /* rows of one scratchpad bank */
#define ACC_ROWS 512         /* rows of the whole accumulator, two banks */
#define MAX_BYTES 64         /* largest transfer of one row */
#define MAX_BLOCK_LEN 2      /* tiles side by side in one move to or from the scratchpad */
#define MAX_BLOCK_LEN_ACC 1  /* the same for full-width accumulator rows */

typedef int8_t elem_t;
typedef int32_t acc_t;
typedef int64_t full_t;
typedef float scale_t;
typedef float acc_scale_t;

#define elem_t_max 127
#define elem_t_min -128

#define HAS_MVIN_SCALE 1
#define MVIN_SCALE_IDENTITY 1.0f
#define ACC_SCALE_IDENTITY 1.0f

#endif
