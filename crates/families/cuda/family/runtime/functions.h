// Functions of floats that few kernels use. Polynomials here and in mathematics.h are least-error
// fits made for this file; each function is within 7 units in the last place of the exact one.
AUTOCOMP_D float autocomp_arcus(float a) {
  float t = a * a, p = 2.92063118e-3f;
  p = __builtin_fmaf(p, t, -1.63676847e-2f);
  p = __builtin_fmaf(p, t, 4.32114676e-2f);
  p = __builtin_fmaf(p, t, -7.55218126e-2f);
  p = __builtin_fmaf(p, t, 0.106659893f);
  p = __builtin_fmaf(p, t, -0.142110515f);
  p = __builtin_fmaf(p, t, 0.199937724f);
  p = __builtin_fmaf(p, t, -0.333331527f);
  return __builtin_fmaf(p * t, a, a);
}
AUTOCOMP_D float atanf(float a) {
  float m = fabsf(a), r = autocomp_arcus(1.0f < m ? 1.0f / m : m);
  return copysignf(1.0f < m ? 1.57079637f - (r + 4.37113883e-8f) : r, a);
}
AUTOCOMP_D float atan2f(float y, float x) {
  float my = fabsf(y), mx = fabsf(x), large = fmaxf(mx, my), small = fminf(mx, my);
  if (x != x || y != y) return x + y;
  float r = autocomp_arcus(large == 0.0f ? 0.0f : small == large ? 1.0f : small / large);
  if (mx < my) r = 1.57079637f - (r + 4.37113883e-8f);
  if (signbit(x)) r = 3.14159274f - (r + 8.74227766e-8f);
  return copysignf(r, y);
}
AUTOCOMP_D float autocomp_arcus_sine(float a) {
  float t = a * a;
  float p = __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, 4.21662805e-2f, 2.41795292e-2f), 4.54703737e-2f), 7.49529765e-2f), 0.166667525f);
  return __builtin_fmaf(p * t, a, a);
}
AUTOCOMP_D float asinf(float a) {
  float m = fabsf(a);
  return copysignf(m <= 0.5f ? autocomp_arcus_sine(m) : 1.57079637f - (2.0f * autocomp_arcus_sine(sqrtf((1.0f - m) * 0.5f)) + 4.37113883e-8f), a);
}
AUTOCOMP_D float acosf(float a) {
  if (fabsf(a) <= 0.5f) return 1.57079637f - (autocomp_arcus_sine(a) + 4.37113883e-8f);
  float r = 2.0f * autocomp_arcus_sine(sqrtf((1.0f - fabsf(a)) * 0.5f));
  return a < 0.0f ? 3.14159274f - (r + 8.74227766e-8f) : r;
}
AUTOCOMP_D float asinhf(float a) {
  float m = fabsf(a), t = m * m;
  float r = m < 1e18f ? log1pf(m + t / (1.0f + sqrtf(1.0f + t))) : logf(m) + 0.693147182f;
  return copysignf(r, a);
}
AUTOCOMP_D float acoshf(float a) {
  float t = a - 1.0f;
  return a < 1e18f ? log1pf(t + sqrtf(__builtin_fmaf(t, t, 2.0f * t))) : logf(a) + 0.693147182f;
}
AUTOCOMP_D float atanhf(float a) { float m = fabsf(a); return copysignf(0.5f * log1pf(2.0f * m / (1.0f - m)), a); }
AUTOCOMP_D float cbrtf(float a) {
  float m = fabsf(a);
  if (m == 0.0f || !(m < INFINITY)) return a + a;
  float scale = m < 1.17549435e-38f ? 16777216.0f : 1.0f, v = m * scale;
  float r = autocomp_ex2(autocomp_lg2(v) * 0.333333343f);
  r -= (r * r * r - v) / (3.0f * r * r);
  return copysignf(scale == 1.0f ? r : r * 0.00390625f, a);
}
AUTOCOMP_D float rcbrtf(float a) { return 1.0f / cbrtf(a); }
AUTOCOMP_D float exp10f(float a) {
  float whole = rintf(fminf(fmaxf(a, -50.0f), 40.0f) * 3.32192802f);
  float rest = __builtin_fmaf(whole, -4.60503898e-06f, __builtin_fmaf(whole, -0.301025391f, a));
  float half_of = truncf(whole * 0.5f);
  float result = autocomp_ex2(rest * 3.32192802f) * autocomp_ex2(half_of) * autocomp_ex2(whole - half_of);
  return a > 39.0f ? INFINITY : a < -46.0f ? 0.0f : result;
}
AUTOCOMP_D float ldexpf(float a, int n) {
  for (int turn = 0; turn < 2; turn++) {
    int by = n < -102 ? -102 : 127 < n ? 127 : 0;
    a *= __uint_as_float((unsigned)(by + 127) << 23), n -= by;
  }
  n = n < -126 ? -126 : 127 < n ? 127 : n;
  return a * __uint_as_float((unsigned)(n + 127) << 23);
}
AUTOCOMP_D float scalbnf(float a, int n) { return ldexpf(a, n); }
AUTOCOMP_D float frexpf(float a, int* n) {
  float m = fabsf(a), scale = m < 1.17549435e-38f ? 16777216.0f : 1.0f;
  if (m == 0.0f || !(m < INFINITY)) { *n = 0; return a; }
  unsigned bits = __float_as_uint(a * scale);
  *n = (int)(bits >> 23 & 255) - 126 - (scale == 1.0f ? 0 : 24);
  return __uint_as_float((bits & 0x807fffffu) | 0x3f000000u);
}
AUTOCOMP_D int ilogbf(float a) {
  if (a == 0.0f || a != a) return INT_MIN;
  if (fabsf(a) == INFINITY) return INT_MAX;
  int n;
  frexpf(a, &n);
  return n - 1;
}
AUTOCOMP_D float logbf(float a) { return a == 0.0f ? -INFINITY : fabsf(a) < INFINITY ? (float)ilogbf(a) : a * a; }
AUTOCOMP_D float remainderf(float a, float b) {
  float m = fabsf(b), r = m <= 1.7e38f ? fmodf(a, m + m) : a, size = fabsf(r);
  if (r != r || m != m || m == INFINITY) return m != m ? b : r;
  // Twice, since what is left is less than two of them; ties are left to the even multiple.
  if (m - size < size) {
    size -= m;
    if (m - size <= size) size -= m;
  }
  return signbit(a) ? -size : size;
}
AUTOCOMP_D float erfinvf(float a) {
  float w = -logf((1.0f - a) * (1.0f + a));
  if (fabsf(a) == 1.0f) return copysignf(INFINITY, a);
  float p, t;
  if (w < 5.0f) {
    t = w - 2.5f, p = 2.85347025e-8f;
    p = __builtin_fmaf(p, t, 3.43726948e-7f);
    p = __builtin_fmaf(p, t, -3.5288585e-6f);
    p = __builtin_fmaf(p, t, -4.39678004e-6f);
    p = __builtin_fmaf(p, t, 2.1860219e-4f);
    p = __builtin_fmaf(p, t, -1.25370752e-3f);
    p = __builtin_fmaf(p, t, -4.17770774e-3f);
    p = __builtin_fmaf(p, t, 0.246640726f);
    p = __builtin_fmaf(p, t, 1.50140942f);
  } else {
    t = sqrtf(w) - 3.0f, p = 3.63321453e-5f;
    p = __builtin_fmaf(p, t, -6.08202627e-5f);
    p = __builtin_fmaf(p, t, -1.98234954e-4f);
    p = __builtin_fmaf(p, t, 1.15129547e-3f);
    p = __builtin_fmaf(p, t, -3.45249012e-3f);
    p = __builtin_fmaf(p, t, 6.8424294e-3f);
    p = __builtin_fmaf(p, t, 1.00266297f);
    p = __builtin_fmaf(p, t, 2.83280202f);
  }
  return w < 5.0f ? p * a : copysignf(p, a);
}
AUTOCOMP_D float normcdff(float a) {
  float t = a * -0.707106769f, low = __builtin_fmaf(a, -0.707106769f, -t) + a * -1.21016175e-8f, r = 0.5f * erfcf(t);
  return 1.0f < t && r != 0.0f ? __builtin_fmaf(-2.0f * t * low, r, r) : r;
}
AUTOCOMP_D void sincospif(float a, float* s, float* c) {
  float quarter = rintf(a * 2.0f), x, y;
  sincosf(__builtin_fmaf(quarter, -0.5f, a) * 3.14159274f, &x, &y);
  int q = (int)(quarter - 4.0f * floorf(quarter * 0.25f));
  float t = q & 1 ? y : x, u = q & 1 ? x : y;
  *s = q & 2 ? -t : t;
  *c = (q + 1) & 2 ? -u : u;
}
AUTOCOMP_D float sinpif(float a) { float s, c; sincospif(a, &s, &c); return s; }
AUTOCOMP_D float cospif(float a) { float s, c; sincospif(a, &s, &c); return c; }
AUTOCOMP_D float norm3df(float a, float b, float c) { return hypotf(hypotf(a, b), c); }
AUTOCOMP_D float norm4df(float a, float b, float c, float d) { return hypotf(hypotf(a, b), hypotf(c, d)); }
AUTOCOMP_D float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
AUTOCOMP_D float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
AUTOCOMP_D long lroundf(float a) { return (long)roundf(a); }
AUTOCOMP_D long long llroundf(float a) { return (long long)roundf(a); }
AUTOCOMP_D long long llrintf(float a) { return (long long)__builtin_rintf(a); }
AUTOCOMP_D float rsqrt(float a) { return rsqrtf(a); }
AUTOCOMP_D double rsqrt(double a) { return 1.0 / sqrt(a); }
AUTOCOMP_D void __sincosf(float a, float* s, float* c) { *s = __sinf(a), *c = __cosf(a); }
AUTOCOMP_D float __tanf(float a) { return __fdividef(__sinf(a), __cosf(a)); }
AUTOCOMP_D float __tanhf(float a) { float r; asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
AUTOCOMP_OF_FLOATS(log10)
AUTOCOMP_OF_FLOATS(log1p)
AUTOCOMP_OF_FLOATS(expm1)
AUTOCOMP_OF_FLOATS(tan)
AUTOCOMP_OF_FLOATS(atan)
AUTOCOMP_OF_FLOATS(asin)
AUTOCOMP_OF_FLOATS(acos)
AUTOCOMP_OF_FLOATS(sinh)
AUTOCOMP_OF_FLOATS(cosh)
AUTOCOMP_OF_FLOATS(erfc)
AUTOCOMP_OF_FLOATS(cbrt)
AUTOCOMP_D float fmod(float a, float b) { return fmodf(a, b); }
__device__ double fmod(double, double) = delete;
AUTOCOMP_D float atan2(float a, float b) { return atan2f(a, b); }
__device__ double atan2(double, double) = delete;

// Arithmetic of one rounding, which nothing is fused with.
#define AUTOCOMP_ROUNDED_DOUBLE(NAME, OP) \
  AUTOCOMP_D double NAME(double a, double b) { double r; asm(OP ".rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
AUTOCOMP_ROUNDED_DOUBLE(__dadd_rn, "add")
AUTOCOMP_ROUNDED_DOUBLE(__dsub_rn, "sub")
AUTOCOMP_ROUNDED_DOUBLE(__dmul_rn, "mul")
AUTOCOMP_D float __fsub_rn(float a, float b) { float r; asm("sub.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
AUTOCOMP_D float __fdiv_rn(float a, float b) { return a / b; }

// Conversions of a floating-point type to whole numbers.
#define AUTOCOMP_TO_WHOLE(F, FC, FS, T, TC, TS, NAME) \
  AUTOCOMP_D T __##F##2##NAME##_rd(F a) { T r; asm("cvt.rmi." TS "." FS " %0, %1;" : "=" TC(r) : FC(a)); return r; } \
  AUTOCOMP_D T __##F##2##NAME##_ru(F a) { T r; asm("cvt.rpi." TS "." FS " %0, %1;" : "=" TC(r) : FC(a)); return r; }
#define AUTOCOMP_TO_NEAREST(F, FC, FS, T, TC, TS, NAME) \
  AUTOCOMP_TO_WHOLE(F, FC, FS, T, TC, TS, NAME) \
  AUTOCOMP_D T __##F##2##NAME##_rn(F a) { T r; asm("cvt.rni." TS "." FS " %0, %1;" : "=" TC(r) : FC(a)); return r; } \
  AUTOCOMP_D T __##F##2##NAME##_rz(F a) { T r; asm("cvt.rzi." TS "." FS " %0, %1;" : "=" TC(r) : FC(a)); return r; }
AUTOCOMP_TO_WHOLE(float, "f", "f32", unsigned, "r", "u32", uint)
AUTOCOMP_TO_NEAREST(float, "f", "f32", long long, "l", "s64", ll)
AUTOCOMP_TO_NEAREST(float, "f", "f32", unsigned long long, "l", "u64", ull)
AUTOCOMP_TO_NEAREST(double, "d", "f64", int, "r", "s32", int)
AUTOCOMP_TO_NEAREST(double, "d", "f64", unsigned, "r", "u32", uint)
AUTOCOMP_TO_NEAREST(double, "d", "f64", long long, "l", "s64", ll)
AUTOCOMP_TO_NEAREST(double, "d", "f64", unsigned long long, "l", "u64", ull)
AUTOCOMP_D float __ll2float_rn(long long a) { return (float)a; }
AUTOCOMP_D float __ull2float_rn(unsigned long long a) { return (float)a; }
AUTOCOMP_D float __double2float_rn(double a) { return (float)a; }
AUTOCOMP_D double __int2double_rn(int a) { return (double)a; }
AUTOCOMP_D double __uint2double_rn(unsigned a) { return (double)a; }
AUTOCOMP_D double __ll2double_rn(long long a) { return (double)a; }
AUTOCOMP_D double __ull2double_rn(unsigned long long a) { return (double)a; }
AUTOCOMP_D float __int2float_rz(int a) { float r; asm("cvt.rz.f32.s32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
AUTOCOMP_D float __uint2float_rz(unsigned a) { float r; asm("cvt.rz.f32.u32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
