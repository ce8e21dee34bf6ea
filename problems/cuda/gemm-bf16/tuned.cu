// Blocks of 64x64, 32 deep, copied asynchronously; 32x32 results for each of four warps with mma.
#define DEEP 32
#define PAD 8
__global__ void __launch_bounds__(128) multiply(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ c) {
  __shared__ __nv_bfloat16 sa[2][64][DEEP + PAD], sb[2][DEEP][64 + PAD];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  int own_row = warp / 2 * 32, own_column = warp % 2 * 32;
  float sum[2][4][4] = {};
  auto copy = [&](int at, int k) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      int piece = t + i * 128;
      __pipeline_memcpy_async(&sa[at][piece / 4][piece % 4 * 8], &a[(row + piece / 4) * {{ K }} + k + piece % 4 * 8], 16);
      __pipeline_memcpy_async(&sb[at][piece / 8][piece % 8 * 8], &b[(k + piece / 8) * {{ N }} + column + piece % 8 * 8], 16);
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
    for (int inner = 0; inner < DEEP; inner += 16) {
      unsigned u[2][4], v[4][2];
#pragma unroll
      for (int m = 0; m < 2; m++) {
        unsigned from = __cvta_generic_to_shared(&sa[at][own_row + m * 16 + lane % 16][inner + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 { %0, %1, %2, %3}, [%4];"
                     : "=r"(u[m][0]), "=r"(u[m][1]), "=r"(u[m][2]), "=r"(u[m][3]) : "r"(from) : "memory");
      }
#pragma unroll
      for (int n = 0; n < 4; n++) {
        unsigned from = __cvta_generic_to_shared(&sb[at][inner + lane % 16][own_column + n * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 { %0, %1}, [%2];"
                     : "=r"(v[n][0]), "=r"(v[n][1]) : "r"(from) : "memory");
      }
#pragma unroll
      for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 4; n++)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 { %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, { %0, %1, %2, %3};"
                       : "+f"(sum[m][n][0]), "+f"(sum[m][n][1]), "+f"(sum[m][n][2]), "+f"(sum[m][n][3])
                       : "r"(u[m][0]), "r"(u[m][1]), "r"(u[m][2]), "r"(u[m][3]), "r"(v[n][0]), "r"(v[n][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int n = 0; n < 4; n++) {
      int r = row + own_row + m * 16 + lane / 4, k = column + own_column + n * 8 + lane % 4 * 2;
      *(float2*)&c[r * {{ N }} + k] = make_float2(sum[m][n][0], sum[m][n][1]);
      *(float2*)&c[(r + 8) * {{ N }} + k] = make_float2(sum[m][n][2], sum[m][n][3]);
    }
}

void solution(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C) {
  multiply<<<dim3({{ N }} / 64, {{ M }} / 64), 128>>>(A, B, C);
}
