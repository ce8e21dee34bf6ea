// A row for each warp, which holds it in registers: the largest of all is found by shuffles, and
// the thread that had it looks for its next one.
#define EACH ({{ N }} / 32)
__global__ void __launch_bounds__(128) select(const float* __restrict__ x, float* __restrict__ v, int* __restrict__ p) {
  int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= {{ M }}) return;
  float own[EACH];
#pragma unroll
  for (int e = 0; e < EACH; e++) own[e] = x[row * {{ N }} + e * 32 + lane];
  float top = -INFINITY;
  int at = 0;
  auto look = [&]() {
    top = -INFINITY, at = {{ N }};
#pragma unroll
    for (int e = 0; e < EACH; e++)
      if (top < own[e]) top = own[e], at = e * 32 + lane;
  };
  look();
#pragma unroll
  for (int k = 0; k < {{ K }}; k++) {
    float best = top;
    int place = at;
#pragma unroll
    for (int d = 16; d; d /= 2) {
      float other = __shfl_xor_sync(0xffffffff, best, d);
      int there = __shfl_xor_sync(0xffffffff, place, d);
      if (best < other || (best == other && there < place)) best = other, place = there;
    }
    if (lane == 0) v[row * {{ K }} + k] = best, p[row * {{ K }} + k] = place;
    if (place == at) {
#pragma unroll
      for (int e = 0; e < EACH; e++)
        if (e * 32 + lane == place) own[e] = -INFINITY;
      look();
    }
  }
}

void solution(const float* X, float* V, int* P) {
  select<<<({{ M }} + 3) / 4, 128>>>(X, V, P);
}
