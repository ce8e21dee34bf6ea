// parts: vectors, vectors, vectors
// L float32 37,37 input
// X float32 37 input
// Y float32 37 output
// U float32 37 output
// Z int32 1 output
void solution(float L[37][37], float X[37], float Y[37], float U[37], int32_t Z[1]) {
  for (int i = 0; i < 37; i++) {
    float s = 0;
    for (int j = 0; j <= i; j++) s += L[i][j] * X[j];
    Y[i] = s;
    float u = 1;
    for (int j = i + 1; j < 37; j++) u += L[j][i] * X[j];
    U[i] = u;
  }
  int count = 0;
  for (int i = 2; i < 20; i++)
    for (int j = i; j < 2 * i - 1; j++) count += i * j;
  Z[0] = count;
}
