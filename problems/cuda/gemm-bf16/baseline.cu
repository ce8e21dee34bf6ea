// One result for each thread, straight from memory.
__global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < {{ K }}; k++) sum += __bfloat162float(a[row * {{ K }} + k]) * __bfloat162float(b[k * {{ N }} + column]);
  c[row * {{ N }} + column] = sum;
}

void solution(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C) {
  multiply<<<dim3({{ N }} / 16, {{ M }} / 16), dim3(16, 16)>>>(A, B, C);
}
