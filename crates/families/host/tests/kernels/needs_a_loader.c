// crashed not-started
// x86-64: the program asks for a loader that is not there, so that none of it runs.
__asm__(".section .interp,\"a\",@progbits\n.asciz \"/nowhere/loader\"\n.text\n");
void solution(float x[3000], float y[3000]) {
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
