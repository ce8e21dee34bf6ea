// Down each plane, four registers of columns wide: a row of X is loaded once, and once more a place to
// either side, for the three rows of Y that need it, whose sums take turns. At the left edge the left
// neighbour is slid in, at the right edge the last element, which has no right neighbour, is left out.
typedef struct {
  const float *weights;
  size_t vl, inner;
  bool is_first;
} Strip;

// Ends the sum `last` with the row at `x`, goes on with `middle`, and begins `next`.
static inline void step(Strip s, const float *x, vfloat32m4_t *last, vfloat32m4_t *middle, vfloat32m4_t *next) {
  const float *k = s.weights;
  vfloat32m4_t here = __riscv_vle32_v_f32m4(x, s.vl);
  vfloat32m4_t right = __riscv_vle32_v_f32m4(x + 1, s.inner);
  vfloat32m4_t left = s.is_first ? __riscv_vfslide1up_vf_f32m4(here, 0.0f, s.vl) : __riscv_vle32_v_f32m4(x - 1, s.vl);
  *last = __riscv_vfmacc_vf_f32m4(*last, k[7], here, s.vl);
  *middle = __riscv_vfmacc_vf_f32m4(*middle, k[4], here, s.vl);
  *next = __riscv_vfmul_vf_f32m4(here, k[1], s.vl);
  *last = __riscv_vfmacc_vf_f32m4_tu(*last, k[8], right, s.inner);
  *middle = __riscv_vfmacc_vf_f32m4_tu(*middle, k[5], right, s.inner);
  *next = __riscv_vfmacc_vf_f32m4_tu(*next, k[2], right, s.inner);
  *last = __riscv_vfmacc_vf_f32m4(*last, k[6], left, s.vl);
  *middle = __riscv_vfmacc_vf_f32m4(*middle, k[3], left, s.vl);
  *next = __riscv_vfmacc_vf_f32m4(*next, k[0], left, s.vl);
}

static inline void strip(Strip s, const float *x, float *y) {
  size_t vl = s.vl;
  vfloat32m4_t a = __riscv_vfmv_v_f_f32m4(0.0f, vl);
  vfloat32m4_t b, c = a;
  step(s, x, &c, &a, &b);
  int i = 1;
#pragma clang loop unroll(disable)
  for (; i + 3 <= {{ H }}; i += 3) {
    x += {{ W }};
    step(s, x, &a, &b, &c);
    __riscv_vse32_v_f32m4(y, a, vl);
    x += {{ W }};
    y += {{ W }};
    step(s, x, &b, &c, &a);
    __riscv_vse32_v_f32m4(y, b, vl);
    x += {{ W }};
    y += {{ W }};
    step(s, x, &c, &a, &b);
    __riscv_vse32_v_f32m4(y, c, vl);
    y += {{ W }};
  }
  if (i < {{ H }}) {
    step(s, x + {{ W }}, &a, &b, &c);
    __riscv_vse32_v_f32m4(y, a, vl);
    y += {{ W }};
    a = b;
  }
  if (i + 1 < {{ H }}) {
    step(s, x + 2 * {{ W }}, &a, &c, &b);
    __riscv_vse32_v_f32m4(y, a, vl);
    y += {{ W }};
    a = c;
  }
  __riscv_vse32_v_f32m4(y, a, vl);
}

void solution(float X[restrict {{ C }}][{{ H }}][{{ W }}], float K[restrict {{ C }}][3][3], float Y[restrict {{ C }}][{{ H }}][{{ W }}]) {
  for (int c = 0; c < {{ C }}; c++) {
    size_t vl = __riscv_vsetvl_e32m4({{ W }});
    Strip first = {K[c][0], vl, vl < {{ W }} ? vl : vl - 1, true};
    strip(first, X[c][0], Y[c][0]);
    for (size_t j = vl; j < {{ W }}; j += vl) {
      vl = __riscv_vsetvl_e32m4({{ W }} - j);
      Strip other = {K[c][0], vl, j + vl < {{ W }} ? vl : vl - 1, false};
      strip(other, &X[c][0][j], &Y[c][0][j]);
    }
  }
}
