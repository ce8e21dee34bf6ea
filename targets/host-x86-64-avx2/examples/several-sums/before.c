float sum = 0.0f;
for (int j = 0; j < 1000; j++) {
  sum += X[i][j];
}
