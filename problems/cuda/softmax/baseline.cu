// One thread for each row, three passes.
__global__ void softmax(const float* x, float* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= {{ M }}) return;
  float top = x[row * {{ N }}];
  for (int j = 1; j < {{ N }}; j++) top = fmaxf(top, x[row * {{ N }} + j]);
  float sum = 0.0f;
  for (int j = 0; j < {{ N }}; j++) sum += expf(x[row * {{ N }} + j] - top);
  for (int j = 0; j < {{ N }}; j++) y[row * {{ N }} + j] = expf(x[row * {{ N }} + j] - top) / sum;
}

void solution(const float* X, float* Y) {
  softmax<<<({{ M }} + 127) / 128, 128>>>(X, Y);
}
