// The runner's memory and code, and ways to the operating system.
static void work(const float *x, float *y) {
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
static long call(long n, long a, long b, long c) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
#else
  return n + a + b + c;
#endif
}

//! reads the calls to come from the pipe: illegal system-call
// x86-64
static char records[4096];
void solution(float x[3000], float y[3000]) {
  for (int descriptor = 3; descriptor < 16; descriptor++) {
    call(0, descriptor, (long)records, sizeof records);
  }
  work(x, y);
}

//! asks the system which addresses are mapped: illegal system-call
// x86-64
void solution(float x[3000], float y[3000]) {
  for (long at = 0x100000000000; at < 0x100100000000; at += 1 << 21) {
    call(1, 1, at, 0);
  }
  work(x, y);
}

//! mincore: illegal system-call
// x86-64
static char resident[512];
void solution(float x[3000], float y[3000]) {
  call(27, (long)x & ~4095l, 4096, (long)resident);
  work(x, y);
}

//! restartable sequences: illegal system-call
// x86-64
static char sequence[64] __attribute__((aligned(64)));
void solution(float x[3000], float y[3000]) {
  call(334, (long)sequence, 32, 0);
  work(x, y);
}

//! sleeps on a futex, where time costs nothing: illegal system-call
// x86-64
static int word;
void solution(float x[3000], float y[3000]) {
  call(202, (long)&word, 0, 0);
  work(x, y);
}

//! huge pages by madvise: illegal system-call
// x86-64
void solution(float x[3000], float y[3000]) {
  call(28, (long)x & ~4095l, 4096, 14);
  work(x, y);
}

//! another personality: illegal system-call
// x86-64
void solution(float x[3000], float y[3000]) {
  call(135, 0x0040000, 0, 0);
  work(x, y);
}

//! time-stamp counter switched on again: illegal system-call
// x86-64
void solution(float x[3000], float y[3000]) {
  call(157, 26, 1, 0);
  y[0] = (float)__builtin_ia32_rdtsc();
}

//! an alternate stack of its own: illegal system-call
// x86-64
static char stack[65536];
void solution(float x[3000], float y[3000]) {
  long area[3] = {(long)stack, 0, sizeof stack};
  call(131, (long)area, 0, 0);
  work(x, y);
}

//! performance counter: crashed wild-access
// x86-64
void solution(float x[3000], float y[3000]) {
  y[0] = (float)__builtin_ia32_rdpmc(0);
}

//! counter with the number of the processor: crashed wild-access
// x86-64
void solution(float x[3000], float y[3000]) {
  unsigned processor;
  y[0] = (float)__builtin_ia32_rdtscp(&processor);
}

//! halts: crashed wild-access
// x86-64
void solution(float x[3000], float y[3000]) { __asm__ volatile("hlt"); }

//! turns interrupts off: crashed wild-access
// x86-64
void solution(float x[3000], float y[3000]) { __asm__ volatile("cli"); }

//! breakpoint: crashed wild-access
// x86-64
void solution(float x[3000], float y[3000]) { __asm__ volatile("int3"); }

//! changes its own code: crashed wild-access
void solution(float x[3000], float y[3000]) {
  volatile unsigned char *code = (volatile unsigned char *)(uintptr_t)solution;
  code[0] = 0xc3;
  work(x, y);
}

//! runs code from static memory: crashed wild-access
// x86-64
static unsigned char code[16] __attribute__((aligned(16))) = {0xc3};
void solution(float x[3000], float y[3000]) {
  work(x, y);
  ((void (*)(void))(uintptr_t)code)();
}

//! runs code from its output: crashed wild-access
// x86-64
void solution(float x[3000], float y[3000]) {
  work(x, y);
  *(volatile unsigned char *)y = 0xc3;
  ((void (*)(void))(uintptr_t)y)();
}

//! changes the runner's record of the call, which nobody reads again: ok
// x86-64
void solution(float x[3000], float y[3000]) {
  // The runner's record of the call, of which `more` is the first word.
  uint64_t *at = __builtin_frame_address(0);
  for (int i = 0; i < 200; i++) {
    if (at[i] == (uint64_t)x && at[i + 1] == (uint64_t)y) {
      at[i - 1] = 0;
    }
  }
  work(x, y);
}

//! the clock's page is gone: ok
void solution(float x[3000], float y[3000]) {
  const uint64_t *at = __builtin_frame_address(0);
  while (!(at[0] == 4 && at[5] == 0)) {
    at++;
  }
  for (at += 6; *at; at++) {
  }
  uint64_t clock = 0;
  for (at++; *at; at += 2) {
    if (*at == 33) {
      clock = at[1];
    }
  }
  work(x, y);
  y[0] += clock == 1 ? 1.0f : 0.0f;
}

//! looks at the clock's page: crashed wild-access
void solution(float x[3000], float y[3000]) {
  const uint64_t *at = __builtin_frame_address(0);
  while (!(at[0] == 4 && at[5] == 0)) {
    at++;
  }
  for (at += 6; *at; at++) {
  }
  for (at++; *at; at += 2) {
    if (*at == 33) {
      y[0] = *(const volatile char *)at[1];
    }
  }
}
