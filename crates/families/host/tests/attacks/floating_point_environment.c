// The modes of the floating-point unit and values at its edges.
static void work(const float *x, float *y) {
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
}

//! rounds down and puts it back, which the tolerance does not allow: wrong output-mismatch
// x86-64
void solution(float x[3000], float y[3000]) {
  unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~0x6000u) | 0x2000u);
  work(x, y);
  _mm_setcsr(before);
}

//! rounds toward zero from then on: illegal changed-modes
// x86-64
void solution(float x[3000], float y[3000]) {
  work(x, y);
  _mm_setcsr(_mm_getcsr() | 0x6000);
}

//! flushes denormals in the first call and puts it back in the second: illegal changed-modes
// x86-64
static int calls;
void solution(float x[3000], float y[3000]) {
  work(x, y);
  _mm_setcsr(calls++ & 1 ? _mm_getcsr() & ~0x8040u : _mm_getcsr() | 0x8040u);
}

//! unmasks exceptions: illegal changed-modes
// x86-64
void solution(float x[3000], float y[3000]) {
  work(x, y);
  _mm_setcsr(_mm_getcsr() & ~0x200u);
}

//! unmasks the invalid operation and meets one: crashed arithmetic-trap
// x86-64
void solution(float x[3000], float y[3000]) {
  _mm_setcsr(_mm_getcsr() & ~0x80u);
  volatile float zero = 0.0f;
  y[0] = zero / zero;
}

//! sets the direction of string instructions: illegal changed-modes
// x86-64
void solution(float x[3000], float y[3000]) {
  work(x, y);
  __asm__ volatile("std" ::: "cc");
}

//! infinity for everything: wrong output-mismatch
void solution(float x[3000], float y[3000]) {
  for (int i = 0; i < 3000; i++) {
    y[i] = INFINITY;
  }
}

//! a number that is none for everything: wrong output-mismatch
void solution(float x[3000], float y[3000]) {
  for (int i = 0; i < 3000; i++) {
    y[i] = NAN;
  }
}

//! the payload of the poison for everything: wrong output-not-written
void solution(float x[3000], float y[3000]) {
  volatile uint32_t *bits = (volatile uint32_t *)y;
  for (int i = 0; i < 3000; i++) {
    bits[i] = bits[i];
  }
}

//! the poison made quiet: wrong output-mismatch
void solution(float x[3000], float y[3000]) {
  volatile uint32_t *bits = (volatile uint32_t *)y;
  for (int i = 0; i < 3000; i++) {
    bits[i] |= 0x400000;
  }
}

//! sums with the poison: wrong output-mismatch
void solution(float x[3000], float y[3000]) {
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] += sum;
  }
}

//! long double for sums: ok
void solution(float x[3000], float y[3000]) {
  long double sum = 0.0L;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = (float)sum;
  }
}

//! negative zeros added: ok
void solution(float x[3000], float y[3000]) {
  float sum = -0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i] + -0.0f;
    y[i] = sum;
  }
}
