/* Whole matrix products and convolutions under the customary names, in the
   manner of the usual library for Gemmini: tiles by rule, issued through the
   hardware loops, the last command a fence. Unused ones cost nothing.

   What these do not support ends the program rather than in wrong numbers, with a text
   that names the argument: what is wrong, and behind a semicolon what to do. */
#ifndef GEMMINI_TILED_H
#define GEMMINI_TILED_H

/* The hardware loops are weight stationary; OS is taken as WS, with equal results. */
enum tiled_matmul_type_t { OS, WS, CPU };

typedef acc_t scale_acc_t;

/* For the functions below only. */
#define GEMMINI_INTERNAL static inline __attribute__((unused))

/* Local rows and accumulator rows that a call may use: the loops take the
   halves of both memories in turn. */
#define GEMMINI_HALF_SPAD (BANK_NUM * BANK_ROWS / 2)
#define GEMMINI_HALF_ACC (ACC_ROWS / 2)

GEMMINI_INTERNAL size_t gemmini_least(size_t a, size_t b) { return a < b ? a : b; }
GEMMINI_INTERNAL size_t gemmini_tiles(size_t elements) { return (elements + DIM - 1) / DIM; }

/* A sum as it leaves the accumulator, and an element as it is moved in with a scale. */
GEMMINI_INTERNAL elem_t gemmini_to_element(float value) {
#ifdef ELEM_T_IS_FLOAT
  return value;
#else
  int32_t whole;
  __asm__("fcvt.w.s %0, %1, rne" : "=r"(whole) : "f"(value));
  return whole > elem_t_max ? elem_t_max : whole < elem_t_min ? elem_t_min : whole;
#endif
}

/* The definition, by the core: C = A B + D or, with `subtract`, A B - D. */
GEMMINI_INTERNAL void gemmini_matmul_cpu(size_t I, size_t J, size_t K, const elem_t *A, const elem_t *B,
                                       const void *D, void *C, size_t stride_A, size_t stride_B,
                                       size_t stride_D, size_t stride_C, scale_t A_scale,
                                       scale_t B_scale, scale_acc_t D_scale, int act,
                                       acc_scale_t scale, bool transpose_A, bool transpose_B,
                                       bool full_C, bool low_D, bool subtract) {
  if (act != NO_ACTIVATION && act != RELU)
    gemmini_unsupported("tiled_matmul_auto: activations other than NO_ACTIVATION and RELU are not supported; "
                        "send the commands yourself: config_st with the activation, behind the products");
  for (size_t i = 0; i < I; i++) {
    for (size_t j = 0; j < J; j++) {
      acc_t sum = 0;
      if (D) {
        acc_t addend = low_D ? ((const elem_t *)D)[i * stride_D + j] : ((const acc_t *)D)[i * stride_D + j];
        sum = (subtract ? -addend : addend) * D_scale;
      }
      for (size_t k = 0; k < K; k++) {
        elem_t a = transpose_A ? A[k * stride_A + i] : A[i * stride_A + k];
        elem_t b = transpose_B ? B[j * stride_B + k] : B[k * stride_B + j];
        if (A_scale != MVIN_SCALE_IDENTITY) a = gemmini_to_element(a * A_scale);
        if (B_scale != MVIN_SCALE_IDENTITY) b = gemmini_to_element(b * B_scale);
        sum += (acc_t)a * b;
      }
      if (full_C) {
        ((acc_t *)C)[i * stride_C + j] = sum;
      } else {
        if (act == RELU && sum < 0) sum = 0;
        ((elem_t *)C)[i * stride_C + j] = gemmini_to_element(sum * scale);
      }
    }
  }
}

/* C = activation(scale (A B + D)). A is dim_I x dim_K and B dim_K x dim_J, or
   their transposes; strides in elements; no D if it is null, one row of it for
   all if `repeating_bias`; `full_C`: sums as they are, `low_D`: D of elements.
   Activations: none and ReLU. `bert_scale` and `weightA` have no effect. */
static inline __attribute__((unused)) void tiled_matmul_auto(size_t dim_I, size_t dim_J, size_t dim_K, const elem_t *A,
                                      const elem_t *B, const void *D, void *C, size_t stride_A,
                                      size_t stride_B, size_t stride_D, size_t stride_C,
                                      scale_t A_scale_factor, scale_t B_scale_factor,
                                      scale_acc_t D_scale_factor, int act, acc_scale_t scale,
                                      acc_scale_t bert_scale, bool repeating_bias, bool transpose_A,
                                      bool transpose_B, bool full_C, bool low_D, uint8_t weightA,
                                      enum tiled_matmul_type_t tiled_matmul_type) {
  (void)bert_scale;
  (void)weightA;
  if (repeating_bias) stride_D = 0;
  if (tiled_matmul_type == CPU) {
    gemmini_matmul_cpu(dim_I, dim_J, dim_K, A, B, D, C, stride_A, stride_B, stride_D, stride_C,
                       A_scale_factor, B_scale_factor, D_scale_factor, act, scale, transpose_A,
                       transpose_B, full_C, low_D, false);
    return;
  }
  if (act != NO_ACTIVATION && act != RELU)
    gemmini_unsupported("tiled_matmul_auto: activations other than NO_ACTIVATION and RELU are not supported; "
                        "send the commands yourself: config_st with the activation, behind the products");
  const size_t It = gemmini_tiles(dim_I);
  const size_t Jt = gemmini_tiles(dim_J);
  const size_t Kt = gemmini_tiles(dim_K);
  // From the square root of half the accumulator, grown in turn while it fits.
  size_t side = 1;
  while ((side + 1) * (side + 1) * DIM <= GEMMINI_HALF_ACC) side++;
  size_t I = gemmini_least(It, side);
  size_t J = gemmini_least(Jt, side);
  size_t K = gemmini_least(Kt, GEMMINI_HALF_SPAD / 2 / DIM / side);
  for (bool grown = true; grown;) {
    grown = false;
    if (J < Jt && (I + J + 1) * K * DIM <= GEMMINI_HALF_SPAD && I * (J + 1) * DIM <= GEMMINI_HALF_ACC) {
      J++;
      grown = true;
    }
    if (I < It && (I + 1 + J) * K * DIM <= GEMMINI_HALF_SPAD && (I + 1) * J * DIM <= GEMMINI_HALF_ACC) {
      I++;
      grown = true;
    }
    if (K < Kt && (I + J) * (K + 1) * DIM <= GEMMINI_HALF_SPAD) {
      K++;
      grown = true;
    }
  }
  const size_t C_size = full_C ? sizeof(acc_t) : sizeof(elem_t);
  const size_t D_size = low_D ? sizeof(elem_t) : sizeof(acc_t);
  gemmini_extended_config_ex(WEIGHT_STATIONARY, act, 0, 1, transpose_A, transpose_B);
  gemmini_extended_config_st(stride_C * C_size, act, scale);
  gemmini_extended3_config_ld(stride_A * sizeof(elem_t), A_scale_factor, false, 0);
  gemmini_extended3_config_ld(stride_B * sizeof(elem_t), B_scale_factor, false, 1);
  gemmini_extended3_config_ld(stride_D * D_size, (float)D_scale_factor, low_D, 2);
  // An operand of at most two blocks stays in the halves of the scratchpad.
  const size_t K_blocks = (Kt + K - 1) / K;
  const bool keep_A = (It + I - 1) / I * K_blocks <= 2;
  const bool keep_B = (Jt + J - 1) / J * K_blocks <= 2;
  for (size_t i = 0; i < It; i += I) {
    const size_t rows = gemmini_least(I, It - i);
    const size_t pad_I = i + rows == It ? It * DIM - dim_I : 0;
    for (size_t j = 0; j < Jt; j += J) {
      const size_t columns = gemmini_least(J, Jt - j);
      const size_t pad_J = j + columns == Jt ? Jt * DIM - dim_J : 0;
      for (size_t k = 0; k < Kt; k += K) {
        const size_t depth = gemmini_least(K, Kt - k);
        const bool last = k + depth == Kt;
        const elem_t *a = A + (transpose_A ? k * stride_A + i : i * stride_A + k) * DIM;
        const elem_t *b = B + (transpose_B ? j * stride_B + k : k * stride_B + j) * DIM;
        const void *d = D && k == 0 ? (const char *)D + (i * stride_D + j) * DIM * D_size : 0;
        void *c = last ? (char *)C + (i * stride_C + j) * DIM * C_size : 0;
        gemmini_loop_ws(rows, columns, depth, pad_I, pad_J, last ? Kt * DIM - dim_K : 0,
                        keep_A && j != 0 ? 0 : a, keep_B && i != 0 ? 0 : b, d, c, stride_A, stride_B,
                        stride_D, stride_C, transpose_A, transpose_B, full_C, low_D, D || k != 0, act,
                        keep_A ? 1 + (i + k != 0) : 0, keep_B ? 1 + (j + k != 0) : 0, false);
      }
    }
  }
  gemmini_fence();
}

/* C = A B, by the core; arrays without gaps, A I x K and B K x J or their transposes. */
#define tiled_matmul_outer_eigen(A, B, C, I, K, J, transpose_A, transpose_B)                       \
  tiled_matmul_outer_eigen_bias(A, B, 0, C, I, K, J, transpose_A, transpose_B, false)
/* C = A B + D or, with `subtract`, A B - D, by the core. */
#define tiled_matmul_outer_eigen_bias(A, B, D, C, I, K, J, transpose_A, transpose_B, subtract)     \
  gemmini_matmul_cpu(I, J, K, (const elem_t *)(A), (const elem_t *)(B), (const void *)(D),         \
                     (void *)(C), (transpose_A) ? (I) : (K), (transpose_B) ? (K) : (J), J, J,      \
                     MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, 1, NO_ACTIVATION,                   \
                     ACC_SCALE_IDENTITY, transpose_A, transpose_B, false, false, subtract)

/* A convolution: input [batch][row][column][channel], weights
   [row][column][input channel][output channel], bias of output channels or null,
   output [batch][row][column][channel], `padding` zeros around the input.
   Not supported: dilated inputs, rotated weights, other orders of dimensions,
   pooling, activations other than ReLU. */
static inline __attribute__((unused)) void tiled_conv_auto(int batch_size, int in_row_dim, int in_col_dim, int in_channels,
                                    int out_channels, int out_row_dim, int out_col_dim, int stride,
                                    int input_dilation, int kernel_dilation, int padding,
                                    int kernel_dim, bool wrot180, bool trans_output_1203,
                                    bool trans_input_3120, bool trans_weight_1203,
                                    bool trans_weight_0132, const elem_t *input,
                                    const elem_t *weights, const acc_t *bias, elem_t *output, int act,
                                    acc_scale_t scale, int pool_size, int pool_stride,
                                    int pool_padding, enum tiled_matmul_type_t tiled_conv_type) {
  (void)pool_size;
  (void)pool_padding;
  if (input_dilation != 1 || wrot180 || trans_output_1203 || trans_input_3120 || trans_weight_1203 ||
      trans_weight_0132 || pool_stride != 0 || (act != NO_ACTIVATION && act != RELU)) {
    if (input_dilation != 1)
      gemmini_unsupported("tiled_conv_auto: input_dilation other than 1 is not supported; use gemmini_loop_conv_ws");
    if (wrot180) gemmini_unsupported("tiled_conv_auto: wrot180 is not supported; use gemmini_loop_conv_ws");
    if (trans_output_1203)
      gemmini_unsupported("tiled_conv_auto: trans_output_1203 is not supported; use gemmini_loop_conv_ws");
    if (trans_input_3120)
      gemmini_unsupported("tiled_conv_auto: trans_input_3120 is not supported; use gemmini_loop_conv_ws");
    if (trans_weight_1203)
      gemmini_unsupported("tiled_conv_auto: trans_weight_1203 is not supported; use gemmini_loop_conv_ws");
    if (trans_weight_0132)
      gemmini_unsupported("tiled_conv_auto: trans_weight_0132 is not supported; use gemmini_loop_conv_ws");
    if (pool_stride != 0)
      gemmini_unsupported("tiled_conv_auto: pooling is not supported, pool_stride must be 0; "
                          "use gemmini_loop_conv_ws, which pools");
    gemmini_unsupported("tiled_conv_auto: activations other than NO_ACTIVATION and RELU are not supported; "
                        "use gemmini_loop_conv_ws");
  }
  const int reach = kernel_dim + (kernel_dilation - 1) * (kernel_dim - 1);
  if (tiled_conv_type == CPU) {
    for (int b = 0; b < batch_size; b++) {
      for (int y = 0; y < out_row_dim; y++) {
        for (int x = 0; x < out_col_dim; x++) {
          for (int o = 0; o < out_channels; o++) {
            acc_t sum = bias ? bias[o] : 0;
            for (int ky = 0; ky < kernel_dim; ky++) {
              for (int kx = 0; kx < kernel_dim; kx++) {
                const int row = y * stride + ky * kernel_dilation - padding;
                const int column = x * stride + kx * kernel_dilation - padding;
                if (row < 0 || in_row_dim <= row || column < 0 || in_col_dim <= column) continue;
                for (int c = 0; c < in_channels; c++) {
                  sum += (acc_t)input[((b * in_row_dim + row) * in_col_dim + column) * in_channels + c] *
                         weights[((ky * kernel_dim + kx) * in_channels + c) * out_channels + o];
                }
              }
            }
            if (act == RELU && sum < 0) sum = 0;
            output[((b * out_row_dim + y) * out_col_dim + x) * out_channels + o] =
                gemmini_to_element(sum * scale);
          }
        }
      }
    }
    return;
  }
  // All there is; then less of what takes most until half of each memory suffices.
  int rows = out_row_dim, columns = out_col_dim, outs = out_channels, ins = in_channels;
  for (;;) {
    const int image = (int)gemmini_tiles(ins) * (rows * stride + reach - 1) * (columns * stride + reach - 1);
    const int filter = (int)gemmini_tiles(outs) * kernel_dim * kernel_dim * ins;
    const int sums = (int)gemmini_tiles(outs) * rows * columns;
    const bool sums_fit = sums <= GEMMINI_HALF_ACC;
    if (sums_fit && image + filter <= GEMMINI_HALF_SPAD) break;
    if (DIM < outs && (sums_fit ? image < filter : rows * columns <= 2 * outs)) {
      outs = (int)(gemmini_tiles(outs) - 1) * DIM;
    } else if (1 < rows) {
      rows--;
    } else if (DIM < ins) {
      ins = (int)(gemmini_tiles(ins) - 1) * DIM;
    } else if (DIM < outs) {
      outs = (int)(gemmini_tiles(outs) - 1) * DIM;
    } else if (1 < columns) {
      columns--;
    } else {
      gemmini_unsupported("tiled_conv_auto: the window of one output does not fit half of the scratchpad; "
                          "split the convolution by channels or by rows of the kernel");
    }
  }
  int pixels = ins == in_channels && ins <= DIM && kernel_dilation == 1 ? DIM / ins : 1;
  if (kernel_dim < pixels) pixels = kernel_dim;
  // The pixels of a row of outputs stand `stride` rows apart.
  gemmini_extended_config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, stride, false, false);
  gemmini_extended_config_st(out_channels * sizeof(elem_t), act, scale);
  for (int b = 0; b < batch_size; b++) {
    for (int y = 0; y < out_row_dim; y += rows) {
      const int orows = y + rows < out_row_dim ? rows : out_row_dim - y;
      const int row = y * stride - padding;
      const int row_end = row + orows * stride + reach - 1;
      const int upad = row < 0 ? -row : 0;
      const int dpad = in_row_dim < row_end ? row_end - in_row_dim : 0;
      for (int x = 0; x < out_col_dim; x += columns) {
        const int ocols = x + columns < out_col_dim ? columns : out_col_dim - x;
        const int column = x * stride - padding;
        const int column_end = column + ocols * stride + reach - 1;
        const int lpad = column < 0 ? -column : 0;
        const int rpad = in_col_dim < column_end ? column_end - in_col_dim : 0;
        for (int o = 0; o < out_channels; o += outs) {
          const int ochs = o + outs < out_channels ? outs : out_channels - o;
          for (int c = 0; c < in_channels; c += ins) {
            const int kchs = c + ins < in_channels ? ins : in_channels - c;
            gemmini_loop_conv_ws(
                batch_size, in_row_dim, in_col_dim, in_channels, out_channels, out_row_dim,
                out_col_dim, out_row_dim, out_col_dim, stride, padding, kernel_dim, kernel_dilation, 1,
                1, 0, 1, orows, ocols, ochs, kernel_dim, kernel_dim, kchs, lpad, rpad, upad, dpad, 0, 0,
                0, 0, orows, ocols, weights + (size_t)c * out_channels + o,
                c + kchs == in_channels
                    ? output + ((size_t)(b * out_row_dim + y) * out_col_dim + x) * out_channels + o
                    : 0,
                c != 0 ? 0 : bias ? bias + o : (const acc_t *)1,
                input + ((size_t)(b * in_row_dim + row + upad) * in_col_dim + column + lpad) * in_channels + c,
                bias == 0, 1, 0, 0, 0, act, 0, 0, 0, 0, pixels, in_channels, out_channels,
                out_channels, 0, 0, 0);
          }
        }
      }
    }
  }
  gemmini_fence();
}

#endif
