// One warp for each row, which stays in registers: one pass.
#define EACH (({{ N }} + 31) / 32)
__global__ void __launch_bounds__(128) softmax(const float* __restrict__ x, float* __restrict__ y) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= {{ M }}) return;
  float v[EACH];
  float top = -INFINITY;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int j = k * 32 + lane;
    v[k] = j < {{ N }} ? x[row * {{ N }} + j] : -INFINITY;
    top = fmaxf(top, v[k]);
  }
  for (int distance = 16; distance > 0; distance /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, distance));
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    v[k] = __expf(v[k] - top);
    sum += v[k];
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  float scale = 1.0f / sum;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int j = k * 32 + lane;
    if (j < {{ N }}) y[row * {{ N }} + j] = v[k] * scale;
  }
}

void solution(const float* X, float* Y) {
  softmax<<<({{ M }} + 3) / 4, 128>>>(X, Y);
}
