// illegal system-call
// x86-64: a thread that would go on after the call has returned.
static char stack[65536];
void solution(float x[3000], float y[3000]) {
  long flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(56l), "D"(flags), "S"(stack + sizeof stack)
                   : "rcx", "r11", "memory");
}
