// illegal system-call
// x86-64: the filter of system calls ends the process at once.
void solution(float x[3000], float y[3000]) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
  y[0] = (float)result;
}
