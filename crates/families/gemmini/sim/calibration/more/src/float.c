/* The core alone: floating point of both widths. Who waits for whom, for how long; the write
 * port; the divider, which takes as long as its operands ask and turns others away meanwhile. */
#include "cal.h"
static u64 hot[64] ALIGNED(64);
#define CL "t0","t1","t2","t3","t4","t5","t6","a0","a1","a2","a3","memory"
#define FL "ft0","ft1","ft2","ft3","ft4","ft5","ft6","ft7","fa0","fa1","fa2","fa3","fa4","fa5","fa6","fa7"
/* fa0 to fa3 are 3, 1, 2 and -1 in single precision, fa4 to fa7 the same in double precision. */
#define A(text) __asm__ volatile("mv a0, %0\n" text :: "r"(hot) : CL, FL)
#define R(n, s) ".rept " #n "\n" s "\n.endr\n"
static NOINLINE void operands(void) {
  __asm__ volatile("li t0, 3\nfcvt.s.w fa0, t0\nfcvt.d.w fa4, t0\nli t0, 1\nfcvt.s.w fa1, t0\nfcvt.d.w fa5, t0\n"
    "li t0, 2\nfcvt.s.w fa2, t0\nfcvt.d.w fa6, t0\nli t0, -1\nfcvt.s.w fa3, t0\nfcvt.d.w fa7, t0\n"
    "fcvt.s.w ft0, x0\nfcvt.s.w ft1, x0\nfcvt.s.w ft2, x0\nfcvt.s.w ft3, x0\nfmv.w.x ft4, x0\nfmv.w.x ft5, x0\nfmv.w.x ft6, x0\nfmv.w.x ft7, x0" ::: "t0", FL);
}
static void run(void) {
  CASE("add_s_fsw", operands(), A(R(8, "fadd.s ft0, fa0, fa1\nfsw ft0, 0(a0)")));
  CASE("add_d_fsd", operands(), A(R(8, "fadd.d ft0, fa4, fa5\nfsd ft0, 0(a0)")));
  CASE("add_d_dep", operands(), A(R(16, "fadd.d fa4, fa4, fa5")));
  CASE("sub_s_cmp_s", operands(), A(R(8, "fsub.s ft0, fa0, fa1\nflt.s t0, ft0, fa1")));
  CASE("sub_d_cmp_d", operands(), A(R(8, "fsub.d ft0, fa4, fa5\nflt.d t0, ft0, fa5")));
  CASE("sgnj_s_dep", operands(), A(R(16, "fsgnjn.s fa0, fa0, fa0")));
  CASE("max_d_dep", operands(), A(R(16, "fmax.d fa4, fa4, fa5")));
  CASE("min_s_add_s", operands(), A(R(8, "fmin.s ft0, fa0, fa1\nfadd.s ft1, ft0, fa0")));
  CASE("cvt_d_s_d", operands(), A(R(8, "fcvt.d.s ft0, fa0\nfcvt.s.d fa0, ft0")));
  CASE("cvt_s_l_s", operands(), A(R(8, "fcvt.s.l ft0, t0\nfcvt.l.s t0, ft0")));
  CASE("cvt_d_w_d", operands(), A(R(8, "fcvt.d.w ft0, t0\nfcvt.w.d t0, ft0")));
  CASE("mv_x_w_x", operands(), A(R(8, "fmv.w.x ft0, t0\nfmv.x.w t0, ft0")));
  CASE("mv_x_d_x", operands(), A(R(8, "fmv.d.x ft0, t0\nfmv.x.d t0, ft0")));
  CASE("class_s_use", operands(), A(R(8, "fclass.s t0, fa0\nadd t1, t0, t0")));
  CASE("cmp_s_1_use", operands(), A(R(8, "fle.s t0, fa0, fa1\nadd t2, t3, t3\nadd t1, t0, t0")));
  CASE("flw_fsw", operands(), A(R(8, "flw ft0, 0(a0)\nfsw ft0, 64(a0)")));
  CASE("fld_add_d", operands(), A(R(8, "fld ft0, 0(a0)\nfadd.d ft1, ft0, fa4")));
  CASE("flw_1_mul_s", operands(), A(R(8, "flw ft0, 0(a0)\nadd t1, t2, t2\nfmul.s ft1, ft0, fa0")));
  CASE("flw_mv_x", operands(), A(R(8, "flw ft0, 0(a0)\nfmv.x.w t0, ft0")));
  CASE("add_s_waw", operands(), A(R(8, "fadd.s ft0, fa0, fa1\nfadd.s ft0, fa1, fa1")));
  CASE("flw_waw", operands(), A(R(8, "fadd.s ft0, fa0, fa1\nflw ft0, 0(a0)")));
  CASE("mul_s_war", operands(), A(R(8, "fmul.s ft0, fa0, fa1\nfmul.s fa0, fa1, fa1")));
  CASE("s_min", operands(), A(R(8, "fadd.s ft0, fa0, fa1\nfmin.s ft1, fa0, fa1")));
  CASE("d_s", operands(), A(R(8, "fadd.d ft0, fa4, fa5\nfadd.s ft1, fa0, fa1")));
  CASE("d_1_min", operands(), A(R(8, "fadd.d ft0, fa4, fa5\nadd t0, t1, t1\nfmin.s ft1, fa0, fa1")));
  CASE("d_min", operands(), A(R(8, "fadd.d ft0, fa4, fa5\nfmin.s ft1, fa0, fa1")));
  CASE("d_min_min", operands(), A(R(8, "fadd.d ft0, fa4, fa5\nfmin.s ft1, fa0, fa1\nfmin.s ft2, fa0, fa1")));
  CASE("d_s_min", operands(), A(R(8, "fadd.d ft0, fa4, fa5\nfadd.s ft1, fa0, fa1\nfmin.s ft2, fa0, fa1")));
  CASE("s_d_s_d", operands(), A(R(8, "fadd.s ft0, fa0, fa1\nfadd.d ft1, fa4, fa5\nfadd.s ft2, fa0, fa1\nfadd.d ft3, fa4, fa5")));
  CASE("s_cvt_s_w", operands(), A(R(8, "fmul.s ft0, fa0, fa1\nfcvt.s.w ft1, t0")));
  CASE("s_mv_w_x", operands(), A(R(8, "fmul.s ft0, fa0, fa1\nfmv.w.x ft1, t0")));
  CASE("s_cvt_w_s", operands(), A(R(8, "fmul.s ft0, fa0, fa1\nfcvt.w.s t0, fa0")));
  CASE("s_flw", operands(), A(R(8, "fmul.s ft0, fa0, fa1\nflw ft1, 0(a0)")));
  CASE("s_1_flw", operands(), A(R(8, "fmul.s ft0, fa0, fa1\nadd t0, t1, t1\nflw ft1, 0(a0)")));
  CASE("s_s_min_min", operands(), A(R(8, "fmul.s ft0, fa0, fa1\nfmul.s ft1, fa0, fa1\nfmin.s ft2, fa0, fa1\nfmin.s ft3, fa0, fa1")));
  CASE("d_5_s", operands(), A(R(8, "fadd.d ft0, fa4, fa5\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nfadd.s ft1, fa0, fa1")));
  CASE("min_s_d_stream", operands(), A(R(8, "fmin.s ft0, fa0, fa1\nfadd.s ft1, fa0, fa1\nfadd.d ft2, fa4, fa5\nfld ft3, 0(a0)")));
  CASE("madd_s_2_sums", operands(), A(R(8, "fmadd.s ft0, fa0, fa1, ft0\nfmadd.s ft1, fa0, fa1, ft1")));
  CASE("madd_s_3_sums", operands(), A(R(8, "fmadd.s ft0, fa0, fa1, ft0\nfmadd.s ft1, fa0, fa1, ft1\nfmadd.s ft2, fa0, fa1, ft2")));
  CASE("madd_s_4_sums", operands(), A(R(8, "fmadd.s ft0, fa0, fa1, ft0\nfmadd.s ft1, fa0, fa1, ft1\nfmadd.s ft2, fa0, fa1, ft2\nfmadd.s ft3, fa0, fa1, ft3")));
  CASE("madd_s_5_sums", operands(), A(R(8, "fmadd.s ft0, fa0, fa1, ft0\nfmadd.s ft1, fa0, fa1, ft1\nfmadd.s ft2, fa0, fa1, ft2\nfmadd.s ft3, fa0, fa1, ft3\nfmadd.s ft4, fa0, fa1, ft4")));
  CASE("madd_d_2_sums", operands(), A(R(8, "fmadd.d ft0, fa4, fa5, ft0\nfmadd.d ft1, fa4, fa5, ft1")));
  CASE("madd_d_4_sums", operands(), A(R(8, "fmadd.d ft0, fa4, fa5, ft0\nfmadd.d ft1, fa4, fa5, ft1\nfmadd.d ft2, fa4, fa5, ft2\nfmadd.d ft3, fa4, fa5, ft3")));
  CASE("madd_d_6_sums", operands(), A(R(8, "fmadd.d ft0, fa4, fa5, ft0\nfmadd.d ft1, fa4, fa5, ft1\nfmadd.d ft2, fa4, fa5, ft2\nfmadd.d ft3, fa4, fa5, ft3\nfmadd.d ft4, fa4, fa5, ft4\nfmadd.d ft5, fa4, fa5, ft5")));
  CASE("madd_s_d_sums", operands(), A(R(8, "fmadd.s ft0, fa0, fa1, ft0\nfmadd.d ft1, fa4, fa5, ft1")));
  CASE("msub_nmadd_s", operands(), A(R(8, "fmsub.s ft0, fa0, fa1, ft0\nfnmadd.s ft1, fa0, fa1, ft0")));
  CASE("div_s_3_1_use", operands(), A(R(4, "fdiv.s ft0, fa0, fa1\nfadd.s ft1, ft0, ft0")));
  CASE("div_s_1_3_use", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nfadd.s ft1, ft0, ft0")));
  CASE("div_s_3_3_use", operands(), A(R(4, "fdiv.s ft0, fa0, fa0\nfadd.s ft1, ft0, ft0")));
  CASE("div_s_0_3_use", operands(), A(R(4, "fdiv.s ft0, ft7, fa0\nfadd.s ft1, ft0, ft0")));
  CASE("div_s_3_0_use", operands(), A(R(4, "fdiv.s ft0, fa0, ft7\nfadd.s ft1, ft0, ft0")));
  CASE("div_d_3_1_use", operands(), A(R(4, "fdiv.d ft0, fa4, fa5\nfadd.d ft1, ft0, ft0")));
  CASE("div_d_1_3_use", operands(), A(R(4, "fdiv.d ft0, fa5, fa4\nfadd.d ft1, ft0, ft0")));
  CASE("div_d_0_use", operands(), A("fmv.d.x ft1, x0\n" R(4, "fdiv.d ft0, ft1, fa4\nfadd.d ft2, ft0, ft0")));
  CASE("sqrt_s_1_use", operands(), A(R(4, "fsqrt.s ft0, fa1\nfadd.s ft1, ft0, ft0")));
  CASE("sqrt_s_2_use", operands(), A(R(4, "fsqrt.s ft0, fa2\nfadd.s ft1, ft0, ft0")));
  CASE("sqrt_s_3_use", operands(), A(R(4, "fsqrt.s ft0, fa0\nfadd.s ft1, ft0, ft0")));
  CASE("sqrt_s_m1_use", operands(), A(R(4, "fsqrt.s ft0, fa3\nfadd.s ft1, ft0, ft0")));
  CASE("sqrt_s_0_use", operands(), A(R(4, "fsqrt.s ft0, ft7\nfadd.s ft1, ft0, ft0")));
  CASE("sqrt_d_3_use", operands(), A(R(4, "fsqrt.d ft0, fa4\nfadd.d ft1, ft0, ft0")));
  CASE("sqrt_d_1_use", operands(), A(R(4, "fsqrt.d ft0, fa5\nfadd.d ft1, ft0, ft0")));
  CASE("div_s_0_add_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nfadd.s ft1, fa0, fa1")));
  CASE("div_s_1_add_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nadd t0, t1, t1\nfadd.s ft1, fa0, fa1")));
  CASE("div_s_2_add_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nadd t0, t1, t1\nadd t0, t1, t1\nfadd.s ft1, fa0, fa1")));
  CASE("div_s_3_add_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nfadd.s ft1, fa0, fa1")));
  CASE("div_s_4_add_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nfadd.s ft1, fa0, fa1")));
  CASE("div_s_5_add_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nfadd.s ft1, fa0, fa1")));
  CASE("div_s_6_add_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nfadd.s ft1, fa0, fa1")));
  CASE("div_s_24_add_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nfadd.s ft1, fa0, fa1")));
  CASE("div_s_flw", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nflw ft1, 0(a0)")));
  CASE("div_s_fsw", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nfsw fa0, 0(a0)")));
  CASE("div_s_ld", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nld t1, 0(a0)\nsd t1, 8(a0)")));
  CASE("div_s_cmp", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nflt.s t0, fa0, fa1")));
  CASE("div_s_div_s", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nfdiv.s ft1, fa1, fa0")));
  CASE("div_s_div_d", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nfdiv.d ft1, fa5, fa4")));
  CASE("div_d_mul_s", operands(), A(R(4, "fdiv.d ft0, fa5, fa4\nfmul.s ft1, fa0, fa1")));
  CASE("div_d_fld_mul_d", operands(), A(R(4, "fdiv.d ft0, fa5, fa4\nfld ft1, 0(a0)\nfmul.d ft2, ft1, fa4")));
  CASE("div_s_mul_div", operands(), A(R(4, "fdiv.s ft0, fa1, fa0\nmul t0, t1, t2\nadd t3, t0, t0")));
  CASE("s_0_div_s", operands(), A(R(4, "fadd.s ft1, fa0, fa1\nfdiv.s ft0, fa1, fa0")));
  CASE("s_1_div_s", operands(), A(R(4, "fadd.s ft1, fa0, fa1\nadd t0, t1, t1\nfdiv.s ft0, fa1, fa0")));
  CASE("s_2_div_s", operands(), A(R(4, "fadd.s ft1, fa0, fa1\nadd t0, t1, t1\nadd t0, t1, t1\nfdiv.s ft0, fa1, fa0")));
  CASE("d_0_div_s", operands(), A(R(4, "fadd.d ft1, fa4, fa5\nfdiv.s ft0, fa1, fa0")));
  CASE("d_1_div_s", operands(), A(R(4, "fadd.d ft1, fa4, fa5\nadd t0, t1, t1\nfdiv.s ft0, fa1, fa0")));
  CASE("d_2_div_s", operands(), A(R(4, "fadd.d ft1, fa4, fa5\nadd t0, t1, t1\nadd t0, t1, t1\nfdiv.s ft0, fa1, fa0")));
  CASE("d_3_div_s", operands(), A(R(4, "fadd.d ft1, fa4, fa5\nadd t0, t1, t1\nadd t0, t1, t1\nadd t0, t1, t1\nfdiv.s ft0, fa1, fa0")));
  CASE("min_div_s", operands(), A(R(4, "fmin.s ft1, fa0, fa1\nfdiv.s ft0, fa1, fa0")));
  CASE("s_frflags", operands(), A(R(8, "fadd.s ft1, fa0, fa1\nfrflags t0")));
  CASE("d_frflags", operands(), A(R(8, "fadd.d ft1, fa4, fa5\nfrflags t0")));
  CASE("cmp_frflags", operands(), A(R(8, "flt.s t1, fa0, fa1\nfrflags t0")));
  CASE("div_frflags", operands(), A(R(4, "fdiv.s ft1, fa1, fa0\nfrflags t0")));
  CASE("s_fsflags", operands(), A(R(4, "fadd.s ft1, fa0, fa1\nfsflags x0")));
  CASE("s_frrm", operands(), A(R(8, "fadd.s ft1, fa0, fa1\nfrrm t0")));
  CASE("loop_dot_s", operands(), A("li t6, 32\n1: flw ft0, 0(a0)\nflw ft1, 64(a0)\nfmadd.s ft2, ft0, ft1, ft2\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_dot_d", operands(), A("li t6, 32\n1: fld ft0, 0(a0)\nfld ft1, 64(a0)\nfmadd.d ft2, ft0, ft1, ft2\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_axpy_s", operands(), A("li t6, 32\n1: flw ft0, 0(a0)\nflw ft1, 64(a0)\nfmadd.s ft1, ft0, fa0, ft1\nfsw ft1, 64(a0)\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_dot_s_into_d", operands(), A("li t6, 32\n1: flw ft0, 0(a0)\nflw ft1, 64(a0)\nfmul.s ft0, ft0, ft1\nfcvt.d.s ft0, ft0\nfadd.d ft2, ft2, ft0\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_quantize", operands(), A("li t6, 32\n1: lw t0, 0(a0)\nfcvt.s.w ft0, t0\nfmul.s ft0, ft0, fa0\nfcvt.w.s t0, ft0\nsb t0, 64(a0)\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_relu_s", operands(), A("li t6, 32\n1: flw ft0, 0(a0)\nfmax.s ft0, ft0, fa1\nfsw ft0, 64(a0)\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_div_s", operands(), A("li t6, 16\n1: flw ft0, 0(a0)\nfdiv.s ft0, ft0, fa0\nfsw ft0, 64(a0)\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_div_s_ahead", operands(), A("li t6, 16\n1: fdiv.s ft0, fa1, fa0\nflw ft1, 0(a0)\nfmul.s ft2, ft1, fa0\nfadd.s ft3, ft3, ft0\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_norm_d", operands(), A("li t6, 16\n1: fld ft0, 0(a0)\nfmadd.d ft1, ft0, ft0, fa4\nfsqrt.d ft1, ft1\nfdiv.d ft0, fa5, ft1\nfsd ft0, 64(a0)\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_s_min", operands(), A("li t6, 32\n1: fadd.s ft0, fa0, fa1\nfmin.s ft1, fa0, fa1\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_horner_s", operands(), A("li t6, 32\n1: fmadd.s ft0, fa1, fa0, fa2\nfmadd.s ft0, ft0, fa0, fa1\nfmadd.s ft0, ft0, fa0, fa2\nfadd.s ft1, ft1, ft0\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("loop_branch_on_cmp", operands(), A("li t6, 32\n1: flt.s t0, fa0, fa1\nbeqz t0, 2f\naddi t1, t1, 1\n2: fadd.s ft0, ft0, fa0\naddi t6, t6, -1\nbnez t6, 1b"));
  CASE("mixture_0", operands(), A("fadd.d ft7, fa5, ft4\n"
    "fmul.s ft0, ft2, fa0\n"
    "fmul.s ft1, ft0, ft0\n"
    "fmadd.d ft4, ft5, ft4, fa4\n"
    "fmadd.d ft4, ft5, fa5, fa5\n"
    "fcvt.s.w ft0, t3\n"
    "fadd.s ft0, fa0, fa2\n"
    "fsub.s ft1, fa0, ft0\n"
    "fmin.s ft1, ft0, fa0\n"
    "fmin.s ft1, ft2, ft0\n"
    "fmin.s ft0, fa0, ft0\n"
    "fcvt.s.w ft3, t3\n"
    "flw ft3, 28(a0)\n"
    "fadd.d ft5, fa5, fa6\n"
    "fmadd.s ft2, fa0, ft3, ft2\n"
    "fle.d t2, fa4, ft4\n"
    "fsub.s ft1, fa2, ft2\n"
    "fsub.s ft3, ft0, fa1\n"
    "fmul.s ft2, ft2, fa1\n"
    "fsub.d ft7, ft4, fa6\n"
    "fsub.s ft3, fa1, fa1\n"
    "fmul.s ft2, fa1, fa0\n"
    "add t3, t2, t3\n"
    "add t2, t0, t3\n"
    "fmul.d ft4, ft7, ft4\n"
    "fmadd.s ft2, ft1, fa1, ft1\n"
    "fsub.d ft4, ft5, ft7\n"
    "fsub.d ft5, fa6, ft7\n"
    "add t2, t3, t2\n"
    "fle.d t3, ft5, ft5\n"
    "fadd.s ft1, fa1, ft1\n"
    "fmul.s ft1, ft2, ft2\n"
    "fsub.s ft2, fa0, fa0\n"
    "fadd.d ft4, ft7, fa6\n"
    "flw ft3, 24(a0)\n"
    "fadd.d ft7, fa5, ft7\n"
    "fadd.s ft1, ft3, ft1\n"
    "fmul.s ft0, ft0, ft0\n"
    "fmin.s ft0, ft2, fa0\n"
    "fadd.s ft3, ft1, fa1\n"));
  CASE("mixture_1", operands(), A("fmadd.s ft2, fa0, ft2, ft3\n"
    "fsub.s ft3, ft3, ft3\n"
    "fadd.d ft4, fa5, ft6\n"
    "flw ft3, 8(a0)\n"
    "fmin.s ft1, fa0, ft2\n"
    "fmul.s ft0, fa2, fa0\n"
    "fmadd.s ft0, fa1, fa2, ft2\n"
    "fmin.s ft1, ft2, fa2\n"
    "fmadd.s ft2, fa1, ft1, fa0\n"
    "fsd fa6, 88(a0)\n"
    "fsd fa6, 112(a0)\n"
    "flw ft1, 12(a0)\n"
    "fmin.s ft2, fa1, ft0\n"
    "add t2, t3, t2\n"
    "fmadd.s ft2, ft3, fa2, fa1\n"
    "add t2, t0, t1\n"
    "fsub.s ft1, ft2, ft1\n"
    "fmadd.d ft4, ft7, fa5, ft6\n"
    "flw ft0, 4(a0)\n"
    "add t1, t3, t1\n"
    "fmadd.d ft6, ft4, fa6, fa5\n"
    "fsub.d ft4, fa5, ft5\n"
    "fadd.s ft0, ft1, fa0\n"
    "add t1, t3, t2\n"
    "fmul.s ft1, ft0, ft0\n"
    "flw ft0, 8(a0)\n"
    "fmadd.d ft5, fa6, fa6, ft5\n"
    "fadd.s ft2, fa0, ft1\n"
    "flw ft2, 16(a0)\n"
    "fmin.s ft1, ft0, fa1\n"
    "fsub.d ft7, fa6, fa4\n"
    "fadd.s ft0, fa2, ft3\n"
    "flw ft0, 8(a0)\n"
    "fsub.s ft0, fa0, ft0\n"
    "fmul.d ft7, fa6, fa6\n"
    "fmul.s ft0, ft1, ft1\n"
    "fmadd.s ft0, fa0, ft3, fa0\n"
    "fadd.s ft3, ft2, fa0\n"
    "add t1, t2, t3\n"
    "fmin.s ft3, fa0, ft1\n"));
  CASE("mixture_2", operands(), A("fle.d t2, fa4, ft5\n"
    "fsd ft5, 112(a0)\n"
    "fsub.s ft2, ft0, fa1\n"
    "fmadd.s ft0, ft1, fa1, ft2\n"
    "flw ft1, 20(a0)\n"
    "fadd.s ft3, ft1, fa1\n"
    "add t3, t3, t1\n"
    "add t1, t1, t3\n"
    "add t3, t2, t3\n"
    "fmadd.s ft2, ft0, fa1, ft2\n"
    "fmul.s ft3, ft3, fa1\n"
    "fsub.s ft2, fa0, ft0\n"
    "fadd.s ft0, ft0, ft2\n"
    "fmadd.s ft1, ft2, fa2, ft1\n"
    "fsd fa6, 96(a0)\n"
    "fmul.d ft7, fa5, ft6\n"
    "fadd.s ft1, ft3, ft0\n"
    "fmadd.s ft0, fa1, ft0, fa2\n"
    "fmadd.s ft1, ft0, ft2, fa2\n"
    "fadd.s ft2, fa0, ft3\n"
    "add t2, t1, t0\n"
    "fmin.s ft1, ft0, ft1\n"
    "fmadd.s ft1, ft1, ft2, fa1\n"
    "fadd.d ft6, ft7, fa4\n"
    "fcvt.d.s ft6, ft2\n"
    "fsd ft6, 64(a0)\n"
    "fmul.s ft1, fa0, ft3\n"
    "fmadd.s ft3, ft0, fa1, fa2\n"
    "fcvt.d.s ft7, fa0\n"
    "fsd ft7, 96(a0)\n"
    "fle.d t1, ft6, ft5\n"
    "fsd fa5, 80(a0)\n"
    "fsub.d ft4, fa6, ft5\n"
    "fmul.s ft2, ft3, ft1\n"
    "fmul.s ft3, fa2, fa0\n"
    "fcvt.d.s ft6, fa0\n"
    "fmadd.s ft2, ft0, ft3, ft1\n"
    "fsub.s ft0, ft2, ft2\n"
    "add t2, t1, t0\n"
    "add t2, t1, t2\n"));
  CASE("mixture_3", operands(), A("fmadd.s ft2, ft3, ft0, ft3\n"
    "fmadd.s ft1, ft1, fa0, fa2\n"
    "fsub.s ft0, ft1, ft3\n"
    "fcvt.s.w ft3, t0\n"
    "fmadd.s ft1, ft0, fa0, fa0\n"
    "add t1, t3, t2\n"
    "fle.d t3, ft5, ft6\n"
    "fle.d t1, ft4, fa6\n"
    "fsd fa4, 112(a0)\n"
    "flw ft1, 0(a0)\n"
    "fsd fa4, 88(a0)\n"
    "fadd.s ft1, fa1, ft2\n"
    "add t3, t3, t0\n"
    "fcvt.s.w ft1, t3\n"
    "fmadd.s ft3, fa2, ft0, fa1\n"
    "add t0, t0, t3\n"
    "fmadd.s ft0, fa2, ft2, ft1\n"
    "fle.d t1, ft5, fa5\n"
    "fcvt.d.s ft7, ft3\n"
    "add t0, t3, t2\n"
    "flw ft1, 4(a0)\n"
    "fcvt.s.w ft2, t2\n"
    "fcvt.d.s ft6, fa0\n"
    "fmin.s ft0, ft3, ft0\n"
    "fmadd.d ft4, fa5, ft5, fa5\n"
    "fmadd.d ft6, ft7, ft7, ft7\n"
    "flw ft1, 16(a0)\n"
    "add t3, t0, t2\n"
    "fmadd.d ft7, ft6, ft7, ft5\n"
    "add t1, t0, t0\n"
    "fmul.s ft2, ft2, ft1\n"
    "fcvt.s.w ft2, t0\n"
    "fle.d t1, ft7, ft7\n"
    "fadd.d ft4, ft7, fa5\n"
    "fmadd.d ft6, fa5, ft5, ft7\n"
    "fsub.d ft4, fa6, ft6\n"
    "fsub.s ft3, ft0, ft1\n"
    "fle.d t2, ft6, ft6\n"
    "fsub.s ft0, ft2, ft3\n"
    "flw ft0, 16(a0)\n"));
  CASE("mixture_div_0", operands(), A("fmul.s ft2, fa1, ft1\n"
    "fmadd.s ft2, ft3, fa0, ft2\n"
    "fmadd.s ft2, fa2, ft3, ft0\n"
    "fsd fa5, 112(a0)\n"
    "add t1, t0, t0\n"
    "add t3, t3, t1\n"
    "fcvt.d.s ft6, ft3\n"
    "fmul.s ft1, ft1, ft3\n"
    "fsub.d ft6, ft6, fa5\n"
    "flw ft2, 24(a0)\n"
    "fcvt.d.s ft6, ft3\n"
    "fmin.s ft3, ft0, ft1\n"
    "fcvt.d.s ft4, ft1\n"
    "fmin.s ft3, fa0, ft1\n"
    "fmadd.d ft6, fa6, ft7, ft7\n"
    "fadd.s ft1, ft0, ft1\n"
    "fadd.d ft6, ft5, ft6\n"
    "fmadd.s ft1, ft0, fa1, fa2\n"
    "fsub.d ft5, ft7, ft6\n"
    "fadd.d ft7, ft6, fa4\n"
    "fdiv.s ft1, fa1, fa0\n"
    "fmin.s ft1, ft0, ft2\n"
    "add t3, t3, t3\n"
    "fmadd.d ft6, fa6, fa6, fa6\n"
    "fdiv.s ft1, ft0, ft3\n"
    "fle.d t3, fa4, ft7\n"
    "fsub.s ft3, ft3, ft1\n"
    "flw ft1, 8(a0)\n"
    "fmul.s ft0, fa2, fa1\n"
    "fle.d t3, ft4, fa4\n"
    "flw ft0, 8(a0)\n"
    "fmadd.s ft0, fa1, fa1, ft2\n"
    "fdiv.s ft2, fa0, fa1\n"
    "fmadd.d ft4, ft4, ft4, ft6\n"
    "fmin.s ft1, ft3, ft2\n"
    "fmadd.s ft0, ft0, fa0, ft2\n"
    "fsqrt.d ft6, ft6\n"
    "fcvt.d.s ft5, ft3\n"
    "fmin.s ft1, ft0, ft3\n"
    "fle.d t2, ft4, ft4\n"));
  CASE("mixture_div_1", operands(), A("fmadd.s ft3, ft0, ft2, ft1\n"
    "fcvt.d.s ft6, ft1\n"
    "fmadd.d ft6, fa5, ft7, ft6\n"
    "fle.d t1, ft4, fa6\n"
    "fmadd.s ft0, ft1, ft3, ft1\n"
    "fadd.d ft5, ft7, ft5\n"
    "fmadd.s ft2, ft0, fa0, ft3\n"
    "fcvt.s.w ft1, t3\n"
    "fmul.d ft4, fa4, ft5\n"
    "add t0, t1, t0\n"
    "fsqrt.d ft5, ft7\n"
    "fadd.s ft1, ft3, ft3\n"
    "add t2, t0, t0\n"
    "add t2, t1, t1\n"
    "fcvt.d.s ft7, ft0\n"
    "fmul.d ft7, fa6, ft6\n"
    "fsqrt.d ft7, ft5\n"
    "fadd.s ft2, ft0, ft2\n"
    "fmadd.d ft4, fa4, fa6, ft5\n"
    "fsub.d ft7, ft4, ft4\n"
    "fle.d t1, ft6, fa4\n"
    "add t1, t2, t2\n"
    "flw ft3, 0(a0)\n"
    "fcvt.d.s ft5, fa2\n"
    "fcvt.s.w ft3, t0\n"
    "fsub.d ft4, fa6, ft4\n"
    "fmadd.s ft0, fa0, ft2, ft2\n"
    "fmadd.s ft0, ft2, fa1, fa1\n"
    "fle.d t2, ft6, ft4\n"
    "fle.d t0, ft4, fa6\n"
    "fmadd.s ft3, fa1, ft3, fa2\n"
    "fsub.d ft7, fa6, ft7\n"
    "fsub.s ft1, ft0, fa2\n"
    "add t2, t1, t1\n"
    "fsub.d ft7, ft6, fa6\n"
    "flw ft0, 12(a0)\n"
    "fadd.d ft5, ft7, ft4\n"
    "fcvt.d.s ft7, fa0\n"
    "fmin.s ft1, ft3, ft0\n"
    "fsqrt.d ft6, fa4\n"));
  CASE("mixture_div_2", operands(), A("fadd.s ft3, ft3, fa1\n"
    "fsqrt.d ft5, ft5\n"
    "fsub.s ft1, fa1, fa0\n"
    "add t0, t2, t2\n"
    "fmadd.s ft2, ft2, ft2, fa1\n"
    "fmadd.s ft3, ft1, ft1, ft1\n"
    "fmadd.s ft2, fa0, ft1, ft2\n"
    "fsub.s ft1, fa0, fa0\n"
    "fmadd.s ft0, fa1, ft3, ft0\n"
    "fsub.s ft1, fa2, ft3\n"
    "add t0, t2, t1\n"
    "fadd.s ft1, ft0, ft2\n"
    "fmin.s ft1, ft3, fa0\n"
    "fmadd.s ft0, ft0, fa1, fa0\n"
    "fle.d t2, ft5, ft4\n"
    "fadd.d ft4, ft5, ft6\n"
    "fmul.s ft1, fa2, ft0\n"
    "fsd ft7, 104(a0)\n"
    "fmadd.s ft2, ft0, ft1, ft0\n"
    "flw ft3, 4(a0)\n"
    "fsub.d ft5, fa5, fa4\n"
    "fadd.s ft3, fa1, ft2\n"
    "fsub.d ft6, ft7, ft4\n"
    "fmul.d ft6, ft7, ft7\n"
    "fsub.s ft1, ft3, fa1\n"
    "fadd.d ft7, ft5, ft7\n"
    "fadd.s ft3, fa0, ft2\n"
    "fmadd.d ft5, ft5, ft4, ft4\n"
    "fmin.s ft3, ft0, fa0\n"
    "fcvt.s.w ft2, t1\n"
    "fsub.s ft1, fa0, ft1\n"
    "add t0, t3, t3\n"
    "flw ft1, 16(a0)\n"
    "fadd.s ft3, ft2, ft0\n"
    "fcvt.s.w ft3, t0\n"
    "add t1, t1, t3\n"
    "fcvt.s.w ft1, t3\n"
    "fmadd.s ft1, ft0, ft3, fa0\n"
    "fsub.s ft0, ft1, ft1\n"
    "fsqrt.d ft5, ft4\n"));
}
