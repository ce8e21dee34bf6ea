// parts: turn
// X float32 37,43 input
// Y float32 43,37 output
enum { H = 37, W = 43 };
void solution(const float *restrict X, float *restrict Y) {
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++) Y[j * H + i] = X[i * W + j];
}
