// One point for each thread.
#define N {{ N }}
__global__ void step(const float* x, float* y) {
  int k = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, i = blockIdx.z;
  if (k >= N || j >= N) return;
  int at = (i * N + j) * N + k;
  float own = x[at];
  if (i > 0 && j > 0 && k > 0 && i < N - 1 && j < N - 1 && k < N - 1)
    own = 0.5f * own + (x[at - N * N] + x[at + N * N] + x[at - N] + x[at + N] + x[at - 1] + x[at + 1]) / 12.0f;
  y[at] = own;
}

void solution(const float* X, float* Y) {
  step<<<dim3((N + 31) / 32, (N + 3) / 4, N), dim3(32, 4)>>>(X, Y);
}
