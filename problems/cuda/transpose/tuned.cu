// A tile of 32x32 goes through shared memory, whose rows are padded: columns lie in 32 banks.
__global__ void transpose(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float tile[32][33];
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8)
    if (i + k < {{ M }} && j < {{ N }}) tile[threadIdx.y + k][threadIdx.x] = x[(i + k) * {{ N }} + j];
  __syncthreads();
  int column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8)
    if (row + k < {{ N }} && column < {{ M }}) y[(row + k) * {{ M }} + column] = tile[threadIdx.x][threadIdx.y + k];
}

void solution(const float* X, float* Y) {
  transpose<<<dim3(({{ N }} + 31) / 32, ({{ M }} + 31) / 32), dim3(32, 8)>>>(X, Y);
}
