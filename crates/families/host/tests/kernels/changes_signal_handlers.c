// illegal system-call
// x86-64
void solution(float x[3000], float y[3000]) {
  static const long ignore[4] = {1, 0, 0, 0};
  long result;
  register long size __asm__("r10") = 8;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(13l), "D"(11l), "S"(ignore), "d"(0l), "r"(size)
                   : "rcx", "r11", "memory");
}
