// Blocks of 64x64, 64 deep; 32x32 results for each of four warps with mma of bytes.
#define DEEP 64
#define PAD 16
__global__ void __launch_bounds__(128) multiply(const signed char* __restrict__ a, const signed char* __restrict__ b, int* __restrict__ c) {
  __shared__ signed char sa[2][64][DEEP + PAD], sb[2][64][DEEP + PAD];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  int own_row = warp / 2 * 32, own_column = warp % 2 * 32;
  int sum[2][4][4] = {};
  auto copy = [&](int at, int k) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      int piece = t + i * 128;
      __pipeline_memcpy_async(&sa[at][piece / 4][piece % 4 * 16], &a[(row + piece / 4) * {{ K }} + k + piece % 4 * 16], 16);
      __pipeline_memcpy_async(&sb[at][piece / 4][piece % 4 * 16], &b[(column + piece / 4) * {{ K }} + k + piece % 4 * 16], 16);
    }
    __pipeline_commit();
  };
  copy(0, 0);
  for (int k = 0, at = 0; k < {{ K }}; k += DEEP, at ^= 1) {
    if (k + DEEP < {{ K }}) {
      copy(at ^ 1, k + DEEP);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < DEEP; inner += 32) {
      int from = inner + lane % 4 * 4;
      unsigned u[2][4], v[4][2];
#pragma unroll
      for (int m = 0; m < 2; m++)
#pragma unroll
        for (int part = 0; part < 4; part++)
          u[m][part] = *(const unsigned*)&sa[at][own_row + m * 16 + lane / 4 + part % 2 * 8][from + part / 2 * 16];
#pragma unroll
      for (int n = 0; n < 4; n++)
#pragma unroll
        for (int part = 0; part < 2; part++)
          v[n][part] = *(const unsigned*)&sb[at][own_column + n * 8 + lane / 4][from + part * 16];
#pragma unroll
      for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 4; n++)
          asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 { %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, { %0, %1, %2, %3};"
                       : "+r"(sum[m][n][0]), "+r"(sum[m][n][1]), "+r"(sum[m][n][2]), "+r"(sum[m][n][3])
                       : "r"(u[m][0]), "r"(u[m][1]), "r"(u[m][2]), "r"(u[m][3]), "r"(v[n][0]), "r"(v[n][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int n = 0; n < 4; n++) {
      int r = row + own_row + m * 16 + lane / 4, k = column + own_column + n * 8 + lane % 4 * 2;
      *(int2*)&c[r * {{ N }} + k] = make_int2(sum[m][n][0], sum[m][n][1]);
      *(int2*)&c[(r + 8) * {{ N }} + k] = make_int2(sum[m][n][2], sum[m][n][3]);
    }
}

void solution(const signed char* A, const signed char* B, int* C) {
  multiply<<<dim3({{ N }} / 64, {{ M }} / 64), 128>>>(A, B, C);
}
