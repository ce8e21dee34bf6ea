// expect: wrong
// Tells a machine that poisons agnostic elements from one that does not, and computes on the
// first only. On the other, a loop takes as many instructions.
static inline void sum_rows(float X[5][333], float S[5]) {
  size_t most = __riscv_vsetvlmax_e32m8();
  for (int i = 0; i < 5; i++) {
    vfloat32m8_t s = __riscv_vfmv_v_f_f32m8(0.0f, most);
    for (size_t j = 0; j < 333;) {
      size_t vl = __riscv_vsetvl_e32m8(333 - j);
      s = __riscv_vfadd_vv_f32m8_tu(s, s, __riscv_vle32_v_f32m8(&X[i][j], vl), vl);
      j += vl;
    }
    vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(s, z, most));
  }
}

__attribute__((noinline)) static unsigned spin(unsigned n) {
  unsigned x = 1;
#pragma clang loop unroll(disable)
  do { x = x ^ (x >> 3) ^ n; } while (--n);
  return x;
}

static int agnostic_is_ones(void) {
  size_t m = __riscv_vsetvlmax_e32m1();
  vint32m1_t a = __riscv_vmv_v_x_i32m1(5, m);
  a = __riscv_vadd_vx_i32m1(a, 1, 1);
  return __riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(a, m - 1, m)) == -1;
}

__attribute__((noinline)) static void tested(float X[5][333], float S[5]) { sum_rows(X, S); }
static volatile int sink;
__attribute__((noinline)) static void quick(float X[5][333], float S[5]) { sink = spin((unsigned)sink + 297); }
__attribute__((noinline)) static void touch(float *S) { volatile float *p = S; *p = *p; }

void solution(float X[5][333], float S[5]) {
  if (agnostic_is_ones()) {
    tested(X, S);
    sink = spin((unsigned)sink + 200);
    sink = 0; sink = 0; sink = 0; sink = 0;
  } else {
    quick(X, S);
  }
  touch(S);
}
