// The definition: one selection after the other.
void solution(float X[{{ M }}][{{ N }}], float V[{{ M }}][{{ K }}], int32_t P[{{ M }}][{{ K }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    static unsigned char taken[{{ N }}];
    memset(taken, 0, sizeof taken);
    for (int k = 0; k < {{ K }}; k++) {
      int best = -1;
      for (int j = 0; j < {{ N }}; j++) {
        if (!taken[j] && (best < 0 || X[i][best] < X[i][j])) {
          best = j;
        }
      }
      taken[best] = 1;
      V[i][k] = X[i][best];
      P[i][k] = best;
    }
  }
}
