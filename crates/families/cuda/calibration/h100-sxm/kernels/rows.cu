// Row softmax, RMS norm and layer norm.
#include "common.cuh"

// ---- reductions used here ----
template <bool MAX> __device__ __forceinline__ float comb(float a, float b) { return MAX ? fmaxf(a, b) : a + b; }
template <bool MAX> __device__ __forceinline__ float warp_all(float v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v = comb<MAX>(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
// all threads get the result; s holds one float per warp
template <bool MAX> __device__ __forceinline__ float block_all(float v, float* s) {
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5, nw = blockDim.x >> 5;
  v = warp_all<MAX>(v);
  __syncthreads();
  if (lane == 0) s[w] = v;
  __syncthreads();
  float r = s[lane < nw ? lane : 0];
  if (!MAX && lane >= nw) r = 0.0f;
  return warp_all<MAX>(r);
}
template <bool MAX> __device__ __forceinline__ float tree_all(float v, float* s) {
  int t = threadIdx.x;
  __syncthreads();
  s[t] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] = comb<MAX>(s[t], s[t + d]);
    __syncthreads();
  }
  return s[0];
}

// ---- softmax ----
__global__ void sm_thread(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* p = x + (size_t)r * cols;
  float* q = y + (size_t)r * cols;
  float m = -INFINITY, s = 0.0f;
  for (int i = 0; i < cols; i++) m = fmaxf(m, p[i]);
  for (int i = 0; i < cols; i++) s += __expf(p[i] - m);
  for (int i = 0; i < cols; i++) q[i] = __expf(p[i] - m) / s;
}
__global__ void sm_three(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float s[256];
  const float* p = x + (size_t)blockIdx.x * cols;
  float* q = y + (size_t)blockIdx.x * cols;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, p[i]);
  m = tree_all<true>(m, s);
  float z = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) z += __expf(p[i] - m);
  z = tree_all<false>(z, s);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) q[i] = __expf(p[i] - m) / z;
}
__global__ void sm_shared(const float* __restrict__ x, float* __restrict__ y, int cols) {
  DYN_SMEM(float, row);
  __shared__ float s[32];
  const float* p = x + (size_t)blockIdx.x * cols;
  float* q = y + (size_t)blockIdx.x * cols;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float v = p[i];
    row[i] = v;
    m = fmaxf(m, v);
  }
  m = block_all<true>(m, s);
  float z = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float e = __expf(row[i] - m);
    row[i] = e;
    z += e;
  }
  float inv = 1.0f / block_all<false>(z, s);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) q[i] = row[i] * inv;
}
__global__ void sm_warp(const float* __restrict__ x, float* __restrict__ y, int cols) {
  int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  const float* p = x + (size_t)r * cols;
  float* q = y + (size_t)r * cols;
  float m = -INFINITY;
  for (int i = lane; i < cols; i += 32) m = fmaxf(m, p[i]);
  m = warp_all<true>(m);
  float z = 0.0f;
  for (int i = lane; i < cols; i += 32) z += __expf(p[i] - m);
  float inv = 1.0f / warp_all<false>(z);
  for (int i = lane; i < cols; i += 32) q[i] = __expf(p[i] - m) * inv;
}
__global__ void sm_online(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float s[32];
  const float* p = x + (size_t)blockIdx.x * cols;
  float* q = y + (size_t)blockIdx.x * cols;
  float m = -INFINITY, z = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float v = p[i], k = fmaxf(m, v);
    z = z * __expf(m - k) + __expf(v - k);
    m = k;
  }
  float M = block_all<true>(m, s);
  float inv = 1.0f / block_all<false>(z * __expf(m - M), s);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) q[i] = __expf(p[i] - M) * inv;
}
// the row lives in registers: V float4 per thread
template <int V> __global__ void sm_float4(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float s[32];
  const float4* p = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * cols);
  float4* q = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * cols);
  float4 v[V];
  float m = -INFINITY;
#pragma unroll
  for (int k = 0; k < V; k++) {
    v[k] = p[threadIdx.x + k * blockDim.x];
    m = fmaxf(fmaxf(m, fmaxf(v[k].x, v[k].y)), fmaxf(v[k].z, v[k].w));
  }
  m = block_all<true>(m, s);
  float z = 0.0f;
#pragma unroll
  for (int k = 0; k < V; k++) {
    v[k].x = __expf(v[k].x - m);
    v[k].y = __expf(v[k].y - m);
    v[k].z = __expf(v[k].z - m);
    v[k].w = __expf(v[k].w - m);
    z += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  float inv = 1.0f / block_all<false>(z, s);
#pragma unroll
  for (int k = 0; k < V; k++)
    q[threadIdx.x + k * blockDim.x] = make_float4(v[k].x * inv, v[k].y * inv, v[k].z * inv, v[k].w * inv);
}

// ---- norms ----
__global__ void rms_tree(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int cols) {
  __shared__ float s[256];
  const float* p = x + (size_t)blockIdx.x * cols;
  float a = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) a += p[i] * p[i];
  float r = rsqrtf(tree_all<false>(a, s) / cols + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[(size_t)blockIdx.x * cols + i] = p[i] * r * w[i];
}
__global__ void rms_warp(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int cols) {
  int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  const float* p = x + (size_t)row * cols;
  float a = 0.0f;
  for (int i = lane; i < cols; i += 32) a += p[i] * p[i];
  float r = rsqrtf(warp_all<false>(a) / cols + 1e-5f);
  for (int i = lane; i < cols; i += 32) y[(size_t)row * cols + i] = p[i] * r * w[i];
}
template <int V> __global__ void rms_float4(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int cols) {
  __shared__ float s[32];
  const float4* p = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * cols);
  const float4* u = reinterpret_cast<const float4*>(w);
  float4* q = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * cols);
  float4 v[V];
  float a = 0.0f;
#pragma unroll
  for (int k = 0; k < V; k++) {
    v[k] = p[threadIdx.x + k * blockDim.x];
    a += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);
  }
  float r = rsqrtf(block_all<false>(a, s) / cols + 1e-5f);
#pragma unroll
  for (int k = 0; k < V; k++) {
    float4 c = u[threadIdx.x + k * blockDim.x];
    q[threadIdx.x + k * blockDim.x] = make_float4(v[k].x * r * c.x, v[k].y * r * c.y, v[k].z * r * c.z, v[k].w * r * c.w);
  }
}
__global__ void ln_two(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, int cols) {
  __shared__ float s[256];
  const float* p = x + (size_t)blockIdx.x * cols;
  float a = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) a += p[i];
  float mu = tree_all<false>(a, s) / cols;
  a = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) a += (p[i] - mu) * (p[i] - mu);
  float r = rsqrtf(tree_all<false>(a, s) / cols + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[(size_t)blockIdx.x * cols + i] = (p[i] - mu) * r * w[i] + b[i];
}
__global__ void ln_one(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, int cols) {
  __shared__ float s[32];
  const float* p = x + (size_t)blockIdx.x * cols;
  float a = 0.0f, q = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    a += p[i];
    q += p[i] * p[i];
  }
  float mu = block_all<false>(a, s) / cols;
  float var = block_all<false>(q, s) / cols - mu * mu;
  float r = rsqrtf(var + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[(size_t)blockIdx.x * cols + i] = (p[i] - mu) * r * w[i] + b[i];
}
template <int V> __global__ void ln_float4(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, int cols) {
  __shared__ float s[32];
  const float4* p = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * cols);
  const float4* pw = reinterpret_cast<const float4*>(w);
  const float4* pb = reinterpret_cast<const float4*>(b);
  float4* q = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * cols);
  float4 v[V];
  float a = 0.0f;
#pragma unroll
  for (int k = 0; k < V; k++) {
    v[k] = p[threadIdx.x + k * blockDim.x];
    a += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  float mu = block_all<false>(a, s) / cols;
  a = 0.0f;
#pragma unroll
  for (int k = 0; k < V; k++) {
    v[k].x -= mu; v[k].y -= mu; v[k].z -= mu; v[k].w -= mu;
    a += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);
  }
  float r = rsqrtf(block_all<false>(a, s) / cols + 1e-5f);
#pragma unroll
  for (int k = 0; k < V; k++) {
    float4 c = pw[threadIdx.x + k * blockDim.x], d = pb[threadIdx.x + k * blockDim.x];
    q[threadIdx.x + k * blockDim.x] =
        make_float4(v[k].x * r * c.x + d.x, v[k].y * r * c.y + d.y, v[k].z * r * c.z + d.z, v[k].w * r * c.w + d.w);
  }
}

template __global__ void sm_float4<1>(const float*, float*, int);
template __global__ void sm_float4<8>(const float*, float*, int);
template __global__ void rms_float4<4>(const float*, const float*, float*, int);
template __global__ void ln_float4<4>(const float*, const float*, const float*, float*, int);
