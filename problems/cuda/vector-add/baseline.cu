// One element for each thread.
__global__ void add(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < {{ N }}) z[i] = x[i] + y[i];
}

void solution(const float* X, const float* Y, float* Z) {
  add<<<({{ N }} + 255) / 256, 256>>>(X, Y, Z);
}
