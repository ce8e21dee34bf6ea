// Products of small matrices.
namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision { struct tf32; }
enum layout_t { mem_row_major, mem_col_major };
template <class T> struct autocomp_stored { typedef T type; };
template <> struct autocomp_stored<precision::tf32> { typedef float type; };
template <class Use, int M, int N, int K> constexpr int autocomp_elements = M * N;
template <int M, int N, int K> constexpr int autocomp_elements<matrix_a, M, N, K> = M * K;
template <int M, int N, int K> constexpr int autocomp_elements<matrix_b, M, N, K> = K * N;
// Elements of halves stand in two threads.
template <class Use, class T> constexpr int autocomp_copies = 1;
template <> constexpr int autocomp_copies<matrix_a, half> = 2;
template <> constexpr int autocomp_copies<matrix_b, half> = 2;
template <class Use, int M, int N, int K, class T, class Layout = void> struct __attribute__((aligned(4))) fragment {
  static constexpr int num_elements = autocomp_elements<Use, M, N, K> / 32 * autocomp_copies<Use, T>;
  typedef typename autocomp_stored<T>::type element_type;
  element_type x[num_elements];
};
template <class Use, int M, int N, int K, class T, class L, class V> AUTOCOMP_D void fill_fragment(fragment<Use, M, N, K, T, L>& f, V v) {
  for (int i = 0; i < f.num_elements; i++) f.x[i] = v;
}
AUTOCOMP_D float __float_to_tf32(float a) { unsigned r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(a)); return __uint_as_float(r); }

// Names of 1, 2, 4 or 8 registers, and what they stand for.
#define AUTOCOMP_NAMES1(P) "%[" #P "0]"
#define AUTOCOMP_NAMES2(P) AUTOCOMP_NAMES1(P) ", %[" #P "1]"
#define AUTOCOMP_NAMES4(P) AUTOCOMP_NAMES2(P) ", %[" #P "2], %[" #P "3]"
#define AUTOCOMP_NAMES8(P) AUTOCOMP_NAMES4(P) ", %[" #P "4], %[" #P "5], %[" #P "6], %[" #P "7]"
#define AUTOCOMP_WORDS1(P, R) [P##0] R(P[0])
#define AUTOCOMP_WORDS2(P, R) AUTOCOMP_WORDS1(P, R), [P##1] R(P[1])
#define AUTOCOMP_WORDS4(P, R) AUTOCOMP_WORDS2(P, R), [P##2] R(P[2]), [P##3] R(P[3])
#define AUTOCOMP_WORDS8(P, R) AUTOCOMP_WORDS4(P, R), [P##4] R(P[4]), [P##5] R(P[5]), [P##6] R(P[6]), [P##7] R(P[7])

#define AUTOCOMP_LOADED(PART, L, SHAPE, TYPE, W) \
  asm volatile("wmma.load." PART ".sync.aligned." L "." SHAPE "." TYPE " {" AUTOCOMP_NAMES##W(r) "}, [%[p]], %[s];" \
               : AUTOCOMP_WORDS##W(r, "=r") : [p] "l"(p), [s] "r"(stride) : "memory");
#define AUTOCOMP_FACTOR(M, N, K, SHAPE, T, S, TYPE, USE, PART, W, LAYOUT, L) \
  AUTOCOMP_D void load_matrix_sync(fragment<USE, M, N, K, T, LAYOUT>& f, const S* p, unsigned stride) { \
    unsigned r[W]; \
    AUTOCOMP_LOADED(PART, L, SHAPE, TYPE, W) \
    __builtin_memcpy(f.x, r, sizeof(r)); \
  }
#define AUTOCOMP_FACTORS(M, N, K, SHAPE, T, S, TYPE, WA, WB) \
  AUTOCOMP_FACTOR(M, N, K, SHAPE, T, S, TYPE, matrix_a, "a", WA, row_major, "row") \
  AUTOCOMP_FACTOR(M, N, K, SHAPE, T, S, TYPE, matrix_a, "a", WA, col_major, "col") \
  AUTOCOMP_FACTOR(M, N, K, SHAPE, T, S, TYPE, matrix_b, "b", WB, row_major, "row") \
  AUTOCOMP_FACTOR(M, N, K, SHAPE, T, S, TYPE, matrix_b, "b", WB, col_major, "col")
#define AUTOCOMP_KEPT(L, SHAPE, TYPE, W) \
  asm volatile("wmma.store.d.sync.aligned." L "." SHAPE "." TYPE " [%[p]], {" AUTOCOMP_NAMES##W(r) "}, %[s];" \
               :: AUTOCOMP_WORDS##W(r, "r"), [p] "l"(p), [s] "r"(stride) : "memory");
#define AUTOCOMP_SUMS(M, N, K, SHAPE, T, TYPE, W) \
  AUTOCOMP_D void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned stride, layout_t layout) { \
    unsigned r[W]; \
    if (layout == mem_row_major) AUTOCOMP_LOADED("c", "row", SHAPE, TYPE, W) else AUTOCOMP_LOADED("c", "col", SHAPE, TYPE, W) \
    __builtin_memcpy(f.x, r, sizeof(r)); \
  } \
  AUTOCOMP_D void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned stride, layout_t layout) { \
    unsigned r[W]; \
    __builtin_memcpy(r, f.x, sizeof(r)); \
    if (layout == mem_row_major) AUTOCOMP_KEPT("row", SHAPE, TYPE, W) else AUTOCOMP_KEPT("col", SHAPE, TYPE, W) \
  }
#define AUTOCOMP_PRODUCT(M, N, K, SHAPE, T, TYPES, WA, WB, TD, WD, TC, WC, LA, LB, A, B) \
  AUTOCOMP_D void mma_sync(fragment<accumulator, M, N, K, TD>& to, const fragment<matrix_a, M, N, K, T, LA>& left, \
                           const fragment<matrix_b, M, N, K, T, LB>& right, const fragment<accumulator, M, N, K, TC>& from) { \
    unsigned d[WD], a[WA], b[WB], c[WC]; \
    __builtin_memcpy(a, left.x, sizeof(a)); \
    __builtin_memcpy(b, right.x, sizeof(b)); \
    __builtin_memcpy(c, from.x, sizeof(c)); \
    asm volatile("wmma.mma.sync.aligned." A "." B "." SHAPE TYPES " {" AUTOCOMP_NAMES##WD(d) "}, {" AUTOCOMP_NAMES##WA(a) "}, {" \
                 AUTOCOMP_NAMES##WB(b) "}, {" AUTOCOMP_NAMES##WC(c) "};" \
                 : AUTOCOMP_WORDS##WD(d, "=r") \
                 : AUTOCOMP_WORDS##WA(a, "r"), AUTOCOMP_WORDS##WB(b, "r"), AUTOCOMP_WORDS##WC(c, "r")); \
    __builtin_memcpy(to.x, d, sizeof(d)); \
  }
#define AUTOCOMP_PRODUCTS(M, N, K, SHAPE, T, TYPES, WA, WB, TD, WD, TC, WC) \
  AUTOCOMP_PRODUCT(M, N, K, SHAPE, T, TYPES, WA, WB, TD, WD, TC, WC, row_major, row_major, "row", "row") \
  AUTOCOMP_PRODUCT(M, N, K, SHAPE, T, TYPES, WA, WB, TD, WD, TC, WC, row_major, col_major, "row", "col") \
  AUTOCOMP_PRODUCT(M, N, K, SHAPE, T, TYPES, WA, WB, TD, WD, TC, WC, col_major, row_major, "col", "row") \
  AUTOCOMP_PRODUCT(M, N, K, SHAPE, T, TYPES, WA, WB, TD, WD, TC, WC, col_major, col_major, "col", "col")
// `WA` and `WB` are the registers of factors of bfloat16, `VA` and `VB` those of bytes.
#define AUTOCOMP_SHAPE(M, N, SHAPE, WA, WB, VA, VB) \
  AUTOCOMP_SUMS(M, N, 16, SHAPE, float, "f32", 8) \
  AUTOCOMP_SUMS(M, N, 16, SHAPE, half, "f16", 4) \
  AUTOCOMP_SUMS(M, N, 16, SHAPE, int, "s32", 8) \
  AUTOCOMP_FACTORS(M, N, 16, SHAPE, half, half, "f16", 8, 8) \
  AUTOCOMP_FACTORS(M, N, 16, SHAPE, __nv_bfloat16, __nv_bfloat16, "bf16", WA, WB) \
  AUTOCOMP_FACTORS(M, N, 16, SHAPE, signed char, signed char, "s8", VA, VB) \
  AUTOCOMP_FACTORS(M, N, 16, SHAPE, unsigned char, unsigned char, "u8", VA, VB) \
  AUTOCOMP_PRODUCTS(M, N, 16, SHAPE, half, ".f32.f32", 8, 8, float, 8, float, 8) \
  AUTOCOMP_PRODUCTS(M, N, 16, SHAPE, half, ".f16.f16", 8, 8, half, 4, half, 4) \
  AUTOCOMP_PRODUCTS(M, N, 16, SHAPE, half, ".f32.f16", 8, 8, float, 8, half, 4) \
  AUTOCOMP_PRODUCTS(M, N, 16, SHAPE, half, ".f16.f32", 8, 8, half, 4, float, 8) \
  AUTOCOMP_PRODUCTS(M, N, 16, SHAPE, __nv_bfloat16, ".f32.bf16.bf16.f32", WA, WB, float, 8, float, 8) \
  AUTOCOMP_PRODUCTS(M, N, 16, SHAPE, signed char, ".s32.s8.s8.s32", VA, VB, int, 8, int, 8) \
  AUTOCOMP_PRODUCTS(M, N, 16, SHAPE, unsigned char, ".s32.u8.u8.s32", VA, VB, int, 8, int, 8)
AUTOCOMP_SHAPE(16, 16, "m16n16k16", 4, 4, 2, 2)
AUTOCOMP_SHAPE(32, 8, "m32n8k16", 8, 2, 4, 1)
AUTOCOMP_SHAPE(8, 32, "m8n32k16", 2, 8, 1, 4)
AUTOCOMP_SUMS(16, 16, 8, "m16n16k8", float, "f32", 8)
AUTOCOMP_FACTORS(16, 16, 8, "m16n16k8", precision::tf32, float, "tf32", 4, 4)
AUTOCOMP_PRODUCTS(16, 16, 8, "m16n16k8", precision::tf32, ".f32.tf32.tf32.f32", 4, 4, float, 8, float, 8)
}  // namespace wmma
}  // namespace nvcuda
