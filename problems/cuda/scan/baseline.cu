// Blocks of 1024 by doubling distances in shared memory; then the sums of the blocks; then both.
__global__ void blocks(const int* x, int* y, int* sums) {
  __shared__ int part[2][1024];
  int i = blockIdx.x * 1024 + threadIdx.x, at = 0;
  part[0][threadIdx.x] = x[i];
  __syncthreads();
  for (int distance = 1; distance < 1024; distance *= 2) {
    int sum = part[at][threadIdx.x];
    if (threadIdx.x >= distance) sum += part[at][threadIdx.x - distance];
    at ^= 1;
    part[at][threadIdx.x] = sum;
    __syncthreads();
  }
  y[i] = part[at][threadIdx.x];
  if (threadIdx.x == 1023) sums[blockIdx.x] = part[at][1023];
}

__global__ void totals(int* sums) {
  if (threadIdx.x == 0)
    for (int i = 1; i < {{ N }} / 1024; i++) sums[i] += sums[i - 1];
}

__global__ void spread(int* y, const int* sums) {
  if (blockIdx.x > 0) y[blockIdx.x * 1024 + threadIdx.x] += sums[blockIdx.x - 1];
}

void solution(const int* X, int* Y) {
  int* sums;
  cudaMalloc(&sums, {{ N }} / 1024 * sizeof(int));
  blocks<<<{{ N }} / 1024, 1024>>>(X, Y, sums);
  totals<<<1, 32>>>(sums);
  spread<<<{{ N }} / 1024, 1024>>>(Y, sums);
}
