// Four results below each other for each thread, so that each row that it reads serves three.
#define H {{ H }}
#define W {{ W }}
#define ROWS 4
__global__ void convolve(const float* __restrict__ x, const float* __restrict__ k, float* __restrict__ y) {
  int j = threadIdx.x, first = (blockIdx.x * 2 + threadIdx.y) * ROWS, c = blockIdx.y;
  float w[9];
#pragma unroll
  for (int e = 0; e < 9; e++) w[e] = k[c * 9 + e];
  float sum[ROWS] = {};
#pragma unroll
  for (int u = 0; u < ROWS + 2; u++) {
    if (first + u >= H) continue;
    const float* row = x + (c * H + first + u) * W + j;
    float own[3] = {row[0], row[1], row[2]};
#pragma unroll
    for (int d = 0; d < 3; d++)
      if (0 <= u - d && u - d < ROWS) sum[u - d] += own[0] * w[d * 3] + own[1] * w[d * 3 + 1] + own[2] * w[d * 3 + 2];
  }
#pragma unroll
  for (int i = 0; i < ROWS; i++)
    if (first + i < H - 2) y[(c * (H - 2) + first + i) * (W - 2) + j] = sum[i];
}

void solution(const float* X, const float* K, float* Y) {
  convolve<<<dim3((H - 2 + 2 * ROWS - 1) / (2 * ROWS), {{ C }}), dim3(W - 2, 2)>>>(X, K, Y);
}
