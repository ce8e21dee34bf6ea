// Loads of 16 bytes, shuffles instead of a tree, few blocks; a second launch adds their results.
__device__ float of_block(float sum) {
  __shared__ float part[32];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  return sum;
}

__global__ void parts_of(const float* __restrict__ x, float* __restrict__ parts) {
  float sum = 0.0f;
  int first = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 4
  for (int i = first; i < {{ N }} / 4; i += gridDim.x * blockDim.x) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  if (first < {{ N }} % 4) sum += x[{{ N }} / 4 * 4 + first];
  sum = of_block(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void whole_of(const float* __restrict__ parts, float* __restrict__ y) {
  float sum = of_block(parts[threadIdx.x]);
  if (threadIdx.x == 0) y[0] = sum;
}

void solution(const float* X, float* Y) {
  float* parts;
  cudaMalloc(&parts, 256 * sizeof(float));
  parts_of<<<256, 512>>>(X, parts);
  whole_of<<<1, 256>>>(parts, Y);
}
