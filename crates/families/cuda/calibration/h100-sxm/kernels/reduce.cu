// Sum of n floats into out[0]. Every schedule ends in one atomicAdd per block
// (or per warp, per thread), so each is one launch; out is zeroed before.
#include "common.cuh"

__global__ void red_interleaved(const float* __restrict__ x, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, s[0]);
}

__global__ void red_sequential(const float* __restrict__ x, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, s[0]);
}

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
__device__ __forceinline__ float block_sum(float v, float* s) {
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  v = warp_sum(v);
  if (lane == 0) s[w] = v;
  __syncthreads();
  if (w == 0) {
    v = lane < (int)(blockDim.x >> 5) ? s[lane] : 0.0f;
    v = warp_sum(v);
  }
  return v;
}

__global__ void red_shuffle(const float* __restrict__ x, float* out, int n) {
  __shared__ float s[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = block_sum(i < n ? x[i] : 0.0f, s);
  if (threadIdx.x == 0) atomicAdd(out, v);
}

__global__ void red_float4(const float4* __restrict__ x, float* out, int n4) {
  __shared__ float s[32];
  float v = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 q = x[i];
    v += (q.x + q.y) + (q.z + q.w);
  }
  v = block_sum(v, s);
  if (threadIdx.x == 0) atomicAdd(out, v);
}

__global__ void red_atomic_warp(const float* __restrict__ x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = warp_sum(i < n ? x[i] : 0.0f);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, v);
}

__global__ void red_atomic_thread(const float* __restrict__ x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, x[i]);
}
