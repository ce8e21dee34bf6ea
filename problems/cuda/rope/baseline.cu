// One block for each position, one thread for each element of the result.
#define HALF {{ D // 2 }}
__global__ void rotate(const float* x, const float* c, const float* s, float* y) {
  int i = blockIdx.x, j = threadIdx.x, pair = j % HALF;
  float own = x[i * 2 * HALF + j], other = x[i * 2 * HALF + (j + HALF) % (2 * HALF)];
  float turn = s[i * HALF + pair];
  y[i * 2 * HALF + j] = own * c[i * HALF + pair] + (j < HALF ? -other : other) * turn;
}

void solution(const float* X, const float* C, const float* T, float* Y) {
  rotate<<<{{ S }}, {{ D }}>>>(X, C, T, Y);
}
