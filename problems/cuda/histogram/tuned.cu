// Each block counts in shared memory, over many elements, and adds its counts once.
__global__ void count(const int4* __restrict__ x, int* __restrict__ y) {
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < {{ N }} / 4; i += gridDim.x * 256) {
    int4 v = x[i];
    atomicAdd(&own[v.x], 1);
    atomicAdd(&own[v.y], 1);
    atomicAdd(&own[v.z], 1);
    atomicAdd(&own[v.w], 1);
  }
  __syncthreads();
  atomicAdd(&y[threadIdx.x], own[threadIdx.x]);
}

void solution(const int* X, int* Y) {
  cudaMemset(Y, 0, 256 * sizeof(int));
  count<<<256, 256>>>((const int4*)X, Y);
}
