partial[threadIdx.x] = sum;
__syncthreads();
for (int half = blockDim.x / 2; half; half /= 2) {
  if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  __syncthreads();
}
