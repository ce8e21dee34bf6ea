// Functions that kernels and references may call, as a C library would offer
// them. All are weak: a kernel may bring its own. It sees kernel.h, as they do,
// where four of the names stand for the compiler's own functions.

#define WEAK __attribute__((weak))

#undef memcpy
#undef memmove
#undef memset
#undef memcmp

WEAK void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  char *d = to;
  const char *s = from;
  for (; bytes >= 32; bytes -= 32, d += 32, s += 32) {
    typedef char block __attribute__((vector_size(32), aligned(1)));
    *(block *)d = *(const block *)s;
  }
  while (bytes--) {
    *d++ = *s++;
  }
  return to;
}

WEAK void *memmove(void *to, const void *from, size_t bytes) {
  char *d = to;
  const char *s = from;
  if (d < s) {
    for (size_t i = 0; i < bytes; i++) {
      d[i] = s[i];
    }
  } else {
    for (size_t i = bytes; i-- > 0;) {
      d[i] = s[i];
    }
  }
  return to;
}

WEAK void *memset(void *to, int value, size_t bytes) {
  char *d = to;
  typedef char block __attribute__((vector_size(32), aligned(1)));
  block filled = (block){} + (char)value;
  for (; bytes >= 32; bytes -= 32, d += 32) {
    *(block *)d = filled;
  }
  while (bytes--) {
    *d++ = (char)value;
  }
  return to;
}

WEAK int memcmp(const void *one, const void *other, size_t bytes) {
  const unsigned char *a = one, *b = other;
  for (size_t i = 0; i < bytes; i++) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

// x 2^n for |n| below 2000, without overflow on the way.
static double scaled(double x, int64_t n) {
  int64_t half = n / 2;
  double a = __builtin_bit_cast(double, (half + 1023) << 52);
  double b = __builtin_bit_cast(double, (n - half + 1023) << 52);
  return x * a * b;
}

// x = n ln 2 + r with |r| at most half of ln 2, where 14 terms suffice.
WEAK double exp(double x) {
  if (!(x > -745.2)) {
    return x != x ? x : 0.0;
  }
  if (x > 709.79) {
    return INFINITY;
  }
  double n = __builtin_rint(x * 1.4426950408889634074);
  double r = x - n * 6.93147180369123816490e-01;
  r -= n * 1.90821492927058770002e-10;
  double term = 1.0, sum = 1.0;
  for (int i = 1; i < 15; i++) {
    term *= r / i;
    sum += term;
  }
  return scaled(sum, (int64_t)n);
}

// x = m 2^n with m near one: twice the series of artanh((m - 1) / (m + 1)).
WEAK double log(double x) {
  if (!(x > 0.0)) {
    return x == 0.0 ? -INFINITY : NAN;
  }
  if (x > 1.7976931348623157e308) {
    return x;
  }
  int64_t n = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;
    n = -54;
  }
  int64_t bits = __builtin_bit_cast(int64_t, x);
  n += (bits >> 52) - 1023;
  double m = __builtin_bit_cast(double, (bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    n++;
  }
  double z = (m - 1.0) / (m + 1.0), s = z * z, power = z, sum = 0.0;
  for (int i = 1; i < 40; i += 2) {
    sum += power / i;
    power *= s;
  }
  return 2.0 * sum + (double)n * 6.93147180369123816490e-01 + (double)n * 1.90821492927058770002e-10;
}

WEAK double tanh(double x) {
  double a = __builtin_fabs(x);
  double result;
  if (a > 20.0) {
    result = 1.0;
  } else if (a > 0.3) {
    result = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
  } else {
    // sinh over cosh by their series.
    double s = a * a, up = a, down = 1.0, odd = a, even = 1.0;
    for (int i = 1; i < 9; i++) {
      odd *= s / (2.0 * i * (2.0 * i + 1.0));
      even *= s / ((2.0 * i - 1.0) * 2.0 * i);
      up += odd;
      down += even;
    }
    result = up / down;
  }
  return x != x ? x : __builtin_copysign(result, x);
}

// The series 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!, whose terms are
// all positive; beyond 6 the result is one.
WEAK double erf(double x) {
  double a = __builtin_fabs(x);
  if (x != x) {
    return x;
  }
  if (a > 6.0) {
    return __builtin_copysign(1.0, x);
  }
  double s = 2.0 * a * a, term = a, sum = a;
  for (int i = 1; i < 200 && term > sum * 1e-17; i++) {
    term *= s / (2.0 * i + 1.0);
    sum += term;
  }
  return __builtin_copysign(1.1283791670955125739 * exp(-a * a) * sum, x);
}

// x86-64 converts numbers of 16 bits by calls, unless the compiler is told of F16C.
#ifdef __x86_64__
WEAK float __extendhfsf2(_Float16 x) {
  uint32_t bits = __builtin_bit_cast(uint16_t, x);
  uint32_t sign = (bits & 0x8000) << 16, size = (bits & 0x7fff) << 13;
  if (size >= 0x0f800000) {
    // Infinite, or not a number and a quiet one.
    uint32_t quiet = size > 0x0f800000 ? 0x400000 : 0;
    return __builtin_bit_cast(float, sign | size | 0x7f800000 | quiet);
  }
  float scaled = __builtin_bit_cast(float, size) * 0x1p112f;
  return __builtin_bit_cast(float, sign | __builtin_bit_cast(uint32_t, scaled));
}

WEAK _Float16 __truncdfhf2(double x) {
  uint64_t bits = __builtin_bit_cast(uint64_t, x);
  uint64_t size = bits & INT64_MAX;
  double magnitude = __builtin_bit_cast(double, size);
  uint16_t half;
  if (x != x) {
    half = 0x7e00 | (size >> 42 & 0x1ff);
  } else if (magnitude >= 65520.0) {
    half = 0x7c00;
  } else if (magnitude < 0x1p-14) {
    // Steps of the smallest number; as many as make the next exponent carry into it.
    half = (uint16_t)__builtin_rint(magnitude * 0x1p24);
  } else {
    uint64_t rounded = size + 0x1ffffffffff + (size >> 42 & 1);
    half = (uint16_t)((rounded >> 42) - (1008 << 10));
  }
  return __builtin_bit_cast(_Float16, (uint16_t)(half | (bits >> 48 & 0x8000)));
}

WEAK _Float16 __truncsfhf2(float x) {
  return __truncdfhf2(x);
}

WEAK __bf16 __truncsfbf2(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  uint32_t rounded = x != x ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
  return __builtin_bit_cast(__bf16, (uint16_t)(rounded >> 16));
}

// By a number of 32 bits whose last bit tells that there was a rest, so that it is rounded once.
WEAK __bf16 __truncdfbf2(double x) {
  float near = (float)x;
  uint32_t bits = __builtin_bit_cast(uint32_t, near);
  if (x == x && near != x && bits % 2 == 0) {
    bits += __builtin_fabs((double)near) > __builtin_fabs(x) ? -1 : 1;
  }
  return __truncsfbf2(__builtin_bit_cast(float, bits));
}
#endif
