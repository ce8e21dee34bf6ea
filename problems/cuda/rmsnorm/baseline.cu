// One block for each row: a tree in shared memory, then a second pass.
__global__ void normalize(const float* x, const float* w, float* y) {
  __shared__ float part[128];
  int row = blockIdx.x;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < {{ N }}; j += 128) sum += x[row * {{ N }} + j] * x[row * {{ N }} + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  float scale = 1.0f / sqrtf(part[0] / {{ N }} + 1e-5f);
  for (int j = threadIdx.x; j < {{ N }}; j += 128) y[row * {{ N }} + j] = x[row * {{ N }} + j] * scale * w[j];
}

void solution(const float* X, const float* W, float* Y) {
  normalize<<<{{ M }}, 128>>>(X, W, Y);
}
