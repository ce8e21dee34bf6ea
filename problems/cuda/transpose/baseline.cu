// Reads rows, writes columns.
__global__ void transpose(const float* x, float* y) {
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i < {{ M }} && j < {{ N }}) y[j * {{ M }} + i] = x[i * {{ N }} + j];
}

void solution(const float* X, float* Y) {
  transpose<<<dim3(({{ N }} + 31) / 32, ({{ M }} + 7) / 8), dim3(32, 8)>>>(X, Y);
}
