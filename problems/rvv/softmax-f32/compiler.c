// e^x for x <= 0 by 2^n times a polynomial of the rest, without a call, so that the compiler uses
// vectors.
static inline float exponential(float x) {
  x = x > -87.0f ? x : -87.0f;
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

// Bits of numbers, the lower ones turned over where they are negative, are in the order of the numbers:
// the compiler finds the greatest of whole numbers with vectors, that of others without.
static inline int32_t ordered(int32_t bits) {
  return bits ^ (bits >> 31 & INT32_MAX);
}

static inline float greatest(const float *x) {
  int32_t top = INT32_MIN;
  for (int i = 0; i < {{ N }}; i++) {
    union { float number; int32_t bits; } from = {x[i]};
    top = ordered(from.bits) > top ? ordered(from.bits) : top;
  }
  union { int32_t bits; float number; } to = {ordered(top)};
  return to.number;
}

void solution(float X[restrict {{ M }}][{{ N }}], float Y[restrict {{ M }}][{{ N }}]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < {{ M }}; i++) {
    float top = greatest(X[i]);
    float sum = 0.0f;
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = exponential(X[i][j] - top);
      sum += Y[i][j];
    }
    float scale = 1.0f / sum;
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] *= scale;
    }
  }
}
