// What every kernel and reference sees before its own text.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_PI 3.14159265358979323846
#define FLT_MAX 3.40282346638528859812e+38f
#define FLT_MIN 1.17549435082228750797e-38f
#define FLT_EPSILON 1.1920928955078125e-07f

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
// Freestanding code takes them for functions like any other. Calls are those of the compiler's own,
// so that a copy of a few bytes becomes a load and a store, as elsewhere; no functions in between,
// which would hide how operands are aligned.
#define memcpy(to, from, bytes) __builtin_memcpy(to, from, bytes)
#define memmove(to, from, bytes) __builtin_memmove(to, from, bytes)
#define memset(to, value, bytes) __builtin_memset(to, value, bytes)
#define memcmp(one, other, bytes) __builtin_memcmp(one, other, bytes)

double exp(double x);
double log(double x);
double tanh(double x);
double erf(double x);

static inline double sqrt(double x) { return __builtin_sqrt(x); }
static inline double fabs(double x) { return __builtin_fabs(x); }
static inline double fmax(double a, double b) { return __builtin_fmax(a, b); }
static inline double fmin(double a, double b) { return __builtin_fmin(a, b); }
static inline float sqrtf(float x) { return __builtin_sqrtf(x); }
static inline float fabsf(float x) { return __builtin_fabsf(x); }
static inline float fmaxf(float a, float b) { return a > b ? a : b; }
static inline float fminf(float a, float b) { return a < b ? a : b; }

// e^x within two units in the last place, without branches, so that loops over
// it become vector code: x = n ln 2 + r, and a polynomial for e^r.
static inline float expf(float x) {
  float low = -87.3f, high = 88.7f;
  float y = x < low ? low : x > high ? high : x;
  float n = y * 1.44269504088896341f + 12582912.0f;
  int32_t bits = __builtin_bit_cast(int32_t, n) - 0x4b400000;
  n -= 12582912.0f;
  float r = y - n * 0.693359375f;
  r -= n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // In two factors: the largest n is one more than an exponent can be.
  int32_t half = bits >> 1;
  float a = __builtin_bit_cast(float, (half + 127) << 23);
  float b = __builtin_bit_cast(float, (bits - half + 127) << 23);
  float result = p * a * b;
  return x < low - 16.7f ? 0.0f : x > high + 0.03f ? INFINITY : result;
}

// 1 - 2 / (e^2x + 1), and the first terms of the series where that cancels.
static inline float tanhf(float x) {
  float a = fabsf(x);
  float e = expf(2.0f * fminf(a, 10.0f));
  float far = 1.0f - 2.0f / (e + 1.0f);
  float s = x * x;
  float near = a * (1.0f + s * (-0.333333333f + s * (0.133333333f + s * (-0.0539682540f + s * 0.0218694885f))));
  return __builtin_copysignf(a < 0.35f ? near : far, x);
}

static inline float erff(float x) { return (float)erf((double)x); }
static inline float logf(float x) { return (float)log((double)x); }
