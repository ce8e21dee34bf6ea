// parts: vectors, vectors
// x int32 1000 input
// best int32 2 output
void solution(int32_t x[1000], int32_t best[2]) {
  int at = 999;
  int32_t low = x[999];
  for (int j = 998; j >= 0; j--) {
    if (x[j] < low) {
      low = x[j];
      at = j;
    }
  }
  best[0] = at;
  best[1] = low;
}
