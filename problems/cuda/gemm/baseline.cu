// One result for each thread, straight from memory.
__global__ void multiply(const float* a, const float* b, float* c) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= {{ M }} || column >= {{ N }}) return;
  float sum = 0.0f;
  for (int k = 0; k < {{ K }}; k++) sum += a[row * {{ K }} + k] * b[k * {{ N }} + column];
  c[row * {{ N }} + column] = sum;
}

void solution(const float* A, const float* B, float* C) {
  multiply<<<dim3(({{ N }} + 15) / 16, ({{ M }} + 15) / 16), dim3(16, 16)>>>(A, B, C);
}
