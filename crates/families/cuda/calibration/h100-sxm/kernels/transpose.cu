// y = x^T for an n x n float matrix.
#include "common.cuh"

__global__ void tr_read(const float* __restrict__ x, float* __restrict__ y, int n) {
  int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) y[(size_t)c * n + r0 + k] = x[(size_t)(r0 + k) * n + c];
}
__global__ void tr_write(const float* __restrict__ x, float* __restrict__ y, int n) {
  int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) y[(size_t)(r0 + k) * n + c] = x[(size_t)c * n + r0 + k];
}
template <int PAD> __global__ void tr_shared(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[32][32 + PAD];
  int tx = threadIdx.x, ty = threadIdx.y, c = blockIdx.x * 32, r = blockIdx.y * 32;
#pragma unroll
  for (int k = 0; k < 32; k += 8) s[ty + k][tx] = x[(size_t)(r + ty + k) * n + c + tx];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 32; k += 8) y[(size_t)(c + ty + k) * n + r + tx] = s[tx][ty + k];
}
// 64x64 tile, float4 on both sides; the tile is stored transposed with a pad of 4
__global__ void tr_float4(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ __align__(16) float s[64][68];
  int t = threadIdx.x, q = t & 15, r = t >> 4;  // 16 float4 per row, 16 rows per step
  size_t c0 = blockIdx.x * 64, r0 = blockIdx.y * 64;
#pragma unroll
  for (int k = 0; k < 64; k += 16) {
    float4 v = *reinterpret_cast<const float4*>(&x[(r0 + r + k) * n + c0 + q * 4]);
    s[q * 4 + 0][r + k] = v.x;
    s[q * 4 + 1][r + k] = v.y;
    s[q * 4 + 2][r + k] = v.z;
    s[q * 4 + 3][r + k] = v.w;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 64; k += 16)
    *reinterpret_cast<float4*>(&y[(c0 + r + k) * n + r0 + q * 4]) = *reinterpret_cast<const float4*>(&s[r + k][q * 4]);
}
__global__ void tr_copy(const float* __restrict__ x, float* __restrict__ y, int n) {  // the bound: a copy, same tiling
  int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) y[(size_t)(r0 + k) * n + c] = x[(size_t)(r0 + k) * n + c];
}

template __global__ void tr_shared<0>(const float*, float*, int);
template __global__ void tr_shared<1>(const float*, float*, int);
