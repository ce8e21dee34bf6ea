// illegal system-call
// x86-64
void solution(float x[3000], float y[3000]) {
  static const long noon[2] = {43200, 0};
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(227l), "D"(0l), "S"(noon) : "rcx", "r11", "memory");
}
