// Four pairs for each thread, 16 bytes at once.
#define QUARTER {{ D // 8 }}
__global__ void rotate(const float4* __restrict__ x, const float4* __restrict__ c, const float4* __restrict__ s, float4* __restrict__ y) {
  int at = blockIdx.x * 256 + threadIdx.x, i = at / QUARTER, j = at % QUARTER;
  float4 a = x[i * 2 * QUARTER + j], b = x[i * 2 * QUARTER + QUARTER + j], u = c[at], v = s[at];
  y[i * 2 * QUARTER + j] = make_float4(a.x * u.x - b.x * v.x, a.y * u.y - b.y * v.y, a.z * u.z - b.z * v.z, a.w * u.w - b.w * v.w);
  y[i * 2 * QUARTER + QUARTER + j] = make_float4(b.x * u.x + a.x * v.x, b.y * u.y + a.y * v.y, b.z * u.z + a.z * v.z, b.w * u.w + a.w * v.w);
}

void solution(const float* X, const float* C, const float* T, float* Y) {
  rotate<<<{{ S }} * QUARTER / 256, 256>>>((const float4*)X, (const float4*)C, (const float4*)T, (float4*)Y);
}
