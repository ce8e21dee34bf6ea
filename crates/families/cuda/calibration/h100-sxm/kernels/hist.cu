// 256-bin histogram of n bytes; the bins are zeroed before each run.
#include "common.cuh"

__global__ void hi_global(const unsigned char* __restrict__ x, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1u);
}
__global__ void hi_shared(const unsigned char* __restrict__ x, unsigned* bins, int n) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
__global__ void hi_shared4(const unsigned* __restrict__ x, unsigned* bins, int n4) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    unsigned v = x[i];
    atomicAdd(&s[v & 255], 1u);
    atomicAdd(&s[(v >> 8) & 255], 1u);
    atomicAdd(&s[(v >> 16) & 255], 1u);
    atomicAdd(&s[v >> 24], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
// one copy of the bins per warp; four bytes per load
__global__ void hi_warp(const unsigned* __restrict__ x, unsigned* bins, int n4) {
  __shared__ unsigned s[8][256];
  int w = threadIdx.x >> 5;
#pragma unroll
  for (int k = 0; k < 8; k++) s[k][threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    unsigned v = x[i];
    atomicAdd(&s[w][v & 255], 1u);
    atomicAdd(&s[w][(v >> 8) & 255], 1u);
    atomicAdd(&s[w][(v >> 16) & 255], 1u);
    atomicAdd(&s[w][v >> 24], 1u);
  }
  __syncthreads();
  unsigned t = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) t += s[k][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], t);
}
