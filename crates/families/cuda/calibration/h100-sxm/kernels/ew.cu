// Element-wise c = a + b.
#include "common.cuh"

__global__ void ew_scalar(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void ew_float4(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ c, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

__global__ void ew_grid(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

// lanes of a warp 32 elements (128 bytes) apart, inside 1024-element tiles
__global__ void ew_stride32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int j = (i & ~1023) | ((i & 31) << 5) | ((i >> 5) & 31);
    c[j] = a[j] + b[j];
  }
}

// lanes 4 KiB apart, so that no line is shared inside a block
__global__ void ew_stride1024(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int lane = i & 31, w = i >> 5;                // warp w of n/32
    int j = ((w >> 10) << 15) | (lane << 10) | (w & 1023);
    c[j] = a[j] + b[j];
  }
}

__global__ void ew_half(const half* __restrict__ a, const half* __restrict__ b, half* __restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __hadd(a[i], b[i]);
}

__global__ void ew_half8(const uint4* __restrict__ a, const uint4* __restrict__ b, uint4* __restrict__ c, int n8) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n8) {
    uint4 x = a[i], y = b[i], z;
    half2* px = reinterpret_cast<half2*>(&x);
    half2* py = reinterpret_cast<half2*>(&y);
    half2* pz = reinterpret_cast<half2*>(&z);
#pragma unroll
    for (int k = 0; k < 4; k++) pz[k] = __hadd2(px[k], py[k]);
    c[i] = z;
  }
}
