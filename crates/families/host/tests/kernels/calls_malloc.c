// build_failed undefined-symbol
void *malloc(size_t);
void solution(float x[3000], float y[3000]) {
  float *sums = malloc(sizeof(float[3000]));
  sums[0] = x[0];
  memcpy(y, sums, sizeof(float[3000]));
}
