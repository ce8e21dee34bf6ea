// What kernels and references may use of <math.h> beyond kernel.h, which they see before.
#pragma once

#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_PI_2 1.57079632679489661923
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390

#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)

static inline double floor(double x) { return __builtin_floor(x); }
static inline double ceil(double x) { return __builtin_ceil(x); }
static inline double trunc(double x) { return __builtin_trunc(x); }
static inline double rint(double x) { return __builtin_rint(x); }
static inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
static inline float floorf(float x) { return __builtin_floorf(x); }
static inline float ceilf(float x) { return __builtin_ceilf(x); }
static inline float truncf(float x) { return __builtin_truncf(x); }
static inline float rintf(float x) { return __builtin_rintf(x); }
static inline float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
