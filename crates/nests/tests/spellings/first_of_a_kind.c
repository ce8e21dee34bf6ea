// parts: vectors, vectors, vectors
// X int8 9,300 input
// Z int8 9,300 input
// I int32 27 output
void solution(int8_t X[9][300], int8_t Z[9][300], int32_t I[27]) {
  for (int i = 0; i < 9; i++) {
    int j = 0;
    while (j < 300 && X[i][j] != 7) {
      j++;
    }
    I[i] = j;
    int len = 1;
    for (int k = 0; k < 299; k++) {
      if (X[i][k] != Z[i][k + 1])
        break;
      len++;
    }
    I[9 + i] = len;
    int at = -1, found = 0;
    for (int k = 2; k < 300; ++k) if (X[i][k] > 120 || Z[i][k] == 3) { at = k; found = 1; break; }
    I[18 + i] = at + found;
  }
}
