// An atomic operation in memory for each element.
__global__ void count(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < {{ N }}) atomicAdd(&y[x[i]], 1);
}

void solution(const int* X, int* Y) {
  cudaMemset(Y, 0, 256 * sizeof(int));
  count<<<({{ N }} + 255) / 256, 256>>>(X, Y);
}
