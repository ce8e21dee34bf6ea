// The same, with sums in any order, which the compiler needs to use vectors.
void solution(float Q[restrict {{ N }}][{{ D }}], float K[restrict {{ N }}][{{ D }}], float V[restrict {{ N }}][{{ D }}], float O[restrict {{ N }}][{{ D }}]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < {{ N }}; i++) {
    float scores[{{ N }}], top = -FLT_MAX;
    for (int j = 0; j < {{ N }}; j++) {
      float score = 0;
      for (int d = 0; d < {{ D }}; d++) {
        score += Q[i][d] * K[j][d];
      }
      scores[j] = score * (float)(1.0 / {{ D ** 0.5 }});
      top = scores[j] > top ? scores[j] : top;
    }
    float sum = 0;
    for (int j = 0; j < {{ N }}; j++) {
      scores[j] = expf(scores[j] - top);
      sum += scores[j];
    }
    for (int d = 0; d < {{ D }}; d++) {
      float value = 0;
      for (int j = 0; j < {{ N }}; j++) {
        value += scores[j] * V[j][d];
      }
      O[i][d] = (float)(value / sum);
    }
  }
}
