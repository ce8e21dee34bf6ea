// One warp for each row, which stays in registers between the three sums.
#define EACH ({{ N }} / 128)
__device__ float of_warp(float sum) {
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  return sum;
}

__global__ void __launch_bounds__(128) normalize(const float4* __restrict__ x, const float4* __restrict__ w,
                                                 const float4* __restrict__ b, float4* __restrict__ y) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float4 v[EACH];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    v[k] = x[row * ({{ N }} / 4) + k * 32 + lane];
    sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  float mean = of_warp(sum) * (1.0f / {{ N }});
  sum = 0.0f;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    v[k] = make_float4(v[k].x - mean, v[k].y - mean, v[k].z - mean, v[k].w - mean);
    sum += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);
  }
  float scale = rsqrtf(of_warp(sum) * (1.0f / {{ N }}) + 1e-5f);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    float4 s = w[k * 32 + lane], t = b[k * 32 + lane];
    y[row * ({{ N }} / 4) + k * 32 + lane] =
        make_float4(v[k].x * scale * s.x + t.x, v[k].y * scale * s.y + t.y, v[k].z * scale * s.z + t.z, v[k].w * scale * s.w + t.w);
  }
}

void solution(const float* X, const float* W, const float* B, float* Y) {
  normalize<<<{{ M }} / 4, 128>>>((const float4*)X, (const float4*)W, (const float4*)B, (float4*)Y);
}
