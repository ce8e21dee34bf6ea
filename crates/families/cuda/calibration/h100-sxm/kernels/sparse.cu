// Gather y[i] = x[idx[i]] and CSR sparse matrix times vector.
#include "common.cuh"

__global__ void ga_scalar(const float* __restrict__ x, const int* __restrict__ idx, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[idx[i]];
}
__global__ void ga_vec4(const float* __restrict__ x, const int4* __restrict__ idx, float4* __restrict__ y, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    int4 k = idx[i];
    y[i] = make_float4(x[k.x], x[k.y], x[k.z], x[k.w]);
  }
}
__global__ void sp_scalar(const int* __restrict__ ptr, const int* __restrict__ col, const float* __restrict__ val,
                          const float* __restrict__ x, float* __restrict__ y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f;
  for (int k = ptr[r]; k < ptr[r + 1]; k++) s += val[k] * x[col[k]];
  y[r] = s;
}
__global__ void sp_vector(const int* __restrict__ ptr, const int* __restrict__ col, const float* __restrict__ val,
                          const float* __restrict__ x, float* __restrict__ y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (r >= rows) return;
  float s = 0.0f;
  for (int k = ptr[r] + lane; k < ptr[r + 1]; k += 32) s += val[k] * x[col[k]];
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
  if (lane == 0) y[r] = s;
}
// eight lanes per row
__global__ void sp_vector8(const int* __restrict__ ptr, const int* __restrict__ col, const float* __restrict__ val,
                           const float* __restrict__ x, float* __restrict__ y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 3, lane = threadIdx.x & 7;
  if (r >= rows) return;  // rows is a multiple of 4: whole warps leave
  float s = 0.0f;
  for (int k = ptr[r] + lane; k < ptr[r + 1]; k += 8) s += val[k] * x[col[k]];
#pragma unroll
  for (int d = 4; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d, 8);
  if (lane == 0) y[r] = s;
}
