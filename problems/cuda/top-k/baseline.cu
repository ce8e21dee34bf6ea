// A row for each thread, which keeps the largest ones in order.
__global__ void select(const float* x, float* v, int* p) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= {{ M }}) return;
  float best[{{ K }}];
  int at[{{ K }}];
#pragma unroll
  for (int k = 0; k < {{ K }}; k++) best[k] = -INFINITY, at[k] = -1;
  for (int j = 0; j < {{ N }}; j++) {
    float own = x[row * {{ N }} + j];
    int place = j;
    bool moves = false;
#pragma unroll
    for (int k = 0; k < {{ K }}; k++) {
      if (moves || best[k] < own || at[k] < 0) {
        moves = true;
        float other = best[k];
        int there = at[k];
        best[k] = own, at[k] = place;
        own = other, place = there;
        if (place < 0) break;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < {{ K }}; k++) v[row * {{ K }} + k] = best[k], p[row * {{ K }} + k] = at[k];
}

void solution(const float* X, float* V, int* P) {
  select<<<({{ M }} + 63) / 64, 64>>>(X, V, P);
}
