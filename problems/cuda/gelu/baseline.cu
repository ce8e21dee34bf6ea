// One element for each thread.
__global__ void gelu(const float* x, float* y) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < {{ N }}) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

void solution(const float* X, float* Y) {
  gelu<<<({{ N }} + 255) / 256, 256>>>(X, Y);
}
