// parts: vectors
// X float32 333 input
// Y float32 1 output
void solution(float X[333], float Y[1]) {
  float most = X[0];
  for (int i = 1; i < 333; i++) if (X[i] > most) most = X[i];
  Y[0] = most;
}
