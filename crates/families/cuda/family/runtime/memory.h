// Memory.
template <class T> AUTOCOMP_D T __ldg(const T* p) {
  T r;
  if constexpr (sizeof(T) == 16 && alignof(T) == 16) {
    unsigned w[4];
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p));
    __builtin_memcpy(&r, w, 16);
  } else if constexpr (sizeof(T) == 8 && alignof(T) == 8) {
    unsigned w[2];
    asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(p));
    __builtin_memcpy(&r, w, 8);
  } else if constexpr (sizeof(T) == 4 && alignof(T) == 4) {
    unsigned w;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(w) : "l"(p));
    __builtin_memcpy(&r, &w, 4);
  } else {
    r = *p;
  }
  return r;
}
AUTOCOMP_D float __ldg(const float* p) { return __nvvm_ldg_f(p); }
AUTOCOMP_D int __ldg(const int* p) { return __nvvm_ldg_i(p); }
AUTOCOMP_D float4 __ldg(const float4* p) { float4 r; asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(p)); return r; }
template <class T> AUTOCOMP_D T __ldcs(const T* p) { return *p; }
template <class T> AUTOCOMP_D T __ldca(const T* p) { return *p; }
template <class T> AUTOCOMP_D T __ldcg(const T* p) { return *p; }
template <class T> AUTOCOMP_D T __ldlu(const T* p) { return *p; }
template <class T> AUTOCOMP_D T __ldcv(const T* p) { return *(const volatile T*)p; }
template <class T> AUTOCOMP_D void __stwt(T* p, T v) { *p = v; }
template <class T> AUTOCOMP_D void __stwb(T* p, T v) { *p = v; }
AUTOCOMP_D float __ldcg(const float* p) { float r; asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(r) : "l"(p)); return r; }
template <class T> AUTOCOMP_D void __stcs(T* p, T v) { *p = v; }
template <class T> AUTOCOMP_D void __stcg(T* p, T v) { *p = v; }
AUTOCOMP_D unsigned __cvta_generic_to_shared(const void* p) { return (unsigned)(size_t)(__attribute__((address_space(3))) const void*)p; }
AUTOCOMP_D size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
// Copies of 4, 8 or 16 bytes from global to shared memory that land later.
#define AUTOCOMP_COPY(MORE, ...) \
  unsigned t = __cvta_generic_to_shared(to); \
  if (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16" MORE ";" :: "r"(t), "l"(from)__VA_ARGS__ : "memory"); \
  else if (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8" MORE ";" :: "r"(t), "l"(from)__VA_ARGS__ : "memory"); \
  else if (bytes == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4" MORE ";" :: "r"(t), "l"(from)__VA_ARGS__ : "memory"); \
  else __builtin_trap();
AUTOCOMP_D void __pipeline_memcpy_async(void* to, const void* from, size_t bytes) { AUTOCOMP_COPY("") }
AUTOCOMP_D void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros) {
  unsigned read = (unsigned)(bytes - zeros);
  AUTOCOMP_COPY(", %2", , "r"(read))
}
AUTOCOMP_D void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define __pipeline_wait_prior(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")

// Atomic operations.
#define AUTOCOMP_ATOMIC(NAME, OP, T, C, S) \
  AUTOCOMP_D T NAME(T* p, T v) { T r; asm volatile("atom." OP "." S " %0, [%1], %2;" : "=" C(r) : "l"(p), C(v) : "memory"); return r; }
AUTOCOMP_D int atomicAdd(int* p, int v) { return __nvvm_atom_add_gen_i(p, v); }
AUTOCOMP_D unsigned atomicAdd(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int*)p, (int)v); }
AUTOCOMP_D unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) { return (unsigned long long)__nvvm_atom_add_gen_ll((long long*)p, (long long)v); }
AUTOCOMP_D float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
AUTOCOMP_D double atomicAdd(double* p, double v) { return __nvvm_atom_add_gen_d(p, v); }
AUTOCOMP_D int atomicSub(int* p, int v) { return atomicAdd(p, -v); }
AUTOCOMP_D unsigned atomicSub(unsigned* p, unsigned v) { return atomicAdd(p, 0u - v); }
AUTOCOMP_ATOMIC(atomicMin, "min", int, "r", "s32")
AUTOCOMP_ATOMIC(atomicMin, "min", unsigned, "r", "u32")
AUTOCOMP_ATOMIC(atomicMax, "max", int, "r", "s32")
AUTOCOMP_ATOMIC(atomicMax, "max", unsigned, "r", "u32")
AUTOCOMP_ATOMIC(atomicMin, "min", unsigned long long, "l", "u64")
AUTOCOMP_ATOMIC(atomicMax, "max", unsigned long long, "l", "u64")
AUTOCOMP_ATOMIC(atomicMin, "min", long long, "l", "s64")
AUTOCOMP_ATOMIC(atomicMax, "max", long long, "l", "s64")
AUTOCOMP_ATOMIC(atomicAnd, "and", unsigned, "r", "b32")
AUTOCOMP_ATOMIC(atomicOr, "or", unsigned, "r", "b32")
AUTOCOMP_ATOMIC(atomicXor, "xor", unsigned, "r", "b32")
AUTOCOMP_ATOMIC(atomicExch, "exch", int, "r", "b32")
AUTOCOMP_ATOMIC(atomicExch, "exch", unsigned, "r", "b32")
AUTOCOMP_ATOMIC(atomicExch, "exch", float, "f", "b32")
AUTOCOMP_ATOMIC(atomicAnd, "and", int, "r", "b32")
AUTOCOMP_ATOMIC(atomicOr, "or", int, "r", "b32")
AUTOCOMP_ATOMIC(atomicXor, "xor", int, "r", "b32")
AUTOCOMP_ATOMIC(atomicAnd, "and", unsigned long long, "l", "b64")
AUTOCOMP_ATOMIC(atomicOr, "or", unsigned long long, "l", "b64")
AUTOCOMP_ATOMIC(atomicXor, "xor", unsigned long long, "l", "b64")
AUTOCOMP_ATOMIC(atomicExch, "exch", unsigned long long, "l", "b64")
AUTOCOMP_ATOMIC(atomicInc, "inc", unsigned, "r", "u32")
AUTOCOMP_ATOMIC(atomicDec, "dec", unsigned, "r", "u32")
AUTOCOMP_D unsigned atomicCAS(unsigned* p, unsigned c, unsigned v) { unsigned r; asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"(p), "r"(c), "r"(v) : "memory"); return r; }
AUTOCOMP_D int atomicCAS(int* p, int c, int v) { return (int)atomicCAS((unsigned*)p, (unsigned)c, (unsigned)v); }
AUTOCOMP_D unsigned long long atomicCAS(unsigned long long* p, unsigned long long c, unsigned long long v) { unsigned long long r; asm volatile("atom.cas.b64 %0, [%1], %2, %3;" : "=l"(r) : "l"(p), "l"(c), "l"(v) : "memory"); return r; }
AUTOCOMP_D unsigned short atomicCAS(unsigned short* p, unsigned short c, unsigned short v) { unsigned short r; asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(r) : "l"(p), "h"(c), "h"(v) : "memory"); return r; }
// Sums of halves: an instruction, or for brain floats before compute capability 9.0 a loop.
AUTOCOMP_D half atomicAdd(half* p, half v) { unsigned short r; asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(__half_as_ushort(v)) : "memory"); return __ushort_as_half(r); }
AUTOCOMP_D half2 atomicAdd(half2* p, half2 v) { unsigned r; asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(__builtin_bit_cast(unsigned, v)) : "memory"); return __builtin_bit_cast(half2, r); }
#if AUTOCOMP_CAPABILITY < 90
#define AUTOCOMP_SUM_BY_LOOP(T, W) \
  AUTOCOMP_D T atomicAdd(T* p, T v) { \
    W old = *(volatile W*)p, seen; \
    do { seen = old; old = atomicCAS((W*)p, seen, __builtin_bit_cast(W, __builtin_bit_cast(T, seen) + v)); } while (old != seen); \
    return __builtin_bit_cast(T, old); \
  }
AUTOCOMP_SUM_BY_LOOP(__nv_bfloat16, unsigned short)
AUTOCOMP_SUM_BY_LOOP(__nv_bfloat162, unsigned)
#else
AUTOCOMP_D __nv_bfloat16 atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) { unsigned short r; asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(v.bits) : "memory"); return __ushort_as_bfloat16(r); }
AUTOCOMP_D __nv_bfloat162 atomicAdd(__nv_bfloat162* p, __nv_bfloat162 v) { unsigned r; asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(__builtin_bit_cast(unsigned, v)) : "memory"); return __builtin_bit_cast(__nv_bfloat162, r); }
#endif
AUTOCOMP_D long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
AUTOCOMP_D int clock() { return __nvvm_read_ptx_sreg_clock(); }
