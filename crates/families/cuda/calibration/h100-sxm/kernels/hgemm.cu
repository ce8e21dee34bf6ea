// C = A B, row-major n x n, A and B half, C float, accumulated in float on the
// tensor cores (mma.sync, not wgmma). n a multiple of 128.
#include "common.cuh"
using namespace nvcuda;

// a warp per 16x16 output tile, operands straight from global memory
__global__ void __launch_bounds__(128) hg_wmma_naive(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int n) {
  int w = threadIdx.x >> 5;
  size_t r = blockIdx.y * 16, c = (blockIdx.x * 4 + w) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
  wmma::fill_fragment(s, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(a, A + r * n + k, n);
    wmma::load_matrix_sync(b, B + (size_t)k * n + c, n);
    wmma::mma_sync(s, a, b, s);
  }
  wmma::store_matrix_sync(C + r * n + c, s, n, wmma::mem_row_major);
}
// 64x64x32 block tile through shared memory, 4 warps of 32x32
__global__ void __launch_bounds__(128) hg_wmma_shared(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ __align__(32) half as[64][48], bs[32][80];
  int t = threadIdx.x, w = t >> 5, wr = (w >> 1) * 32, wc = (w & 1) * 32;
  size_t r0 = blockIdx.y * 64, c0 = blockIdx.x * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> s[2][2];
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 2; j++) wmma::fill_fragment(s[i][j], 0.0f);
  for (int k0 = 0; k0 < n; k0 += 32) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int u = t + h * 128, ar = u >> 2, ac = (u & 3) * 8, br = u >> 3, bc = (u & 7) * 8;
      *reinterpret_cast<uint4*>(&as[ar][ac]) = *reinterpret_cast<const uint4*>(&A[(r0 + ar) * n + k0 + ac]);
      *reinterpret_cast<uint4*>(&bs[br][bc]) = *reinterpret_cast<const uint4*>(&B[(size_t)(k0 + br) * n + c0 + bc]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        wmma::load_matrix_sync(a[i], &as[wr + i * 16][k], 48);
        wmma::load_matrix_sync(b[i], &bs[k][wc + i * 16], 80);
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) wmma::mma_sync(s[i][j], a[i], b[j], s[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 2; j++)
      wmma::store_matrix_sync(C + (r0 + wr + i * 16) * n + c0 + wc + j * 16, s[i][j], n, wmma::mem_row_major);
}

// ---- 128x128x32 block tile, 8 warps (2x4) of 64x32, ldmatrix + mma.sync ----
struct Tile {
  half a[128][40];  // 32 + 8
  half b[32][136];  // 128 + 8
};
__device__ __forceinline__ void tile_mma(const Tile& T, float (&s)[4][4][4], int wr, int wc, int l) {
#pragma unroll
  for (int k = 0; k < 32; k += 16) {
    unsigned a[4][4], b[2][4];
#pragma unroll
    for (int i = 0; i < 4; i++) ldmatrix_x4(a[i], &T.a[wr + i * 16 + (l & 15)][k + (l >> 4) * 8]);
#pragma unroll
    for (int j = 0; j < 2; j++) ldmatrix_x4_trans(b[j], &T.b[k + (l & 15)][wc + j * 16 + (l >> 4) * 8]);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) mma_16816(s[i][j], a[i], b[j >> 1][(j & 1) * 2], b[j >> 1][(j & 1) * 2 + 1]);
  }
}
__device__ __forceinline__ void tile_store(float* __restrict__ C, const float (&s)[4][4][4], size_t r, size_t c, int n, int l) {
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        float2 v;
        v.x = s[i][j][h * 2];
        v.y = s[i][j][h * 2 + 1];
        *reinterpret_cast<float2*>(&C[(r + i * 16 + h * 8 + (l >> 2)) * n + c + j * 8 + (l & 3) * 2]) = v;
      }
}
__global__ void __launch_bounds__(256) hg_mma(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ __align__(128) unsigned char raw[sizeof(Tile)];
  Tile& T = *reinterpret_cast<Tile*>(raw);
  int t = threadIdx.x, w = t >> 5, l = t & 31, wr = (w >> 2) * 64, wc = (w & 3) * 32;
  size_t r0 = blockIdx.y * 128, c0 = blockIdx.x * 128;
  float s[4][4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 32) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int u = t + h * 256, ar = u >> 2, ac = (u & 3) * 8, br = u >> 4, bc = (u & 15) * 8;
      *reinterpret_cast<uint4*>(&T.a[ar][ac]) = *reinterpret_cast<const uint4*>(&A[(r0 + ar) * n + k0 + ac]);
      *reinterpret_cast<uint4*>(&T.b[br][bc]) = *reinterpret_cast<const uint4*>(&B[(size_t)(k0 + br) * n + c0 + bc]);
    }
    __syncthreads();
    tile_mma(T, s, wr, wc, l);
    __syncthreads();
  }
  tile_store(C, s, r0 + wr, c0 + wc, n, l);
}
template <int STAGES> __global__ void __launch_bounds__(256) hg_cpasync(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int n) {
  DYN_SMEM(Tile, T);
  int t = threadIdx.x, w = t >> 5, l = t & 31, wr = (w >> 2) * 64, wc = (w & 3) * 32;
  size_t r0 = blockIdx.y * 128, c0 = blockIdx.x * 128;
  float s[4][4][4] = {};
  auto load = [&](int st, int k0) {
    if (k0 < n) {
#pragma unroll
      for (int h = 0; h < 2; h++) {
        int u = t + h * 256, ar = u >> 2, ac = (u & 3) * 8, br = u >> 4, bc = (u & 15) * 8;
        cp_async16(&T[st].a[ar][ac], &A[(r0 + ar) * n + k0 + ac]);
        cp_async16(&T[st].b[br][bc], &B[(size_t)(k0 + br) * n + c0 + bc]);
      }
    }
    cp_async_commit();  // an empty group past the end keeps the count right
  };
#pragma unroll
  for (int i = 0; i < STAGES - 1; i++) load(i, i * 32);
  int st = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    int nx = st + STAGES - 1;
    load(nx >= STAGES ? nx - STAGES : nx, k0 + (STAGES - 1) * 32);
    tile_mma(T[st], s, wr, wc, l);
    st = st + 1 == STAGES ? 0 : st + 1;
  }
  tile_store(C, s, r0 + wr, c0 + wc, n, l);
}

template __global__ void hg_cpasync<2>(const half*, const half*, float*, int);
template __global__ void hg_cpasync<3>(const half*, const half*, float*, int);
