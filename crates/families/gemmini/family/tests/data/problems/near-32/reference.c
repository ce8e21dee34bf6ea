void solution(float a[32], float b[32], float y[32]) {
  for (int i = 0; i < 32; i++) y[i] = a[i] + b[i];
}
