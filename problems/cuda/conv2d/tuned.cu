// Four results of neighbouring filters for each thread, so that a value of the image serves all;
// the filters of a block lie in shared memory.
#define H {{ H }}
#define W {{ W }}
#define FILTERS 4
__global__ void convolve(const float* __restrict__ x, const float* __restrict__ k, float* __restrict__ y) {
  __shared__ float sk[{{ C }} * 9][FILTERS];
  int j = threadIdx.x, i = blockIdx.x * 4 + threadIdx.y, f = blockIdx.y * FILTERS;
  for (int e = threadIdx.y * (W - 2) + threadIdx.x; e < {{ C }} * 9 * FILTERS; e += (W - 2) * 4)
    sk[e % ({{ C }} * 9)][e / ({{ C }} * 9)] = k[f * {{ C }} * 9 + e];
  __syncthreads();
  if (i >= H - 2) return;
  float sum[FILTERS] = {};
#pragma unroll 2
  for (int c = 0; c < {{ C }}; c++)
#pragma unroll
    for (int u = 0; u < 3; u++)
#pragma unroll
      for (int v = 0; v < 3; v++) {
        float own = x[(c * H + i + u) * W + j + v];
        float4 w = *(const float4*)sk[c * 9 + u * 3 + v];
        sum[0] += own * w.x;
        sum[1] += own * w.y;
        sum[2] += own * w.z;
        sum[3] += own * w.w;
      }
#pragma unroll
  for (int g = 0; g < FILTERS; g++) y[((f + g) * (H - 2) + i) * (W - 2) + j] = sum[g];
}

void solution(const float* X, const float* K, float* Y) {
  convolve<<<dim3((H - 2 + 3) / 4, {{ F }} / FILTERS), dim3(W - 2, 4)>>>(X, K, Y);
}
