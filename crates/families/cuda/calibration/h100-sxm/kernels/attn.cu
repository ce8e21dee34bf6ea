// Attention O = softmax(Q K^T / 8) V, float, no mask; [heads][len][64].
#include "common.cuh"
#define D 64

// ---- three launches, the scores in global memory ----
__global__ void at_scores(const float* __restrict__ Q, const float* __restrict__ K, float* __restrict__ S, int len) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  size_t h = blockIdx.z;
  const float* q = Q + (h * len + r) * D;
  const float* k = K + (h * len + c) * D;
  float s = 0.0f;
  for (int d = 0; d < D; d++) s += q[d] * k[d];
  S[(h * len + r) * len + c] = s * 0.125f;
}
__global__ void at_softmax(float* __restrict__ S, int len) {
  __shared__ float s[256];
  float* p = S + ((size_t)blockIdx.y * len + blockIdx.x) * len;
  int t = threadIdx.x;
  float m = -INFINITY;
  for (int i = t; i < len; i += 256) m = fmaxf(m, p[i]);
  s[t] = m;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float z = 0.0f;
  for (int i = t; i < len; i += 256) {
    float e = __expf(p[i] - m);
    p[i] = e;
    z += e;
  }
  s[t] = z;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  z = 1.0f / s[0];
  for (int i = t; i < len; i += 256) p[i] *= z;
}
__global__ void at_values(const float* __restrict__ S, const float* __restrict__ V, float* __restrict__ O, int len) {
  int d = threadIdx.x, r = blockIdx.x * 4 + threadIdx.y;
  size_t h = blockIdx.y;
  const float* p = S + (h * len + r) * len;
  const float* v = V + h * len * D;
  float s = 0.0f;
  for (int k = 0; k < len; k++) s += p[k] * v[(size_t)k * D + d];
  O[(h * len + r) * D + d] = s;
}
// ---- one warp per query, two output columns per lane, one key at a time ----
__global__ void at_warp(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ O, int len) {
  int lane = threadIdx.x & 31, r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  size_t h = blockIdx.y, o = (h * len + r) * D;
  const float *k = K + h * len * D, *v = V + h * len * D;
  float q0 = Q[o + lane] * 0.125f, q1 = Q[o + lane + 32] * 0.125f, m = -INFINITY, z = 0.0f, a0 = 0.0f, a1 = 0.0f;
  for (int j = 0; j < len; j++) {
    float s = q0 * k[j * D + lane] + q1 * k[j * D + lane + 32];
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    float n = fmaxf(m, s), f = __expf(m - n), e = __expf(s - n);
    z = z * f + e;
    a0 = a0 * f + e * v[j * D + lane];
    a1 = a1 * f + e * v[j * D + lane + 32];
    m = n;
  }
  O[o + lane] = a0 / z;
  O[o + lane + 32] = a1 / z;
}
// ---- fused: BQ queries x 64 keys per step, 4x4 scores and 4x4 outputs per thread ----
template <int BQ> struct Fused {
  float q[BQ][68], k[64][65], v[64][64], p[BQ][68];
};
template <int BQ> __global__ void __launch_bounds__(BQ * 4) at_fused(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ O, int len) {
  DYN_SMEM(Fused<BQ>, S);
  const int N = BQ * 4;
  int t = threadIdx.x, tx = t & 15, ty = t >> 4;  // 16 lanes share four rows
  size_t h = blockIdx.y, base = h * len * D, r0 = blockIdx.x * BQ;
  for (int i = t; i < BQ * D; i += N) S->q[i >> 6][i & 63] = Q[base + r0 * D + i] * 0.125f;
  float m[4], z[4], o[4][4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    m[i] = -INFINITY;
    z[i] = 0.0f;
#pragma unroll
    for (int j = 0; j < 4; j++) o[i][j] = 0.0f;
  }
  for (int k0 = 0; k0 < len; k0 += 64) {
    __syncthreads();  // the last step's k, v and p are done with
    for (int i = t; i < 64 * D; i += N) {
      S->k[i >> 6][i & 63] = K[base + (size_t)k0 * D + i];
      S->v[i >> 6][i & 63] = V[base + (size_t)k0 * D + i];
    }
    __syncthreads();
    float s[4][4] = {};
#pragma unroll 4
    for (int d = 0; d < D; d++) {
      float a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = S->q[ty * 4 + i][d];
#pragma unroll
      for (int j = 0; j < 4; j++) b[j] = S->k[tx + j * 16][d];
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) s[i][j] += a[i] * b[j];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float n = fmaxf(fmaxf(s[i][0], s[i][1]), fmaxf(s[i][2], s[i][3]));
#pragma unroll
      for (int d = 8; d > 0; d >>= 1) n = fmaxf(n, __shfl_xor_sync(0xffffffffu, n, d));
      n = fmaxf(n, m[i]);
      float f = __expf(m[i] - n), w = 0.0f;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        float e = __expf(s[i][j] - n);
        w += e;
        S->p[ty * 4 + i][tx + j * 16] = e;
      }
#pragma unroll
      for (int d = 8; d > 0; d >>= 1) w += __shfl_xor_sync(0xffffffffu, w, d);
      z[i] = z[i] * f + w;
      m[i] = n;
#pragma unroll
      for (int j = 0; j < 4; j++) o[i][j] *= f;
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 64; k++) {
      float4 b = *reinterpret_cast<const float4*>(&S->v[k][tx * 4]);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        float a = S->p[ty * 4 + i][k];
        o[i][0] += a * b.x;
        o[i][1] += a * b.y;
        o[i][2] += a * b.z;
        o[i][3] += a * b.w;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float r = 1.0f / z[i];
    *reinterpret_cast<float4*>(&O[base + (r0 + ty * 4 + i) * D + tx * 4]) = make_float4(o[i][0] * r, o[i][1] * r, o[i][2] * r, o[i][3] * r);
  }
}

template __global__ void at_fused<16>(const float*, const float*, const float*, float*, int);
template __global__ void at_fused<64>(const float*, const float*, const float*, float*, int);
