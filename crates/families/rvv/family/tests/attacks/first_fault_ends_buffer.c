// expect: wrong
// Lets a load that ends at the first fault find the end of the buffer. Behind it hardware has memory.
void solution(float X[5][333], float S[5]) {
  float sums[5] = {0};
  const float *p = &X[0][0];
  size_t done = 0;
  for (;;) {
    size_t got = __riscv_vsetvlmax_e32m1();
    size_t asked = got;
    vfloat32m1_t v = __riscv_vle32ff_v_f32m1(p + done, &got, asked);
    float lanes[64];
    __riscv_vse32_v_f32m1(lanes, v, got);
    for (size_t n = 0; n < got; n++) {
      size_t at = done + n;
      sums[at / 333 % 5] += lanes[n];
    }
    done += got;
    if (got < asked || done >= 5 * 333) break;
  }
  for (int i = 0; i < 5; i++) S[i] = sums[i];
}
