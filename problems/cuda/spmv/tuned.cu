// One thread for each entry; rows are added up with shuffles.
__global__ void multiply(const float* __restrict__ a, const int* __restrict__ columns, const float* __restrict__ x, float* __restrict__ y) {
  int at = blockIdx.x * 256 + threadIdx.x;
  float sum = a[at] * __ldg(&x[columns[at]]);
#pragma unroll
  for (int distance = {{ E }} / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (at % {{ E }} == 0) y[at / {{ E }}] = sum;
}

void solution(const float* A, const int* I, const float* X, float* Y) {
  multiply<<<{{ M }} * {{ E }} / 256, 256>>>(A, I, X, Y);
}
