// Bits.
AUTOCOMP_D int __popc(unsigned v) { return __builtin_popcount(v); }
AUTOCOMP_D int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
AUTOCOMP_D int __clz(int v) { return v == 0 ? 32 : __builtin_clz((unsigned)v); }
AUTOCOMP_D int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll((unsigned long long)v); }
AUTOCOMP_D int __ffs(int v) { return __builtin_ffs(v); }
AUTOCOMP_D unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
AUTOCOMP_D unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { return __nvvm_prmt(a, b, s); }
AUTOCOMP_D unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { return (unsigned)((((unsigned long long)hi << 32 | lo) << (n & 31)) >> 32); }
AUTOCOMP_D unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31)); }
AUTOCOMP_D unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
AUTOCOMP_D int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
AUTOCOMP_D int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
AUTOCOMP_D unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
AUTOCOMP_D float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
AUTOCOMP_D float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
AUTOCOMP_D int __dp4a(int a, int b, int c) { int r; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
AUTOCOMP_D unsigned __dp4a(unsigned a, unsigned b, unsigned c) { unsigned r; asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }

// Numbers: smaller, larger, magnitude.
#define AUTOCOMP_ORDER(T) \
  AUTOCOMP_HD constexpr T min(T a, T b) { return b < a ? b : a; } \
  AUTOCOMP_HD constexpr T max(T a, T b) { return a < b ? b : a; }
AUTOCOMP_ORDER(int)
AUTOCOMP_ORDER(unsigned)
AUTOCOMP_ORDER(long)
AUTOCOMP_ORDER(unsigned long)
AUTOCOMP_ORDER(long long)
AUTOCOMP_ORDER(unsigned long long)
AUTOCOMP_HD unsigned umin(unsigned a, unsigned b) { return min(a, b); }
AUTOCOMP_HD unsigned umax(unsigned a, unsigned b) { return max(a, b); }
AUTOCOMP_HD constexpr unsigned min(int a, unsigned b) { return (unsigned)a < b ? (unsigned)a : b; }
AUTOCOMP_HD constexpr unsigned min(unsigned a, int b) { return a < (unsigned)b ? a : (unsigned)b; }
AUTOCOMP_HD constexpr unsigned max(int a, unsigned b) { return (unsigned)a < b ? b : (unsigned)a; }
AUTOCOMP_HD constexpr unsigned max(unsigned a, int b) { return a < (unsigned)b ? (unsigned)b : a; }
AUTOCOMP_HD float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
AUTOCOMP_HD float fminf(float a, float b) { return __builtin_fminf(a, b); }
AUTOCOMP_D double fmax(double a, double b) { return __builtin_fmax(a, b); }
AUTOCOMP_D double fmin(double a, double b) { return __builtin_fmin(a, b); }
AUTOCOMP_D float max(float a, float b) { return fmaxf(a, b); }
AUTOCOMP_D float min(float a, float b) { return fminf(a, b); }
AUTOCOMP_D double max(double a, double b) { return fmax(a, b); }
AUTOCOMP_D double min(double a, double b) { return fmin(a, b); }
AUTOCOMP_D double max(float a, double b) { return fmax(a, b); }
AUTOCOMP_D double max(double a, float b) { return fmax(a, b); }
AUTOCOMP_D double min(float a, double b) { return fmin(a, b); }
AUTOCOMP_D double min(double a, float b) { return fmin(a, b); }
AUTOCOMP_HD constexpr int abs(int a) { return a < 0 ? -a : a; }
AUTOCOMP_D float abs(float a) { return __builtin_fabsf(a); }
AUTOCOMP_D float fabsf(float a) { return __builtin_fabsf(a); }
AUTOCOMP_D double fabs(double a) { return __builtin_fabs(a); }
AUTOCOMP_D float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
AUTOCOMP_D bool isnan(float a) { return a != a; }
AUTOCOMP_D bool isinf(float a) { return __builtin_fabsf(a) == INFINITY; }
AUTOCOMP_D bool isfinite(float a) { return __builtin_fabsf(a) < INFINITY; }
AUTOCOMP_D float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
AUTOCOMP_D double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
AUTOCOMP_D float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
AUTOCOMP_D float floorf(float a) { return __builtin_floorf(a); }
AUTOCOMP_D float ceilf(float a) { return __builtin_ceilf(a); }
AUTOCOMP_D float truncf(float a) { return __builtin_truncf(a); }
AUTOCOMP_D float rintf(float a) { return __builtin_rintf(a); }
AUTOCOMP_D float nearbyintf(float a) { return __builtin_rintf(a); }
AUTOCOMP_D float roundf(float a) { return copysignf(truncf(fabsf(a) + 0.49999997f), a); }
AUTOCOMP_D float fmodf(float a, float b) {
  union autocomp_bits { float f; unsigned u; } x, y;
  x.f = a, y.f = b;
  unsigned ma = x.u & 0x7fffffffu, mb = y.u & 0x7fffffffu, sign = x.u & 0x80000000u;
  if (mb == 0 || 0x7f800000u <= ma || 0x7f800000u < mb) return (a * b) / (a * b);
  if (ma < mb) return a;
  int ea = (int)(ma >> 23), eb = (int)(mb >> 23);
  ma = ea ? (ma & 0x7fffffu) | 0x800000u : (ea = 1, ma);
  mb = eb ? (mb & 0x7fffffu) | 0x800000u : (eb = 1, mb);
  while (ma < 0x800000u) { ma <<= 1; ea--; }
  while (mb < 0x800000u) { mb <<= 1; eb--; }
  /* One bit of the quotient each. */
  for (; eb < ea; ea--) { if (mb <= ma) ma -= mb; ma <<= 1; }
  if (mb <= ma) ma -= mb;
  if (ma != 0) while (ma < 0x800000u) { ma <<= 1; eb--; }
  x.u = sign | (ma == 0 ? 0 : 0 < eb ? (ma & 0x7fffffu) | (unsigned)eb << 23 : ma >> (1 - eb));
  return x.f;
}
AUTOCOMP_D int __float2int_rn(float a) { int r; asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
AUTOCOMP_D int __float2int_rz(float a) { return (int)a; }
AUTOCOMP_D int __float2int_rd(float a) { int r; asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
AUTOCOMP_D int __float2int_ru(float a) { int r; asm("cvt.rpi.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
AUTOCOMP_D float __int2float_rn(int a) { return (float)a; }
AUTOCOMP_D float __uint2float_rn(unsigned a) { return (float)a; }

// Functions of floats. Those with two underscores in front are the fast ones.
AUTOCOMP_D float autocomp_ex2(float a) { return __nvvm_ex2_approx_f(a); }
AUTOCOMP_D float autocomp_lg2(float a) { return __nvvm_lg2_approx_f(a); }
AUTOCOMP_D float autocomp_rcp(float a) { float r; asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
AUTOCOMP_D float __expf(float a) { return autocomp_ex2(a * 1.4426950408889634f); }
AUTOCOMP_D float __exp10f(float a) { return autocomp_ex2(a * 3.3219280948873623f); }
AUTOCOMP_D float __logf(float a) { return autocomp_lg2(a) * 0.6931471805599453f; }
AUTOCOMP_D float __log2f(float a) { return autocomp_lg2(a); }
AUTOCOMP_D float __log10f(float a) { return autocomp_lg2(a) * 0.30102999566398120f; }
AUTOCOMP_D float __powf(float a, float b) { return autocomp_ex2(b * autocomp_lg2(a)); }
AUTOCOMP_D float __sinf(float a) { return __nvvm_sin_approx_f(a); }
AUTOCOMP_D float __cosf(float a) { return __nvvm_cos_approx_f(a); }
AUTOCOMP_D float __fdividef(float a, float b) { float r; asm("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
AUTOCOMP_D float __frcp_rn(float a) { return 1.0f / a; }
AUTOCOMP_D float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
AUTOCOMP_D float __frsqrt_rn(float a) { return 1.0f / __nvvm_sqrt_rn_f(a); }
AUTOCOMP_D float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
AUTOCOMP_D float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
AUTOCOMP_D float __saturatef(float a) { return fminf(fmaxf(a, 0.0f), 1.0f); }
AUTOCOMP_D float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
AUTOCOMP_D double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
AUTOCOMP_D float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
AUTOCOMP_D float exp2f(float a) { return autocomp_ex2(a); }
// 2 to the nearest whole power that a float can be, times 2 to what is left: the number of the
// power, from 1 on, lies in the lowest bits of `k`, and moves to the exponent. Beyond the floats
// what is left makes the result infinite or 0.
AUTOCOMP_D float expf(float a) {
  float share, rest, k, power;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(share) : "f"(a), "f"(5.70235193e-3f), "f"(0.498023719f));
  k = __builtin_fmaf(share, 253.0f, 12582913.0f);
  rest = __builtin_fmaf(a, 1.44269502f, 12583039.0f - k);
  rest = __builtin_fmaf(a, 1.92596303e-8f, rest);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(rest));
  return power * __uint_as_float(__float_as_uint(k) << 23);
}
// A positive normal number as a power of two and what is left less 1, between -1/3 and 1/3.
AUTOCOMP_D float autocomp_parts(float a, float* rest) {
  float scale = a < 1.17549435e-38f ? 8388608.0f : 1.0f;
  unsigned bits = __float_as_uint(a * scale);
  int exponent = (int)(bits - 0x3f2aaaabu) >> 23;
  *rest = __uint_as_float(bits - ((unsigned)exponent << 23)) - 1.0f;
  return (float)exponent - (scale != 1.0f ? 23.0f : 0.0f);
}
// The logarithm of 1 + m.
AUTOCOMP_D float autocomp_log_near_one(float m) {
  float s = m / (m + 2.0f), t = s * s;
  float p = __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, 0.2438f, 0.2857f), 0.4f), 0.66666669f);
  return m - s * __builtin_fmaf(-p, t, m);
}
AUTOCOMP_D float autocomp_log_ends(float a, float r) { return a > 0.0f ? (a == INFINITY ? a : r) : a == 0.0f ? -INFINITY : NAN; }
AUTOCOMP_D float logf(float a) {
  float m, e = autocomp_parts(a, &m);
  return autocomp_log_ends(a, __builtin_fmaf(e, 0.693147182f, autocomp_log_near_one(m)));
}
AUTOCOMP_D float log10f(float a) {
  float m, e = autocomp_parts(a, &m);
  float low = __builtin_fmaf(autocomp_log_near_one(m), 0.43429448f, e * 4.60503898e-06f);
  return autocomp_log_ends(a, __builtin_fmaf(e, 0.301025391f, low));
}
AUTOCOMP_D float log2f(float a) { return a < 1.17549435e-38f ? autocomp_lg2(a * 8388608.0f) - 23.0f : autocomp_lg2(a); }
AUTOCOMP_D float log1pf(float a) { float u = 1.0f + a; return u == 1.0f ? a : u == INFINITY ? u : logf(u) * (a / (u - 1.0f)); }
AUTOCOMP_D float expm1f(float a) { float u = expf(a); return u == 1.0f ? a : u - 1.0f == -1.0f ? -1.0f : (u - 1.0f) * (a / logf(u)); }
// The logarithm of `a` in two parts, times `b`, is what the power is made of.
AUTOCOMP_D float powf(float a, float b) {
  float size = fabsf(a), m, e = autocomp_parts(size, &m);
  float d = m + 2.0f, s = m / d, t = s * s;
  float s_low = (__builtin_fmaf(-s, d, m) - s * (m - (d - 2.0f))) / d;
  float low = 2.0f * s_low + s * t * __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, 0.241482249f, 0.28503742f), 0.40000929f), 0.666666627f);
  // The first 12 bits of the logarithm of 2: whole multiples are exact.
  float large = e * 0.693115234f, sum = large + 2.0f * s;
  low += 2.0f * s - (sum - large) + e * 3.19461833e-5f;
  float high = sum + low;
  low -= high - sum;
  float power = b * high, power_low = __builtin_fmaf(b, high, -power) + b * low;
  float magnitude = expf(power);
  if (magnitude != 0.0f && magnitude != INFINITY) magnitude = __builtin_fmaf(magnitude, power_low, magnitude);
  bool is_odd = truncf(b) == b && truncf(b * 0.5f) * 2.0f != b;
  if (b == 0.0f || a == 1.0f) return 1.0f;
  if (a != a || b != b) return a + b;
  if (__builtin_fabsf(b) == INFINITY) return size == 1.0f ? 1.0f : (1.0f < size) == (0.0f < b) ? INFINITY : 0.0f;
  if (size == 0.0f || size == INFINITY) magnitude = (size == 0.0f) == (0.0f < b) ? 0.0f : INFINITY;
  else if (a < 0.0f && truncf(b) != b) return NAN;
  return is_odd ? copysignf(magnitude, a) : magnitude;
}
AUTOCOMP_D float tanhf(float a) {
  float m = fabsf(a), t = a * a;
  if (m < 0.55f) return a + a * t * __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, -6.27423064e-3f, 2.10716722e-2f), -5.38523081e-2f), 0.133325861f), -0.333333176f);
  return copysignf(1.0f - 2.0f / (expf(2.0f * m) + 1.0f), a);
}
// The complement of the error function, of a half and more.
AUTOCOMP_D float autocomp_erfc_of_large(float m) {
  float u = 1.0f / __builtin_fmaf(0.35f, m, 1.0f), t = m * m, t_low = __builtin_fmaf(m, m, -t);
  float p = 0.0508015412f;
  p = __builtin_fmaf(p, u, -0.220424425f);
  p = __builtin_fmaf(p, u, 0.313828994f);
  p = __builtin_fmaf(p, u, -0.18975105f);
  p = __builtin_fmaf(p, u, 0.211160862f);
  p = __builtin_fmaf(p, u, 0.0844142418f);
  p = __builtin_fmaf(p, u, 0.17098532f);
  p = __builtin_fmaf(p, u, 0.183937025f);
  p = __builtin_fmaf(p, u, 0.197587316f);
  p = __builtin_fmaf(p, u, 0.197461889f) * u;
  float e = expf(-t);
  return 10.5f < m ? 0.0f : p * __builtin_fmaf(e, -t_low, e);
}
// One polynomial for all threads of a warp, with the coefficients of each: in the square of small
// numbers, and for the logarithm of what is left up to one of the others.
AUTOCOMP_D float erff(float a) {
  float m = fabsf(a);
  bool is_small = m < 1.0f;
  float s = is_small ? a * a : 4.05f < m ? 4.05f : m;
  float r = is_small ? 7.85385657e-5f : 2.67728492e-4f;
  r = __builtin_fmaf(r, s, is_small ? -8.01019218e-4f : -4.24097395e-3f);
  r = __builtin_fmaf(r, s, is_small ? 5.18832752e-3f : 3.14584911e-2f);
  r = __builtin_fmaf(r, s, is_small ? -2.68538118e-2f : -0.148651636f);
  r = __builtin_fmaf(r, s, is_small ? 0.112835851f : -0.920764868f);
  r = __builtin_fmaf(r, s, is_small ? -0.376126258f : -1.62597516f);
  r = __builtin_fmaf(r, s, is_small ? 0.128379167f : -5.10287984e-4f);
  float large = 1.0f - __nvvm_ex2_approx_f(r);
  return is_small ? __builtin_fmaf(r, a, a) : copysignf(large, a);
}
AUTOCOMP_D float erfcf(float a) { return a < 0.5f ? (-1.0f < a ? 1.0f - erff(a) : 2.0f - autocomp_erfc_of_large(-a)) : autocomp_erfc_of_large(a); }
AUTOCOMP_D void sincosf(float a, float* s, float* c) {
  float quarter = rintf(a * 0.63661977f);
  float r = __builtin_fmaf(quarter, -1.5707962513f, a);
  r = __builtin_fmaf(quarter, -7.5497894159e-8f, r);
  r = __builtin_fmaf(quarter, -5.3903029534e-15f, r);
  float t = r * r;
  float sine = r + r * t * __builtin_fmaf(t, __builtin_fmaf(t, -1.9515296e-4f, 8.3321609e-3f), -1.6666655e-1f);
  float cosine = __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, 2.4433157e-5f, -1.3887316e-3f), 4.1666646e-2f), -0.5f) * t + 1.0f;
  int q = (int)quarter;
  float x = q & 1 ? cosine : sine, y = q & 1 ? sine : cosine;
  *s = q & 2 ? -x : x;
  *c = (q + 1) & 2 ? -y : y;
}
AUTOCOMP_D float sinf(float a) { float s, c; sincosf(a, &s, &c); return s; }
AUTOCOMP_D float cosf(float a) { float s, c; sincosf(a, &s, &c); return c; }
AUTOCOMP_D float tanf(float a) { float s, c; sincosf(a, &s, &c); return s / c; }
AUTOCOMP_D float coshf(float a) { float h = expf(fabsf(a) * 0.5f), e = 0.5f * h * h; return e + 0.25f / e; }
AUTOCOMP_D float sinhf(float a) {
  float m = fabsf(a), t = a * a;
  if (m < 0.5f) return __builtin_fmaf(a * t, __builtin_fmaf(t, __builtin_fmaf(t, 1.98412698e-4f, 8.33333377e-3f), 0.166666672f), a);
  float h = expf(m * 0.5f), e = 0.5f * h * h;
  return copysignf(e - 0.25f / e, a);
}
AUTOCOMP_D float hypotf(float a, float b) {
  float x = fmaxf(fabsf(a), fabsf(b)), y = fminf(fabsf(a), fabsf(b)), t = y / x;
  if (x == INFINITY) return x;
  return a != a || b != b ? a + b : x == 0.0f ? x : x * sqrtf(__builtin_fmaf(t, t, 1.0f));
}
AUTOCOMP_D float fdimf(float a, float b) { return a != a || b != b ? a + b : b < a ? a - b : 0.0f; }
AUTOCOMP_D long lrintf(float a) { return (long)__builtin_rintf(a); }
AUTOCOMP_D float modff(float a, float* whole) { *whole = truncf(a); return __builtin_fabsf(a) == INFINITY ? copysignf(0.0f, a) : copysignf(a - *whole, a); }
AUTOCOMP_D bool signbit(float a) { return __float_as_uint(a) >> 31; }
AUTOCOMP_D unsigned __float2uint_rn(float a) { unsigned r; asm("cvt.rni.u32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
AUTOCOMP_D unsigned __float2uint_rz(float a) { return (unsigned)a; }
AUTOCOMP_D int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
AUTOCOMP_D int __ffsll(long long v) { return __builtin_ffsll(v); }
AUTOCOMP_D unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
AUTOCOMP_D long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
AUTOCOMP_D double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
AUTOCOMP_D double floor(double a) { return __builtin_floor(a); }
AUTOCOMP_D double ceil(double a) { return __builtin_ceil(a); }
AUTOCOMP_D double trunc(double a) { return __builtin_trunc(a); }
AUTOCOMP_D double rint(double a) { return __builtin_rint(a); }
AUTOCOMP_D float floor(float a) { return floorf(a); }
AUTOCOMP_D float ceil(float a) { return ceilf(a); }
AUTOCOMP_D float trunc(float a) { return truncf(a); }
AUTOCOMP_D float rint(float a) { return rintf(a); }
// Of these there are those of floats only: a double is an error, not a float by chance.
#define AUTOCOMP_OF_FLOATS(NAME) \
  AUTOCOMP_D float NAME(float a) { return NAME##f(a); } \
  __device__ double NAME(double) = delete;
AUTOCOMP_OF_FLOATS(exp)
AUTOCOMP_OF_FLOATS(exp2)
AUTOCOMP_OF_FLOATS(log)
AUTOCOMP_OF_FLOATS(log2)
AUTOCOMP_OF_FLOATS(sin)
AUTOCOMP_OF_FLOATS(cos)
AUTOCOMP_OF_FLOATS(tanh)
AUTOCOMP_OF_FLOATS(erf)
AUTOCOMP_OF_FLOATS(round)
AUTOCOMP_D float pow(float a, float b) { return powf(a, b); }
__device__ double pow(double, double) = delete;
