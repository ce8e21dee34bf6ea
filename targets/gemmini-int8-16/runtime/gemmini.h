/* Gemmini for freestanding C: every wrapper issues the custom instructions its
   name says and nothing else, so that their cost is the cost of the hardware.

   The names and the order of their arguments are the customary ones, so that
   kernels written for other Gemmini headers compile unchanged. Local addresses
   are taken as unsigned 32-bit values: write 0x80000000 for the accumulator,
   not 1 << 31, which is a negative int and would spill into rows and columns. */
#ifndef GEMMINI_H
#define GEMMINI_H

/* Forced upon every file of a build, so start code sees it too. */
#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gemmini_params.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

/* Discarded: for kernels with prints left in them. */
int printf(const char *format, ...);
int puts(const char *text);
int putchar(int character);

/* ---- constants ---- */

#define OUTPUT_STATIONARY 0
#define WEIGHT_STATIONARY 1

#define NO_ACTIVATION 0
#define RELU 1
#define LAYERNORM 2
#define IGELU 3
#define SOFTMAX 4

/* "No operand" (read as zero) or "no destination". */
#define GARBAGE_ADDR ((uint32_t)0xffffffff)

/* Alignment of an array to n local rows of operands or of accumulators. */
#define row_align(n) __attribute__((aligned((n) * DIM * sizeof(elem_t))))
#define row_align_acc(n) __attribute__((aligned((n) * DIM * sizeof(acc_t))))

/* Ends the program for an argument that a function of these headers does not support. What
   runs it finds `reason`, a constant text, in a0. */
__attribute__((always_inline, unused)) static inline void gemmini_unsupported(const char *reason) {
  register const char *text __asm__("a0") = reason;
  __asm__ volatile("ebreak" ::"r"(text) : "memory");
  __builtin_unreachable();
}

/* ---- encoding ---- */

#define GEMMINI_FUNCT_CONFIG 0
#define GEMMINI_FUNCT_MVIN2 1
#define GEMMINI_FUNCT_MVIN 2
#define GEMMINI_FUNCT_MVOUT 3
#define GEMMINI_FUNCT_COMPUTE_PRELOADED 4
#define GEMMINI_FUNCT_COMPUTE_ACCUMULATED 5
#define GEMMINI_FUNCT_PRELOAD 6
#define GEMMINI_FUNCT_FLUSH 7
#define GEMMINI_FUNCT_LOOP_WS 8
#define GEMMINI_FUNCT_LOOP_WS_BOUNDS 9
#define GEMMINI_FUNCT_LOOP_WS_ADDRS_AB 10
#define GEMMINI_FUNCT_LOOP_WS_ADDRS_DC 11
#define GEMMINI_FUNCT_LOOP_WS_STRIDES_AB 12
#define GEMMINI_FUNCT_LOOP_WS_STRIDES_DC 13
#define GEMMINI_FUNCT_MVIN3 14
#define GEMMINI_FUNCT_LOOP_CONV_WS 15
#define GEMMINI_FUNCT_LOOP_CONV_WS_1 16
#define GEMMINI_FUNCT_LOOP_CONV_WS_2 17
#define GEMMINI_FUNCT_LOOP_CONV_WS_3 18
#define GEMMINI_FUNCT_LOOP_CONV_WS_4 19
#define GEMMINI_FUNCT_LOOP_CONV_WS_5 20
#define GEMMINI_FUNCT_LOOP_CONV_WS_6 21
#define GEMMINI_FUNCT_COUNTER 126

/* One custom-3 instruction with two sources and no result. The first form
   touches local memory and state only; the second also reads or writes DRAM,
   so the compiler must not keep memory in registers across it. */
#define GEMMINI_ISSUE(funct, rs1, rs2)                                          \
  __asm__ volatile(".insn r 0x7b, 3, %0, x0, %z1, %z2" ::"i"(funct),            \
                   "rJ"((uint64_t)(rs1)), "rJ"((uint64_t)(rs2)))
#define GEMMINI_ISSUE_DMA(funct, rs1, rs2)                                      \
  __asm__ volatile(".insn r 0x7b, 3, %0, x0, %z1, %z2" ::"i"(funct),            \
                   "rJ"((uint64_t)(rs1)), "rJ"((uint64_t)(rs2))                 \
                   : "memory")

/* A tile operand. A sum, because compilers strength-reduce sums in loops. */
#define GEMMINI_TILE(local, cols, rows)                                         \
  ((uint64_t)(local) + (((uint64_t)(rows) << 48) + ((uint64_t)(cols) << 32)))

/* The bits of a float, for scales. */
static inline __attribute__((always_inline, unused)) uint64_t gemmini_float_bits(float value) {
  union {
    float value;
    uint32_t bits;
  } pun = {value};
  return pun.bits;
}

/* Choose a macro by the number of arguments. */
#define GEMMINI_FIFTH(a, b, c, d, e, ...) e

/* ---- execute configuration ---- */

#define gemmini_extended3_config_ex(dataflow, sys_act, sys_shift, sys_acc_scale, C_stride,         \
                                    A_stride, A_transpose, B_transpose, set_only_strides)          \
  GEMMINI_ISSUE(GEMMINI_FUNCT_CONFIG,                                                              \
                (gemmini_float_bits(sys_acc_scale) << 32) | ((uint64_t)(A_stride) << 16) |         \
                    ((uint64_t)(B_transpose) << 9) | ((uint64_t)(A_transpose) << 8) |              \
                    ((uint64_t)(set_only_strides) << 7) | ((uint64_t)(sys_act) << 3) |             \
                    ((uint64_t)(dataflow) << 2),                                                   \
                ((uint64_t)(C_stride) << 48) | (uint64_t)(uint32_t)(sys_shift))
#define gemmini_extended2_config_ex(dataflow, sys_act, sys_shift, A_stride, A_transpose,           \
                                    B_transpose)                                                   \
  gemmini_extended3_config_ex(dataflow, sys_act, sys_shift, ACC_SCALE_IDENTITY, 1, A_stride,       \
                              A_transpose, B_transpose, 0)
#define gemmini_extended_config_ex(dataflow, sys_act, sys_shift, A_stride, A_transpose,            \
                                   B_transpose)                                                    \
  gemmini_extended2_config_ex(dataflow, sys_act, sys_shift, A_stride, A_transpose, B_transpose)
#define gemmini_config_ex(dataflow, sys_act, sys_shift)                                            \
  gemmini_extended_config_ex(dataflow, sys_act, sys_shift, 1, 0, 0)
#define config_ex(dataflow, act, A_stride, A_transpose, B_transpose)                               \
  gemmini_extended2_config_ex(dataflow, act, 0, A_stride, A_transpose, B_transpose)

/* ---- load configuration; ids 0, 1, 2 belong to mvin, mvin2, mvin3 ---- */

#define gemmini_extended5_config_ld(stride, scale, shrunk, block_mvin_stride, pixel_repeats, id)   \
  GEMMINI_ISSUE(GEMMINI_FUNCT_CONFIG,                                                              \
                (gemmini_float_bits(scale) << 32) | ((uint64_t)(block_mvin_stride) << 16) |        \
                    ((uint64_t)(pixel_repeats) << 8) | ((uint64_t)(id) << 3) |                     \
                    ((uint64_t)(shrunk) << 2) | 1,                                                 \
                stride)
#define gemmini_extended4_config_ld(stride, scale, shrunk, block_mvin_stride, id)                  \
  gemmini_extended5_config_ld(stride, scale, shrunk, block_mvin_stride, 1, id)
#define gemmini_extended3_config_ld(stride, scale, shrunk, id)                                     \
  gemmini_extended4_config_ld(stride, scale, shrunk, DIM, id)
#define gemmini_extended2_config_ld(stride, scale, shrunk)                                         \
  gemmini_extended3_config_ld(stride, scale, shrunk, 0)
#define gemmini_extended_config_ld(stride, scale) gemmini_extended2_config_ld(stride, scale, 0)
#define gemmini_config_ld(stride) gemmini_extended_config_ld(stride, MVIN_SCALE_IDENTITY)

#define GEMMINI_CONFIG_LD_3(stride, scale, id) gemmini_extended3_config_ld(stride, scale, 0, id)
#define GEMMINI_CONFIG_LD_4(stride, scale, block_stride, id)                                       \
  gemmini_extended4_config_ld(stride, scale, 0, block_stride, id)
/* config_ld(stride_bytes, scale, block_stride, id) or config_ld(stride_bytes, scale, id) */
#define config_ld(...)                                                                             \
  GEMMINI_FIFTH(__VA_ARGS__, GEMMINI_CONFIG_LD_4, GEMMINI_CONFIG_LD_3, , , )(__VA_ARGS__)

/* ---- store configuration ---- */

#define gemmini_extended2_config_st(stride, acc_act, acc_scale, pool_stride, pool_size,            \
                                    pool_out_dim, porows, pocols, orows, ocols, upad, lpad)        \
  GEMMINI_ISSUE(GEMMINI_FUNCT_CONFIG,                                                              \
                ((uint64_t)(ocols) << 56) | ((uint64_t)(orows) << 48) |                            \
                    ((uint64_t)(pocols) << 40) | ((uint64_t)(porows) << 32) |                      \
                    ((uint64_t)(pool_out_dim) << 24) | ((uint64_t)(lpad) << 10) |                  \
                    ((uint64_t)(upad) << 8) | ((uint64_t)(pool_size) << 6) |                       \
                    ((uint64_t)(pool_stride) << 4) | (((uint64_t)(acc_act) & 3) << 2) | 2,         \
                (gemmini_float_bits(acc_scale) << 32) | (uint64_t)(uint32_t)(stride))
#define gemmini_extended_config_st(stride, acc_act, acc_scale)                                     \
  gemmini_extended2_config_st(stride, acc_act, acc_scale, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define gemmini_config_st(stride)                                                                  \
  gemmini_extended_config_st(stride, NO_ACTIVATION, ACC_SCALE_IDENTITY)

#define GEMMINI_CONFIG_ST_2(stride, scale) gemmini_extended_config_st(stride, NO_ACTIVATION, scale)
/* config_st(stride_bytes) or config_st(stride_bytes, scale) */
#define config_st(...)                                                                             \
  GEMMINI_FIFTH(__VA_ARGS__, , , GEMMINI_CONFIG_ST_2, gemmini_config_st, )(__VA_ARGS__)

/* Constants of normalising stores. */
#define gemmini_config_norm(q_const, q_const_type, set_stats_id_only, act_msb, stat_id, igelu_qb,  \
                            igelu_qc)                                                              \
  GEMMINI_ISSUE(GEMMINI_FUNCT_CONFIG,                                                              \
                ((uint64_t)(uint32_t)(q_const) << 32) | (((uint64_t)(q_const_type) & 1) << 18) |   \
                    (((uint64_t)(set_stats_id_only) & 1) << 17) |                                  \
                    (((uint64_t)(act_msb) & 1) << 16) | ((uint64_t)(stat_id) << 8) | 3,            \
                ((uint64_t)(uint32_t)(igelu_qc) << 32) | (uint64_t)(uint32_t)(igelu_qb))

/* ---- moves between DRAM and local memory ---- */

#define gemmini_extended_mvin(dram_addr, local_addr, cols, rows)                                   \
  GEMMINI_ISSUE_DMA(GEMMINI_FUNCT_MVIN, dram_addr, GEMMINI_TILE(local_addr, cols, rows))
#define gemmini_extended_mvin2(dram_addr, local_addr, cols, rows)                                  \
  GEMMINI_ISSUE_DMA(GEMMINI_FUNCT_MVIN2, dram_addr, GEMMINI_TILE(local_addr, cols, rows))
#define gemmini_extended_mvin3(dram_addr, local_addr, cols, rows)                                  \
  GEMMINI_ISSUE_DMA(GEMMINI_FUNCT_MVIN3, dram_addr, GEMMINI_TILE(local_addr, cols, rows))
#define gemmini_extended_mvout(dram_addr, local_addr, cols, rows)                                  \
  GEMMINI_ISSUE_DMA(GEMMINI_FUNCT_MVOUT, dram_addr, GEMMINI_TILE(local_addr, cols, rows))
#define gemmini_block_mvin(dram_addr, local_addr, len)                                             \
  gemmini_extended_mvin(dram_addr, local_addr, (len) * DIM, DIM)
#define gemmini_mvin(dram_addr, local_addr) gemmini_extended_mvin(dram_addr, local_addr, DIM, DIM)
#define gemmini_mvin2(dram_addr, local_addr) gemmini_extended_mvin2(dram_addr, local_addr, DIM, DIM)
#define gemmini_mvin3(dram_addr, local_addr) gemmini_extended_mvin3(dram_addr, local_addr, DIM, DIM)
#define gemmini_mvout(dram_addr, local_addr) gemmini_extended_mvout(dram_addr, local_addr, DIM, DIM)

#define mvin(dram_addr, local_addr, cols, rows)                                                    \
  gemmini_extended_mvin(dram_addr, local_addr, cols, rows)
#define mvin2(dram_addr, local_addr, cols, rows)                                                   \
  gemmini_extended_mvin2(dram_addr, local_addr, cols, rows)
#define mvin3(dram_addr, local_addr, cols, rows)                                                   \
  gemmini_extended_mvin3(dram_addr, local_addr, cols, rows)
#define mvout(dram_addr, local_addr, cols, rows)                                                   \
  gemmini_extended_mvout(dram_addr, local_addr, cols, rows)

/* ---- the array ---- */

#define gemmini_extended_preload(BD, C, BD_cols, BD_rows, C_cols, C_rows)                          \
  GEMMINI_ISSUE(GEMMINI_FUNCT_PRELOAD, GEMMINI_TILE(BD, BD_cols, BD_rows),                         \
                GEMMINI_TILE(C, C_cols, C_rows))
#define gemmini_preload(BD, C) gemmini_extended_preload(BD, C, DIM, DIM, DIM, DIM)
#define gemmini_preload_zeros(C) gemmini_preload(GARBAGE_ADDR, C)
#define preload(B, C, B_cols, B_rows, C_cols, C_rows)                                              \
  gemmini_extended_preload(B, C, B_cols, B_rows, C_cols, C_rows)
#define preload_zeros(C) gemmini_preload_zeros(C)

#define gemmini_extended_compute_preloaded(A, BD, A_cols, A_rows, BD_cols, BD_rows)                \
  GEMMINI_ISSUE(GEMMINI_FUNCT_COMPUTE_PRELOADED, GEMMINI_TILE(A, A_cols, A_rows),                  \
                GEMMINI_TILE(BD, BD_cols, BD_rows))
#define gemmini_extended_compute_accumulated(A, BD, A_cols, A_rows, BD_cols, BD_rows)              \
  GEMMINI_ISSUE(GEMMINI_FUNCT_COMPUTE_ACCUMULATED, GEMMINI_TILE(A, A_cols, A_rows),                \
                GEMMINI_TILE(BD, BD_cols, BD_rows))
#define gemmini_compute_preloaded(A, BD)                                                           \
  gemmini_extended_compute_preloaded(A, BD, DIM, DIM, DIM, DIM)
#define gemmini_compute_accumulated(A, BD)                                                         \
  gemmini_extended_compute_accumulated(A, BD, DIM, DIM, DIM, DIM)
#define compute_preloaded(A, BD, A_cols, A_rows, BD_cols, BD_rows)                                 \
  gemmini_extended_compute_preloaded(A, BD, A_cols, A_rows, BD_cols, BD_rows)
#define compute_accumulated(A, BD, A_cols, A_rows, BD_cols, BD_rows)                               \
  gemmini_extended_compute_accumulated(A, BD, A_cols, A_rows, BD_cols, BD_rows)

/* ---- hardware loops ---- */

#define gemmini_loop_ws(I, J, K, pad_I, pad_J, pad_K, A, B, D, C, A_stride, B_stride, D_stride,    \
                        C_stride, A_transpose, B_transpose, full_C, low_D, ex_accumulate, act,     \
                        a_spad_id, b_spad_id, is_resadd)                                           \
  do {                                                                                             \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_WS_BOUNDS,                                                    \
                  ((uint64_t)(pad_K) << 32) | ((uint64_t)(pad_J) << 16) | (uint64_t)(pad_I),       \
                  ((uint64_t)(K) << 32) | ((uint64_t)(J) << 16) | (uint64_t)(I));                  \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_WS_ADDRS_AB, A, B);                                           \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_WS_ADDRS_DC, D, C);                                           \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_WS_STRIDES_AB, A_stride, B_stride);                           \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_WS_STRIDES_DC, D_stride, C_stride);                           \
    GEMMINI_ISSUE_DMA(GEMMINI_FUNCT_LOOP_WS,                                                       \
                      ((uint64_t)(a_spad_id) << 18) | ((uint64_t)(b_spad_id) << 16) |              \
                          ((uint64_t)(act) << 8) | ((uint64_t)(low_D) << 2) |                      \
                          ((uint64_t)(full_C) << 1) | (uint64_t)(ex_accumulate),                   \
                      ((uint64_t)(is_resadd) << 2) | ((uint64_t)(B_transpose) << 1) |              \
                          (uint64_t)(A_transpose));                                                \
  } while (0)

/* The sizes of a convolution, in the fields that the machine's loop unit reads: an older one
   knows square images only, and no strides. */
#ifdef GEMMINI_LOOP_CONV_SQUARE
#define GEMMINI_LOOP_CONV_SIZES(                                                                   \
    batch_size, in_row_dim, in_col_dim, in_channels, out_channels, out_row_dim, out_col_dim,       \
    pool_out_row_dim, pool_out_col_dim, stride, padding, kernel_dim, kernel_dilation, pool_size,   \
    pool_stride, pool_padding, batches, porows, pocols, pochs, krows, kcols, kchs, lpad, rpad,     \
    upad, dpad, plpad, prpad, pupad, pdpad, orows, ocols, in_stride, weight_stride, out_stride)    \
  do {                                                                                             \
    if ((in_row_dim) != (in_col_dim) || (out_row_dim) != (out_col_dim) ||                          \
        (pool_out_row_dim) != (pool_out_col_dim))                                                  \
      gemmini_unsupported("gemmini_loop_conv_ws: this machine's loop knows square images only; "   \
                          "in_row_dim and in_col_dim must be the same, and so on");                \
    if ((in_stride) != (in_channels) || (weight_stride) != (out_channels) ||                       \
        (out_stride) != (out_channels))                                                            \
      gemmini_unsupported("gemmini_loop_conv_ws: this machine's loop knows no strides; "           \
                          "in_stride, weight_stride and out_stride must be the channels");         \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_1,                                                    \
                  ((uint64_t)(out_channels) << 48) | ((uint64_t)(in_channels) << 32) |             \
                      ((uint64_t)(in_row_dim) << 16) | (uint64_t)(batch_size),                     \
                  ((uint64_t)(padding) << 48) | ((uint64_t)(stride) << 32) |                       \
                      ((uint64_t)(pool_out_row_dim) << 16) | (uint64_t)(out_row_dim));             \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_2,                                                    \
                  ((uint64_t)(kernel_dim) << 48) | ((uint64_t)(pool_size) << 32) |                 \
                      ((uint64_t)(pool_stride) << 16) | (uint64_t)(pool_padding),                  \
                  ((uint64_t)(batches) << 48) | ((uint64_t)(porows) << 32) |                       \
                      ((uint64_t)(pocols) << 16) | (uint64_t)(pochs));                             \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_3,                                                    \
                  ((uint64_t)(krows) << 48) | ((uint64_t)(kcols) << 32) |                          \
                      ((uint64_t)(kchs) << 16) | (uint64_t)(lpad),                                 \
                  ((uint64_t)(rpad) << 48) | ((uint64_t)(upad) << 32) |                            \
                      ((uint64_t)(dpad) << 16) | (uint64_t)(plpad));                               \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_4,                                                    \
                  ((uint64_t)(orows) << 48) | ((uint64_t)(prpad) << 32) |                          \
                      ((uint64_t)(pupad) << 16) | (uint64_t)(pdpad),                               \
                  ((uint64_t)(kernel_dilation) << 16) | (uint64_t)(ocols));                        \
  } while (0)
#else
#define GEMMINI_LOOP_CONV_SIZES(                                                                   \
    batch_size, in_row_dim, in_col_dim, in_channels, out_channels, out_row_dim, out_col_dim,       \
    pool_out_row_dim, pool_out_col_dim, stride, padding, kernel_dim, kernel_dilation, pool_size,   \
    pool_stride, pool_padding, batches, porows, pocols, pochs, krows, kcols, kchs, lpad, rpad,     \
    upad, dpad, plpad, prpad, pupad, pdpad, orows, ocols, in_stride, weight_stride, out_stride)    \
  do {                                                                                             \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_1,                                                    \
                  ((uint64_t)(out_channels) << 48) | ((uint64_t)(in_channels) << 32) |             \
                      ((uint64_t)(in_row_dim) << 16) | (uint64_t)(batch_size),                     \
                  ((uint64_t)(padding) << 56) | ((uint64_t)(stride) << 48) |                       \
                      ((uint64_t)(out_col_dim) << 32) | ((uint64_t)(pool_out_row_dim) << 16) |     \
                      (uint64_t)(out_row_dim));                                                    \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_2,                                                    \
                  ((uint64_t)(kernel_dim) << 48) | ((uint64_t)(pool_out_col_dim) << 32) |          \
                      ((uint64_t)(pool_size) << 16) | ((uint64_t)(pool_stride) << 8) |             \
                      (uint64_t)(pool_padding),                                                    \
                  ((uint64_t)(batches) << 48) | ((uint64_t)(porows) << 32) |                       \
                      ((uint64_t)(pocols) << 16) | (uint64_t)(pochs));                             \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_3,                                                    \
                  ((uint64_t)(krows) << 48) | ((uint64_t)(kcols) << 32) |                          \
                      ((uint64_t)(kchs) << 16) | (uint64_t)(lpad),                                 \
                  ((uint64_t)(rpad) << 48) | ((uint64_t)(upad) << 32) |                            \
                      ((uint64_t)(dpad) << 24) | ((uint64_t)(plpad) << 16) |                       \
                      (uint64_t)(in_col_dim));                                                     \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_4,                                                    \
                  ((uint64_t)(orows) << 48) | ((uint64_t)(prpad) << 32) |                          \
                      ((uint64_t)(pupad) << 21) | ((uint64_t)(pdpad) << 10) |                      \
                      (uint64_t)(kernel_dilation),                                                 \
                  ((uint64_t)(in_stride) << 48) | ((uint64_t)(weight_stride) << 32) |              \
                      ((uint64_t)(out_stride) << 16) | (uint64_t)(ocols));                         \
  } while (0)
#endif

#define gemmini_loop_conv_ws(                                                                      \
    batch_size, in_row_dim, in_col_dim, in_channels, out_channels, out_row_dim, out_col_dim,       \
    pool_out_row_dim, pool_out_col_dim, stride, padding, kernel_dim, kernel_dilation, pool_size,   \
    pool_stride, pool_padding, batches, porows, pocols, pochs, krows, kcols, kchs, lpad, rpad,     \
    upad, dpad, plpad, prpad, pupad, pdpad, orows, ocols, weights, output, bias, input, no_bias,   \
    no_pool, downsample, wrot180, input_dilated, activation, trans_output_1203,                    \
    trans_weight_1203, trans_weight_0132, trans_input_3120, max_pixels_per_row, in_stride,         \
    weight_stride, out_stride, dw, a_spad_id, b_spad_id)                                           \
  do {                                                                                             \
    GEMMINI_LOOP_CONV_SIZES(                                                                       \
        batch_size, in_row_dim, in_col_dim, in_channels, out_channels, out_row_dim, out_col_dim,   \
        pool_out_row_dim, pool_out_col_dim, stride, padding, kernel_dim, kernel_dilation,          \
        pool_size, pool_stride, pool_padding, batches, porows, pocols, pochs, krows, kcols, kchs,  \
        lpad, rpad, upad, dpad, plpad, prpad, pupad, pdpad, orows, ocols, in_stride,               \
        weight_stride, out_stride);                                                                \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_5, weights, output);                                  \
    GEMMINI_ISSUE(GEMMINI_FUNCT_LOOP_CONV_WS_6, bias, input);                                      \
    GEMMINI_ISSUE_DMA(GEMMINI_FUNCT_LOOP_CONV_WS,                                                  \
                      ((uint64_t)(a_spad_id) << 18) | ((uint64_t)(b_spad_id) << 16) |              \
                          ((uint64_t)(max_pixels_per_row) << 8) | ((uint64_t)(dw) << 6) |          \
                          ((uint64_t)(trans_input_3120) << 5) |                                    \
                          ((uint64_t)(trans_weight_0132) << 4) |                                   \
                          ((uint64_t)(trans_weight_1203) << 3) |                                   \
                          ((uint64_t)(trans_output_1203) << 2) | ((uint64_t)(wrot180) << 1) |      \
                          (uint64_t)(no_bias),                                                     \
                      ((uint64_t)(activation) << 3) | ((uint64_t)(input_dilated) << 2) |           \
                          ((uint64_t)(downsample) << 1) | (uint64_t)(no_pool));                    \
  } while (0)

/* ---- order and state ---- */

/* Waits until every earlier command is complete and its results are in memory. */
#define gemmini_fence() __asm__ volatile("fence" ::: "memory")
#define fence() gemmini_fence()

/* Empties the accelerator's translation buffer. */
#define gemmini_flush(skip) GEMMINI_ISSUE(GEMMINI_FUNCT_FLUSH, skip, 0)

/* ---- counters ---- */

#define gemmini_counter_access(rd, config)                                                         \
  __asm__ volatile(".insn r 0x7b, 7, 126, %0, %1, x0" : "=r"(rd) : "r"((uint64_t)(config)))

/* Connects counter `index` to an event: 1 to 44 as numbered by the hardware,
   45 and above for external counter `event - 44`. */
static inline __attribute__((always_inline, unused)) void counter_configure(uint64_t index,
                                                                            uint64_t event) {
  uint64_t reply;
  uint64_t external = 44 < event;
  gemmini_counter_access(reply, (index & 7) << 4 | 1 << 3 |
                                    ((external ? event - 44 : event) & 0x3f) << 12 |
                                    external << 31);
  (void)reply;
}
/* Reads counter `index`. */
static inline __attribute__((always_inline, unused)) uint32_t counter_read(uint64_t index) {
  uint64_t reply;
  gemmini_counter_access(reply, (index & 7) << 4);
  return (uint32_t)reply;
}
/* Sets every counter to zero. */
static inline __attribute__((always_inline, unused)) void counter_reset(void) {
  uint64_t reply;
  gemmini_counter_access(reply, 1);
  (void)reply;
}
/* Freezes the values that counter_read returns. */
static inline __attribute__((always_inline, unused)) void counter_snapshot_take(void) {
  uint64_t reply;
  gemmini_counter_access(reply, 1 << 2);
  (void)reply;
}
/* Lets counter_read return running values again. */
static inline __attribute__((always_inline, unused)) void counter_snapshot_reset(void) {
  uint64_t reply;
  gemmini_counter_access(reply, 1 << 1);
  (void)reply;
}

/* Cycles since reset. */
static inline __attribute__((always_inline, unused)) uint64_t read_cycles(void) {
  uint64_t cycles;
  __asm__ volatile("rdcycle %0" : "=r"(cycles)::"memory");
  return cycles;
}

/* ---- whole operations ---- */

#include "gemmini_tiled.h"

#endif

#endif
