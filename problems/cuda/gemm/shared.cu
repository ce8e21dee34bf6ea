// Tiles of 32x32 in shared memory, one result for each thread.
__global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float sa[32][32], sb[32][32];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
  float sum = 0.0f;
  for (int k = 0; k < {{ K }}; k += 32) {
    sa[y][x] = a[row * {{ K }} + k + x];
    sb[y][x] = b[(k + y) * {{ N }} + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; i++) sum += sa[y][i] * sb[i][x];
    __syncthreads();
  }
  c[row * {{ N }} + column] = sum;
}

void solution(const float* A, const float* B, float* C) {
  multiply<<<dim3({{ N }} / 32, {{ M }} / 32), dim3(32, 32)>>>(A, B, C);
}
