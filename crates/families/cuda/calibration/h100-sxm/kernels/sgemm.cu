// C = A B, row-major float n x n, n a multiple of 128. No tensor cores.
#include "common.cuh"

// one thread per output, 16x16 blocks, x along columns
__global__ void sg_naive(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  float s = 0.0f;
  for (int k = 0; k < n; k++) s += A[(size_t)r * n + k] * B[(size_t)k * n + c];
  C[(size_t)r * n + c] = s;
}
// x along rows: the lanes of a warp read 32 rows of A and write 32 rows of C
__global__ void sg_uncoalesced(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  int r = blockIdx.x * 32 + threadIdx.x, c = blockIdx.y * 32 + threadIdx.y;
  float s = 0.0f;
  for (int k = 0; k < n; k++) s += A[(size_t)r * n + k] * B[(size_t)k * n + c];
  C[(size_t)r * n + c] = s;
}
// 32x32 outputs per 1024-thread block, a warp along a row
__global__ void sg_coalesced(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  int r = blockIdx.y * 32 + (threadIdx.x >> 5), c = blockIdx.x * 32 + (threadIdx.x & 31);
  float s = 0.0f;
  for (int k = 0; k < n; k++) s += A[(size_t)r * n + k] * B[(size_t)k * n + c];
  C[(size_t)r * n + c] = s;
}
__global__ void sg_shared(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ float a[32][32], b[32][32];
  int ty = threadIdx.x >> 5, tx = threadIdx.x & 31;
  size_t r = blockIdx.y * 32 + ty, c = blockIdx.x * 32 + tx;
  float s = 0.0f;
  for (int k0 = 0; k0 < n; k0 += 32) {
    a[ty][tx] = A[r * n + k0 + tx];
    b[ty][tx] = B[(size_t)(k0 + ty) * n + c];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k++) s += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  C[r * n + c] = s;
}
// 64x64 per block of 512, each thread a column of 8
__global__ void __launch_bounds__(512) sg_tile1d(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ float a[64][8], b[8][64];
  int t = threadIdx.x, tc = t & 63, tr = t >> 6;
  size_t r0 = blockIdx.y * 64, c0 = blockIdx.x * 64;
  float s[8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
    a[t >> 3][t & 7] = A[(r0 + (t >> 3)) * n + k0 + (t & 7)];
    b[t >> 6][t & 63] = B[(size_t)(k0 + (t >> 6)) * n + c0 + (t & 63)];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float v = b[k][tc];
#pragma unroll
      for (int i = 0; i < 8; i++) s[i] += a[tr * 8 + i][k] * v;
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++) C[(r0 + tr * 8 + i) * n + c0 + tc] = s[i];
}
// 128x128 per block of 256, 8x8 per thread, scalar accesses everywhere
__global__ void __launch_bounds__(256) sg_tile2d(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ float a[128][8], b[8][128];
  int t = threadIdx.x, tc = t & 15, tr = t >> 4;
  size_t r0 = blockIdx.y * 128, c0 = blockIdx.x * 128;
  float s[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      a[(t >> 3) + i * 32][t & 7] = A[(r0 + (t >> 3) + i * 32) * n + k0 + (t & 7)];
      b[(t >> 7) + i * 2][t & 127] = B[(size_t)(k0 + (t >> 7) + i * 2) * n + c0 + (t & 127)];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float x[8], y[8];
#pragma unroll
      for (int i = 0; i < 8; i++) x[i] = a[tr * 8 + i][k];
#pragma unroll
      for (int j = 0; j < 8; j++) y[j] = b[k][tc + j * 16];
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) s[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) C[(r0 + tr * 8 + i) * n + c0 + tc + j * 16] = s[i][j];
}
// the same tile, A transposed on its way into shared memory, all accesses float4
__global__ void __launch_bounds__(256) sg_vector(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ __align__(16) float a[8][128], b[8][128];
  int t = threadIdx.x, tc = t & 15, tr = t >> 4;
  size_t r0 = blockIdx.y * 128, c0 = blockIdx.x * 128;
  float s[8][8] = {};
  int ar = t >> 1, ak = (t & 1) * 4, bk = t >> 5, bc = (t & 31) * 4;
  for (int k0 = 0; k0 < n; k0 += 8) {
    float4 v = *reinterpret_cast<const float4*>(&A[(r0 + ar) * n + k0 + ak]);
    a[ak + 0][ar] = v.x;
    a[ak + 1][ar] = v.y;
    a[ak + 2][ar] = v.z;
    a[ak + 3][ar] = v.w;
    *reinterpret_cast<float4*>(&b[bk][bc]) = *reinterpret_cast<const float4*>(&B[(size_t)(k0 + bk) * n + c0 + bc]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      __align__(16) float x[8], y[8];
      *reinterpret_cast<float4*>(&x[0]) = *reinterpret_cast<float4*>(&a[k][tr * 8]);
      *reinterpret_cast<float4*>(&x[4]) = *reinterpret_cast<float4*>(&a[k][tr * 8 + 4]);
      *reinterpret_cast<float4*>(&y[0]) = *reinterpret_cast<float4*>(&b[k][tc * 4]);
      *reinterpret_cast<float4*>(&y[4]) = *reinterpret_cast<float4*>(&b[k][tc * 4 + 64]);
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) s[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 2; j++)
      *reinterpret_cast<float4*>(&C[(r0 + tr * 8 + i) * n + c0 + tc * 4 + j * 64]) =
          make_float4(s[i][j * 4], s[i][j * 4 + 1], s[i][j * 4 + 2], s[i][j * 4 + 3]);
}
// 128x128x16 per block of 8 warps (4x2), warp 32x64, lanes 4x8, thread 2x2 pieces of 4x4
__global__ void __launch_bounds__(256) sg_warptile(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ __align__(16) float a[16][132], b[16][128];
  int t = threadIdx.x, w = t >> 5, l = t & 31;
  int wr = (w >> 1) * 32, wc = (w & 1) * 64, lr = (l >> 3) * 4, lc = (l & 7) * 4;
  size_t r0 = blockIdx.y * 128, c0 = blockIdx.x * 128;
  float s[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int ar = (t >> 2) + h * 64, ak = (t & 3) * 4, bk = (t >> 5) + h * 8, bc = (t & 31) * 4;
      float4 v = *reinterpret_cast<const float4*>(&A[(r0 + ar) * n + k0 + ak]);
      a[ak + 0][ar] = v.x;
      a[ak + 1][ar] = v.y;
      a[ak + 2][ar] = v.z;
      a[ak + 3][ar] = v.w;
      *reinterpret_cast<float4*>(&b[bk][bc]) = *reinterpret_cast<const float4*>(&B[(size_t)(k0 + bk) * n + c0 + bc]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      __align__(16) float x[8], y[8];
#pragma unroll
      for (int h = 0; h < 2; h++) {
        *reinterpret_cast<float4*>(&x[h * 4]) = *reinterpret_cast<float4*>(&a[k][wr + h * 16 + lr]);
        *reinterpret_cast<float4*>(&y[h * 4]) = *reinterpret_cast<float4*>(&b[k][wc + h * 32 + lc]);
      }
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) s[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      *reinterpret_cast<float4*>(&C[(r0 + wr + (i >> 2) * 16 + lr + (i & 3)) * n + c0 + wc + h * 32 + lc]) =
          make_float4(s[i][h * 4], s[i][h * 4 + 1], s[i][h * 4 + 2], s[i][h * 4 + 3]);
}
// warp tile, two shared stages filled by cp.async; A stays k-contiguous (rows of 16 + 4)
__global__ void __launch_bounds__(256) sg_cpasync(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ __align__(16) float a[2][128][20], b[2][16][128];
  int t = threadIdx.x, w = t >> 5, l = t & 31;
  int wr = (w >> 1) * 32 + (l >> 3), wc = (w & 1) * 64 + (l & 7) * 4;
  size_t r0 = blockIdx.y * 128, c0 = blockIdx.x * 128;
  float s[8][8] = {};
  auto load = [&](int st, int k0) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int ar = (t >> 2) + h * 64, ak = (t & 3) * 4, bk = (t >> 5) + h * 8, bc = (t & 31) * 4;
      cp_async16(&a[st][ar][ak], &A[(r0 + ar) * n + k0 + ak]);
      cp_async16(&b[st][bk][bc], &B[(size_t)(k0 + bk) * n + c0 + bc]);
    }
    cp_async_commit();
  };
  load(0, 0);
  for (int k0 = 0, st = 0; k0 < n; k0 += 16, st ^= 1) {
    cp_async_wait<0>();
    __syncthreads();
    if (k0 + 16 < n) load(st ^ 1, k0 + 16);
#pragma unroll
    for (int kk = 0; kk < 16; kk += 4) {
      __align__(16) float x[8][4];
#pragma unroll
      for (int i = 0; i < 8; i++) *reinterpret_cast<float4*>(x[i]) = *reinterpret_cast<float4*>(&a[st][wr + i * 4][kk]);
#pragma unroll
      for (int k = 0; k < 4; k++) {
        __align__(16) float y[8];
#pragma unroll
        for (int h = 0; h < 2; h++) *reinterpret_cast<float4*>(&y[h * 4]) = *reinterpret_cast<float4*>(&b[st][kk + k][wc + h * 32]);
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
          for (int j = 0; j < 8; j++) s[i][j] += x[i][k] * y[j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      *reinterpret_cast<float4*>(&C[(r0 + wr + i * 4) * n + c0 + wc + h * 32]) =
          make_float4(s[i][h * 4], s[i][h * 4 + 1], s[i][h * 4 + 2], s[i][h * 4 + 3]);
}
