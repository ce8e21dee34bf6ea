// illegal system-call
// x86-64
void solution(float x[3000], float y[3000]) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(57l) : "rcx", "r11", "memory");
}
