// One launch: a warp for each position goes over the keys, 32 at a time, with a running maximum.
#define WARPS 4
#define PART ({{ D }} / 32)
__global__ void __launch_bounds__(WARPS * 32) attend(const float* __restrict__ q, const float* __restrict__ k,
                                                     const float* __restrict__ v, float* __restrict__ o) {
  __shared__ float sk[32][{{ D }} + 1], sv[32][{{ D }}], sq[WARPS][{{ D }}];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * WARPS + warp;
  for (int d = lane; d < {{ D }}; d += 32) sq[warp][d] = q[i * {{ D }} + d] * rsqrtf({{ D }});
  float top = -INFINITY, sum = 0.0f, all[PART] = {};
  int last = blockIdx.x * WARPS + WARPS - 1;
  for (int first = 0; first <= last; first += 32) {
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * {{ D }}; e += WARPS * 32) {
      sk[e / {{ D }}][e % {{ D }}] = k[first * {{ D }} + e];
      sv[e / {{ D }}][e % {{ D }}] = v[first * {{ D }} + e];
    }
    __syncthreads();
    float dot = 0.0f;
#pragma unroll
    for (int d = 0; d < {{ D }}; d++) dot += sq[warp][d] * sk[lane][d];
    if (first + lane > i) dot = -INFINITY;
    float high = dot;
    for (int distance = 16; distance > 0; distance /= 2) high = fmaxf(high, __shfl_xor_sync(0xffffffff, high, distance));
    high = fmaxf(high, top);
    float scale = __expf(top - high), weight = __expf(dot - high);
    float part = weight;
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_xor_sync(0xffffffff, part, distance);
    sum = sum * scale + part;
    top = high;
#pragma unroll
    for (int p = 0; p < PART; p++) all[p] *= scale;
#pragma unroll
    for (int j = 0; j < 32; j++) {
      float w = __shfl_sync(0xffffffff, weight, j);
#pragma unroll
      for (int p = 0; p < PART; p++) all[p] += w * sv[j][p * 32 + lane];
    }
  }
#pragma unroll
  for (int p = 0; p < PART; p++) o[i * {{ D }} + p * 32 + lane] = all[p] / sum;
}

void solution(const float* Q, const float* K, const float* V, float* O) {
  attend<<<{{ S }} / WARPS, WARPS * 32>>>(Q, K, V, O);
}
