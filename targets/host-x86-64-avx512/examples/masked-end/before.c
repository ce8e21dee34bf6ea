int j = 0;
for (; j + 16 <= 333; j += 16) {
  _mm512_storeu_ps(&Y[i][j], _mm512_mul_ps(_mm512_loadu_ps(&X[i][j]), scale));
}
for (; j < 333; j++) {
  Y[i][j] = X[i][j] * factor;
}
