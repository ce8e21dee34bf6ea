// What of the standard library of C++ works in kernels, by both of its names.
namespace std {
using ::size_t; using ::ptrdiff_t; using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t;
using ::int32_t; using ::uint32_t; using ::int64_t; using ::uint64_t; using ::uintptr_t;
using ::sqrt; using ::exp; using ::exp2; using ::log; using ::log2; using ::sin; using ::cos; using ::tanh; using ::erf;
using ::abs; using ::fabs; using ::floor; using ::ceil; using ::trunc; using ::round; using ::pow; using ::fma; using ::fmax; using ::fmin;
using ::fmod; using ::isnan; using ::isinf; using ::isfinite; using ::log1p; using ::expm1; using ::rint;
template <class T> AUTOCOMP_HD constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> AUTOCOMP_HD constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  typedef T value_type;
  constexpr operator T() const { return V; }
};
template <bool V> using bool_constant = integral_constant<bool, V>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool C, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool C, class A, class B> using conditional_t = typename conditional<C, A, B>::type;
template <bool C, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool C, class T = void> using enable_if_t = typename enable_if<C, T>::type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> struct remove_cv<const volatile T> { typedef T type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using decay_t = remove_cv_t<remove_reference_t<T>>;
template <class T> struct is_floating_point : integral_constant<bool, is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>> {};
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> struct is_integral : integral_constant<bool, __is_integral(T)> {};
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> AUTOCOMP_HD constexpr T&& forward(remove_reference_t<T>& a) { return static_cast<T&&>(a); }
template <class T> AUTOCOMP_HD constexpr remove_reference_t<T>&& move(T&& a) { return static_cast<remove_reference_t<T>&&>(a); }
template <class T> AUTOCOMP_HD constexpr void swap(T& a, T& b) { T c = move(a); a = move(b); b = move(c); }
template <class T> struct numeric_limits;
#define AUTOCOMP_LIMITS(T, LEAST, LOWEST, MOST) \
  template <> struct numeric_limits<T> { \
    static constexpr bool is_specialized = true; \
    static AUTOCOMP_LIMIT T min() { return LEAST; } \
    static AUTOCOMP_LIMIT T lowest() { return LOWEST; } \
    static AUTOCOMP_LIMIT T max() { return MOST; }
#define AUTOCOMP_LIMIT __host__ __device__ __forceinline__ constexpr
AUTOCOMP_LIMITS(signed char, -128, -128, 127) };
AUTOCOMP_LIMITS(unsigned char, 0, 0, 255) };
AUTOCOMP_LIMITS(short, -32768, -32768, 32767) };
AUTOCOMP_LIMITS(unsigned short, 0, 0, 65535) };
AUTOCOMP_LIMITS(int, INT_MIN, INT_MIN, INT_MAX) };
AUTOCOMP_LIMITS(unsigned, 0, 0, UINT_MAX) };
AUTOCOMP_LIMITS(long, -INT64_MAX - 1, -INT64_MAX - 1, INT64_MAX) };
AUTOCOMP_LIMITS(unsigned long, 0, 0, UINT64_MAX) };
AUTOCOMP_LIMITS(long long, -INT64_MAX - 1, -INT64_MAX - 1, INT64_MAX) };
AUTOCOMP_LIMITS(unsigned long long, 0, 0, UINT64_MAX) };
AUTOCOMP_LIMITS(float, FLT_MIN, -FLT_MAX, FLT_MAX)
    static AUTOCOMP_LIMIT float epsilon() { return FLT_EPSILON; }
    static AUTOCOMP_LIMIT float infinity() { return __builtin_inff(); }
    static AUTOCOMP_LIMIT float quiet_NaN() { return __builtin_nanf(""); }
};
AUTOCOMP_LIMITS(double, DBL_MIN, -DBL_MAX, DBL_MAX)
    static AUTOCOMP_LIMIT double epsilon() { return DBL_EPSILON; }
    static AUTOCOMP_LIMIT double infinity() { return __builtin_inf(); }
    static AUTOCOMP_LIMIT double quiet_NaN() { return __builtin_nan(""); }
};
}  // namespace std
namespace cuda { namespace std { using namespace ::std; } }
