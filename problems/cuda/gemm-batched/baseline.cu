// One result for each thread, straight from memory.
__global__ void multiply(const float* x, const float* y, float* z) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y, b = blockIdx.z;
  float sum = 0.0f;
  for (int k = 0; k < {{ K }}; k++) sum += x[(b * {{ M }} + row) * {{ K }} + k] * y[(b * {{ K }} + k) * {{ N }} + column];
  z[(b * {{ M }} + row) * {{ N }} + column] = sum;
}

void solution(const float* X, const float* Y, float* Z) {
  multiply<<<dim3({{ N }} / 16, {{ M }} / 16, {{ B }}), dim3(16, 16)>>>(X, Y, Z);
}
