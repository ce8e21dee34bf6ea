for (int distance = 16; distance; distance /= 2)
  sum += __shfl_xor_sync(0xffffffff, sum, distance);
if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
__syncthreads();
sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
if (threadIdx.x < 32)
  for (int distance = 16; distance; distance /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
