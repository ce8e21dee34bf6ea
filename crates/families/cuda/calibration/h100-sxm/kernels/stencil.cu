// 7-point stencil on n^3 floats: y = a x + b (sum of 6 neighbours); the border is not written.
#include "common.cuh"
#define CA 0.4f
#define CB 0.1f

__global__ void st_naive(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
  if (i == 0 || j == 0 || k == 0 || i == n - 1 || j == n - 1 || k == n - 1) return;
  int p = (k * n + j) * n + i, nn = n * n;
  y[p] = CA * x[p] + CB * (((x[p - 1] + x[p + 1]) + (x[p - n] + x[p + n])) + (x[p - nn] + x[p + nn]));
}
// threads along z: lanes of a warp a plane apart
__global__ void st_zfirst(const float* __restrict__ x, float* __restrict__ y, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, i = blockIdx.z;
  if (i == 0 || j == 0 || k == 0 || i == n - 1 || j == n - 1 || k == n - 1) return;
  int p = (k * n + j) * n + i, nn = n * n;
  y[p] = CA * x[p] + CB * (((x[p - 1] + x[p + 1]) + (x[p - n] + x[p + n])) + (x[p - nn] + x[p + nn]));
}
// 32x8x4 block, tile with halo in shared memory
__global__ void __launch_bounds__(1024) st_shared(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[6][10][34];
  int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
  int i = blockIdx.x * 32 + tx, j = blockIdx.y * 8 + ty, k = blockIdx.z * 4 + tz, nn = n * n;
  int p = (k * n + j) * n + i;
  s[tz + 1][ty + 1][tx + 1] = x[p];
  if (tx == 0 && i > 0) s[tz + 1][ty + 1][0] = x[p - 1];
  if (tx == 31 && i < n - 1) s[tz + 1][ty + 1][33] = x[p + 1];
  if (ty == 0 && j > 0) s[tz + 1][0][tx + 1] = x[p - n];
  if (ty == 7 && j < n - 1) s[tz + 1][9][tx + 1] = x[p + n];
  if (tz == 0 && k > 0) s[0][ty + 1][tx + 1] = x[p - nn];
  if (tz == 3 && k < n - 1) s[5][ty + 1][tx + 1] = x[p + nn];
  __syncthreads();
  if (i == 0 || j == 0 || k == 0 || i == n - 1 || j == n - 1 || k == n - 1) return;
  y[p] = CA * s[tz + 1][ty + 1][tx + 1] +
         CB * (((s[tz + 1][ty + 1][tx] + s[tz + 1][ty + 1][tx + 2]) + (s[tz + 1][ty][tx + 1] + s[tz + 1][ty + 2][tx + 1])) +
               (s[tz][ty + 1][tx + 1] + s[tz + 2][ty + 1][tx + 1]));
}
// march along z with three values in registers; x and y neighbours through L1
__global__ void st_march(const float* __restrict__ x, float* __restrict__ y, int n, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, nn = n * n;
  if (i == 0 || j == 0 || i == n - 1 || j == n - 1) return;
  int k0 = max(1, (int)blockIdx.z * depth), k1 = min(n - 1, ((int)blockIdx.z + 1) * depth);
  int p = (k0 * n + j) * n + i;
  float lo = x[p - nn], me = x[p];
  for (int k = k0; k < k1; k++, p += nn) {
    float hi = x[p + nn];
    y[p] = CA * me + CB * (((x[p - 1] + x[p + 1]) + (x[p - n] + x[p + n])) + (lo + hi));
    lo = me;
    me = hi;
  }
}
// the same march, the plane's tile in shared memory
__global__ void st_march_shared(const float* __restrict__ x, float* __restrict__ y, int n, int depth) {
  __shared__ float s[10][34];
  int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * 32 + tx, j = blockIdx.y * 8 + ty, nn = n * n;
  bool in = i > 0 && j > 0 && i < n - 1 && j < n - 1;
  int k0 = max(1, (int)blockIdx.z * depth), k1 = min(n - 1, ((int)blockIdx.z + 1) * depth);
  int p = (k0 * n + j) * n + i;
  float lo = x[p - nn], me = x[p];
  for (int k = k0; k < k1; k++, p += nn) {
    float hi = x[p + nn];
    s[ty + 1][tx + 1] = me;
    if (tx == 0 && i > 0) s[ty + 1][0] = x[p - 1];
    if (tx == 31 && i < n - 1) s[ty + 1][33] = x[p + 1];
    if (ty == 0 && j > 0) s[0][tx + 1] = x[p - n];
    if (ty == 7 && j < n - 1) s[9][tx + 1] = x[p + n];
    __syncthreads();
    if (in) y[p] = CA * me + CB * (((s[ty + 1][tx] + s[ty + 1][tx + 2]) + (s[ty][tx + 1] + s[ty + 2][tx + 1])) + (lo + hi));
    __syncthreads();
    lo = me;
    me = hi;
  }
}
