// A column of points for each thread: neighbours above and below stay in registers.
#define N {{ N }}
#define DEEP 8
__global__ void step(const float* __restrict__ x, float* __restrict__ y) {
  int k = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, first = blockIdx.z * DEEP;
  if (k >= N || j >= N) return;
  bool is_inside = j > 0 && k > 0 && j < N - 1 && k < N - 1;
  int at = (first * N + j) * N + k;
  float below = first > 0 ? x[at - N * N] : 0.0f, own = x[at];
#pragma unroll
  for (int d = 0; d < DEEP; d++) {
    int i = first + d;
    float above = i + 1 < N ? x[at + N * N] : 0.0f;
    float result = own;
    if (is_inside && i > 0 && i < N - 1)
      result = 0.5f * own + (below + above + x[at - N] + x[at + N] + x[at - 1] + x[at + 1]) * (1.0f / 12.0f);
    y[at] = result;
    below = own;
    own = above;
    at += N * N;
  }
}

void solution(const float* X, float* Y) {
  step<<<dim3((N + 31) / 32, (N + 3) / 4, N / DEEP), dim3(32, 4)>>>(X, Y);
}
