// The definition, in binary64.
void solution(float Q[{{ S }}][{{ D }}], float K[{{ S }}][{{ D }}], float V[{{ S }}][{{ D }}], float O[{{ S }}][{{ D }}]) {
  for (int i = 0; i < {{ S }}; i++) {
    static double score[{{ S }}];
    double top = -1e300, sum = 0;
    for (int j = 0; j <= i; j++) {
      double dot = 0;
      for (int d = 0; d < {{ D }}; d++) {
        dot += (double)Q[i][d] * K[j][d];
      }
      score[j] = dot / sqrt((double){{ D }});
      top = score[j] > top ? score[j] : top;
    }
    for (int j = 0; j <= i; j++) {
      score[j] = exp(score[j] - top);
      sum += score[j];
    }
    for (int d = 0; d < {{ D }}; d++) {
      double all = 0;
      for (int j = 0; j <= i; j++) {
        all += score[j] * V[j][d];
      }
      O[i][d] = (float)(all / sum);
    }
  }
}
