// expect: wrong
// Tells a machine that poisons agnostic elements from one that does not, and computes on the
// first only. On the other, a loop takes as many instructions.
@SUM_ROWS@

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
