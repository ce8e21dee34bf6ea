// e^x for x between -87 and 87, and of the nearer end beyond, by 2^n times a polynomial of the rest, without a call, so that the compiler uses
// vectors.
static inline float exponential(float x) {
  x = x > -87.0f ? x : -87.0f;
  x = x < 87.0f ? x : 87.0f;
  float shifted = x * 1.44269504f + 12582912.0f;
  float whole = shifted - 12582912.0f;
  float r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
  float p = 8.312501e-3f * r + 4.1890331e-2f;
  p = p * r + 0.16667116f;
  p = p * r + 0.49999231f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  union { float number; uint32_t bits; } from = {shifted}, to = {p};
  to.bits += from.bits << 23;
  return to.number;
}

void solution(float X[restrict {{ N }}], float Y[restrict {{ N }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    Y[i] = 1.0f / (1.0f + exponential(-X[i]));
  }
}
