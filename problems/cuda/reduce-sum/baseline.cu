// A tree in shared memory for each block, and one for the results of the blocks.
__global__ void add(const float* x, float* y, int n) {
  __shared__ float part[256];
  float sum = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

void solution(const float* X, float* Y) {
  float* parts;
  cudaMalloc(&parts, 4096 * sizeof(float));
  add<<<4096, 256>>>(X, parts, {{ N }});
  add<<<1, 256>>>(parts, Y, 4096);
}
