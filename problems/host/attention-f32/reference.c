// The definition, in binary64.
void solution(float Q[{{ N }}][{{ D }}], float K[{{ N }}][{{ D }}], float V[{{ N }}][{{ D }}], float O[{{ N }}][{{ D }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    double scores[{{ N }}], top = -1e300;
    for (int j = 0; j < {{ N }}; j++) {
      double score = 0;
      for (int d = 0; d < {{ D }}; d++) {
        score += (double)Q[i][d] * K[j][d];
      }
      scores[j] = score * (double)(1.0 / {{ D ** 0.5 }});
      top = scores[j] > top ? scores[j] : top;
    }
    double sum = 0;
    for (int j = 0; j < {{ N }}; j++) {
      scores[j] = exp(scores[j] - top);
      sum += scores[j];
    }
    for (int d = 0; d < {{ D }}; d++) {
      double value = 0;
      for (int j = 0; j < {{ N }}; j++) {
        value += scores[j] * V[j][d];
      }
      O[i][d] = (float)(value / sum);
    }
  }
}
