// A block for 32 rows of a product, with both operands in shared memory; 2x4 results for each
// thread.
#define ROWS 32
__global__ void __launch_bounds__({{ N }} * ROWS / 8) multiply(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z) {
  __shared__ float sx[ROWS][{{ K }}], sy[{{ K }}][{{ N }}];
  int t = threadIdx.x, b = blockIdx.y, row = blockIdx.x * ROWS;
  const float4* from = (const float4*)(x + (b * {{ M }} + row) * {{ K }});
#pragma unroll
  for (int i = t; i < ROWS * {{ K }} / 4; i += {{ N }} * ROWS / 8) ((float4*)sx)[i] = from[i];
  from = (const float4*)(y + b * {{ K * N }});
#pragma unroll
  for (int i = t; i < {{ K * N }} / 4; i += {{ N }} * ROWS / 8) ((float4*)sy)[i] = from[i];
  __syncthreads();
  int column = t % ({{ N }} / 4) * 4, own = t / ({{ N }} / 4) * 2;
  float sum[2][4] = {};
#pragma unroll 16
  for (int k = 0; k < {{ K }}; k++) {
    float4 v = *(const float4*)&sy[k][column];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      float u = sx[own + i][k];
      sum[i][0] += u * v.x;
      sum[i][1] += u * v.y;
      sum[i][2] += u * v.z;
      sum[i][3] += u * v.w;
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
    *(float4*)&z[(b * {{ M }} + row + own + i) * {{ N }} + column] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

void solution(const float* X, const float* Y, float* Z) {
  multiply<<<dim3({{ M }} / ROWS, {{ B }}), {{ N }} * ROWS / 8>>>(X, Y, Z);
}
