// What compilers and linkers can be told in the text of a kernel.
static void work(const float *x, float *y) {
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
}

//! an indirect function, which the compiler calls directly: ok
// x86-64
static void (*choose(void))(const float *, float *) { return work; }
void chosen(const float *, float *) __attribute__((ifunc("choose")));
void solution(float x[3000], float y[3000]) { chosen(x, y); }

//! a destructor: ok
static __attribute__((destructor)) void late(void) { __builtin_trap(); }
void solution(float x[3000], float y[3000]) { work(x, y); }

//! a start of its own, weak: ok
__attribute__((weak)) void _start(void) {}
void solution(float x[3000], float y[3000]) { work(x, y); }

//! the name of the runner: build_failed duplicate-symbol
void autocomp_main(void) {}
void solution(float x[3000], float y[3000]) { work(x, y); }

//! its own memcpy, whose name stands for the compiler's: build_failed compile-error
void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    ((char *)to)[i] = ((const char *)from)[i];
  }
  return to;
}
void solution(float x[3000], float y[3000]) {
  static float copy[3000];
  memcpy(copy, x, sizeof copy);
  work(copy, y);
}

//! its own memcpy, and its name too: ok
#undef memcpy
void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    ((char *)to)[i] = ((const char *)from)[i];
  }
  return to;
}
void solution(float x[3000], float y[3000]) {
  static float copy[3000];
  memcpy(copy, x, sizeof copy);
  work(copy, y);
}

//! the places of system calls: build_failed undefined-symbol
extern const char after_done[];
void solution(float x[3000], float y[3000]) {
  work(x, y);
  y[0] += after_done[0];
}

//! data in the segment of code: ok
__attribute__((section(".text.table"))) static const float zero[1] = {0.0f};
void solution(float x[3000], float y[3000]) {
  work(x, y);
  y[0] += zero[0];
}

//! a section to write and execute, which changes nothing but the kernel: ok
// x86-64
__asm__(".section .both,\"awx\",@progbits\nboth: ret\n.text\n");
extern unsigned char both[];
void solution(float x[3000], float y[3000]) {
  work(x, y);
  both[0] = 0xc3;
  ((void (*)(void))(uintptr_t)both)();
}

//! an executable stack: build_failed link-error
// x86-64
__asm__(".section .note.GNU-stack,\"x\",@progbits\n.text\n");
void solution(float x[3000], float y[3000]) {
  work(x, y);
  volatile unsigned char code[16] = {0xc3};
  ((void (*)(void))(uintptr_t)code)();
}

//! alignment of a quarter of a gigabyte: build_failed build-limit
static volatile char far[1 << 30] __attribute__((aligned(1 << 28)));
void solution(float x[3000], float y[3000]) {
  work(x, y);
  y[0] += far[5];
}

//! thread-local memory: crashed wild-access
static _Thread_local volatile float own[4];
void solution(float x[3000], float y[3000]) {
  own[0] = x[0];
  work(x, y);
}

//! another entry by an alias: ok
void other(float x[3000], float y[3000]) { work(x, y); }
void solution(float x[3000], float y[3000]) __attribute__((alias("other")));

//! an entry that is data: build_failed compile-error
float solution[3000];

//! text from a file: build_failed compile-error
__asm__(".incbin \"/etc/passwd\"");
void solution(float x[3000], float y[3000]) { work(x, y); }

//! the runner's source: build_failed compile-error
#include "runner.c"
void solution(float x[3000], float y[3000]) { work(x, y); }

//! names of files that stand in the system: build_failed compile-error
#if __has_include("/etc/passwd")
void solution(float x[3000], float y[3000]) { work(x, y); }
#else
#error "no file there"
#endif
