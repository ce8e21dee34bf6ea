// One warp for each row, 16 bytes at once, the row kept in registers.
#define EACH (({{ N }} / 4 + 31) / 32)
__global__ void __launch_bounds__(128) normalize(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= {{ M }}) return;
  const float4* from = reinterpret_cast<const float4*>(x + row * {{ N }});
  float4 v[EACH];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int j = k * 32 + lane;
    v[k] = j < {{ N }} / 4 ? from[j] : make_float4(0, 0, 0, 0);
    sum += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  float scale = rsqrtf(sum * (1.0f / {{ N }}) + 1e-5f);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int j = k * 32 + lane;
    if (j < {{ N }} / 4) {
      float4 s = reinterpret_cast<const float4*>(w)[j];
      reinterpret_cast<float4*>(y + row * {{ N }})[j] =
          make_float4(v[k].x * scale * s.x, v[k].y * scale * s.y, v[k].z * scale * s.z, v[k].w * scale * s.w);
    }
  }
}

void solution(const float* X, const float* W, float* Y) {
  normalize<<<({{ M }} + 3) / 4, 128>>>(X, W, Y);
}
