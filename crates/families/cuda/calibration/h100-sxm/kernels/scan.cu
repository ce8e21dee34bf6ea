// Inclusive prefix sum of n uint32 (exact).
#include "common.cuh"

// block of 1024 elements, Hillis-Steele in shared memory
__global__ void __launch_bounds__(1024) sc_hillis(const unsigned* __restrict__ x, unsigned* __restrict__ y, unsigned* __restrict__ sums, int n) {
  __shared__ unsigned s[2][1024];
  int t = threadIdx.x, i = blockIdx.x * 1024 + t, cur = 0;
  s[0][t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 1; d < 1024; d <<= 1) {
    s[cur ^ 1][t] = s[cur][t] + (t >= d ? s[cur][t - d] : 0);
    cur ^= 1;
    __syncthreads();
  }
  if (i < n) y[i] = s[cur][t];
  if (t == 1023) sums[blockIdx.x] = s[cur][t];
}

__device__ __forceinline__ unsigned warp_scan(unsigned v, int lane) {
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    unsigned u = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += u;
  }
  return v;
}
// inclusive scan over the block; s holds one word per warp, total gets the sum
__device__ __forceinline__ unsigned block_scan(unsigned v, unsigned* s, unsigned& total) {
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5, nw = blockDim.x >> 5;
  v = warp_scan(v, lane);
  if (lane == 31) s[w] = v;
  __syncthreads();
  if (w == 0) {
    unsigned u = lane < nw ? s[lane] : 0;
    u = warp_scan(u, lane);
    if (lane < nw) s[lane] = u;
  }
  __syncthreads();
  if (w > 0) v += s[w - 1];
  total = s[nw - 1];
  return v;
}
// block of 1024 elements, 256 threads of one uint4
__global__ void __launch_bounds__(256) sc_shuffle(const uint4* __restrict__ x, uint4* __restrict__ y, unsigned* __restrict__ sums) {
  __shared__ unsigned s[8];
  int i = blockIdx.x * 256 + threadIdx.x;
  uint4 q = x[i];
  q.y += q.x;
  q.z += q.y;
  q.w += q.z;
  unsigned total, e = block_scan(q.w, s, total) - q.w;
  y[i] = make_uint4(q.x + e, q.y + e, q.z + e, q.w + e);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
// one block turns the block sums into exclusive offsets, in place
__global__ void __launch_bounds__(1024) sc_sums(unsigned* sums, int m) {
  __shared__ unsigned s[32];
  unsigned carry = 0;
  for (int b = 0; b < m; b += 1024) {
    int i = b + threadIdx.x;
    unsigned v = i < m ? sums[i] : 0, total;
    unsigned e = block_scan(v, s, total) - v;
    if (i < m) sums[i] = carry + e;
    carry += total;
    __syncthreads();
  }
}
__global__ void sc_add(uint4* __restrict__ y, const unsigned* __restrict__ sums) {
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned e = sums[blockIdx.x];
  uint4 q = y[i];
  y[i] = make_uint4(q.x + e, q.y + e, q.z + e, q.w + e);
}
// decoupled look-back: 2048 elements per block, tiles taken in order from a counter.
// state: high word 0 = nothing yet, 1 = sum of this tile, 2 = sum up to this tile
__global__ void __launch_bounds__(256) sc_lookback(const uint4* __restrict__ x, uint4* __restrict__ y, unsigned long long* state, unsigned* ticket) {
  __shared__ unsigned s[8], s_tile, s_prefix;
  int t = threadIdx.x, lane = t & 31;
  if (t == 0) s_tile = atomicAdd(ticket, 1u);
  __syncthreads();
  int tile = s_tile;
  uint4 q[2];
#pragma unroll
  for (int k = 0; k < 2; k++) q[k] = x[tile * 512 + t * 2 + k];
  unsigned a = 0;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    q[k].x += a;
    q[k].y += q[k].x;
    q[k].z += q[k].y;
    q[k].w += q[k].z;
    a = q[k].w;
  }
  unsigned total, e = block_scan(a, s, total) - a;
  if (t < 32) {
    if (lane == 0) st_release64(&state[tile], ((unsigned long long)(tile ? 1 : 2) << 32) | total);
    unsigned prefix = 0;
    int at = tile - 1;  // the warp looks at tiles at, at-1, ... at-31
    while (at >= 0) {
      unsigned long long v = 2ull << 32;  // before the first tile: prefix 0
      if (at - lane >= 0)
        do v = ld_acquire64(&state[at - lane]);
        while ((v >> 32) == 0);
      unsigned done = __ballot_sync(0xffffffffu, (v >> 32) == 2);
      int last = done ? __ffs(done) - 1 : 31;  // nearest full prefix
      unsigned add = lane <= last ? (unsigned)v : 0;
#pragma unroll
      for (int d = 16; d > 0; d >>= 1) add += __shfl_xor_sync(0xffffffffu, add, d);
      prefix += add;
      at = done ? -1 : at - 32;
    }
    if (lane == 0) {
      if (tile) st_release64(&state[tile], (2ull << 32) | (unsigned)(prefix + total));
      s_prefix = prefix;
    }
  }
  __syncthreads();
  e += s_prefix;
#pragma unroll
  for (int k = 0; k < 2; k++) y[tile * 512 + t * 2 + k] = make_uint4(q[k].x + e, q[k].y + e, q[k].z + e, q[k].w + e);
}
