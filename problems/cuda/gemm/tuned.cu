// Blocks of 64x64, 8 deep; 4x4 results for each thread; A turned in shared memory, so that both
// operands are read as vectors; the next tiles are loaded while the last are used.
__global__ void __launch_bounds__(256) multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float sa[2][8][64 + 4], sb[2][8][64];
  int t = threadIdx.x;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  int x = t % 16 * 4, y = t / 16 * 4;
  float sum[4][4] = {};
  const float* from_a = a + (row + t / 2 % 64) * {{ K }} + t % 2 * 4;
  const float* from_b = b + (t % 128) / 16 * {{ N }} + column + t % 16 * 4;
  float4 next;
  auto load = [&](int k) {
    next = t < 128 ? *(const float4*)(from_a + k) : *(const float4*)(from_b + k * {{ N }});
  };
  auto keep = [&](int at) {
    if (t < 128) {
      sa[at][t % 2 * 4 + 0][t / 2] = next.x;
      sa[at][t % 2 * 4 + 1][t / 2] = next.y;
      sa[at][t % 2 * 4 + 2][t / 2] = next.z;
      sa[at][t % 2 * 4 + 3][t / 2] = next.w;
    } else {
      *(float4*)&sb[at][(t % 128) / 16][t % 16 * 4] = next;
    }
  };
  load(0);
  keep(0);
  __syncthreads();
  int at = 0;
  for (int k = 8; k <= {{ K }}; k += 8) {
    if (k < {{ K }}) load(k);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      float4 u = *(const float4*)&sa[at][i][y], v = *(const float4*)&sb[at][i][x];
      float p[4] = {u.x, u.y, u.z, u.w}, q[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int m = 0; m < 4; m++)
#pragma unroll
        for (int n = 0; n < 4; n++) sum[m][n] += p[m] * q[n];
    }
    at ^= 1;
    if (k < {{ K }}) keep(at);
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < 4; m++)
    *(float4*)&c[(row + y + m) * {{ N }} + column + x] = make_float4(sum[m][0], sum[m][1], sum[m][2], sum[m][3]);
}

void solution(const float* A, const float* B, float* C) {
  multiply<<<dim3({{ N }} / 64, {{ M }} / 64), 256>>>(A, B, C);
}
