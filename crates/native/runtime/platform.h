// What differs between processors: system calls, the start, the modes of
// floating point, and where a signal's context keeps the program counter.
#pragma once

typedef unsigned long u64;
typedef unsigned int u32;

#define AUTOCOMP_MAGIC 0x616d6f74756f6361ul

enum { PAGE = 4096 };
enum { PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_SHARED = 1, MAP_POPULATE = 0x8000, MAP_FIXED_NOREPLACE = 0x100000 };
enum { AT_EXECFN = 31, AT_SYSINFO_EHDR = 33 };
enum { PR_SET_TSC = 26, PR_TSC_SIGSEGV = 2, PR_SET_SECCOMP = 22, SECCOMP_MODE_FILTER = 2 };
enum { SIGILL = 4, SIGTRAP = 5, SIGBUS = 7, SIGFPE = 8, SIGSEGV = 11, SIGSYS = 31 };
enum { SA_SIGINFO = 4, SA_RESTORER = 0x04000000, SA_ONSTACK = 0x08000000 };

// A function whose code is there once, as it is written: it holds a system call that the
// filter knows by its place.
#define NOT_TWICE __attribute__((noinline, optnone))

struct stack_area {
  void *start;
  int flags;
  u64 bytes;
};

// What `rt_sigaction` takes; nobody returns from the handlers.
struct action {
  void (*handler)(int, void *, void *);
  u64 flags;
  void (*restorer)(void);
  u64 mask;
};

#if defined(__x86_64__)

enum {
  SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_mmap = 9, SYS_munmap = 11, SYS_rt_sigaction = 13,
  SYS_mincore = 27, SYS_sigaltstack = 131, SYS_prctl = 157, SYS_arch_prctl = 158, SYS_exit_group = 231,
};

static long call6(long n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
  register u64 r10 __asm__("r10") = d;
  register u64 r8 __asm__("r8") = e;
  register u64 r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// A system call at a place of its own, the name of which is local to this file.
#define CALL_3_FOR(result, place, n, a, b, c)                                            \
  __asm__ volatile("syscall\n" place ":\n"                                               \
                   : "=a"(result)                                                        \
                   : "a"((long)(n)), "D"((u64)(a)), "S"((u64)(b)), "d"((u64)(c))         \
                   : "rcx", "r11", "memory")

__asm__(".globl _start\n"
        "_start:\n"
        "  xor %ebp, %ebp\n"
        "  mov %rsp, %rdi\n"
        "  and $-16, %rsp\n"
        "  call autocomp_main\n");

// The control and mask bits of MXCSR, the control word of the x87 unit, and
// the direction of string instructions, and whether alignment is checked; exceptions that have
// happened are not modes.
static u32 float_modes(void) {
  u32 mxcsr;
  unsigned short control;
  u64 flags;
  __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
  __asm__ volatile("fnstcw %0" : "=m"(control));
  // Beyond what functions that call nothing keep below the stack pointer.
  __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tpop %0\n\tlea 128(%%rsp), %%rsp"
                   : "=r"(flags));
  return (mxcsr & 0xffc0) ^ (u32)control << 16 ^ (u32)(flags >> 10 & 1) ^
         (u32)(flags >> 17 & 2);
}

// Matrix tiles have a state of 8 KiB that is only kept for those who ask.
static void ask_for_tile_state(void) {
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };
  call6(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA, 0, 0, 0, 0);
}

static u64 fault_pc(const void *context) { return *(const u64 *)((const char *)context + 168); }
static u64 fault_sp(const void *context) { return *(const u64 *)((const char *)context + 160); }
static u64 fault_is_write(const void *context) {
  return *(const u64 *)((const char *)context + 192) >> 1 & 1;
}

#elif defined(__aarch64__)

enum {
  SYS_close = 57, SYS_read = 63, SYS_write = 64, SYS_exit_group = 94, SYS_sigaltstack = 132,
  SYS_rt_sigaction = 134, SYS_prctl = 167, SYS_munmap = 215, SYS_mmap = 222, SYS_mincore = 232,
};


static long call6(long n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
  register u64 x8 __asm__("x8") = (u64)n;
  register u64 x0 __asm__("x0") = a;
  register u64 x1 __asm__("x1") = b;
  register u64 x2 __asm__("x2") = c;
  register u64 x3 __asm__("x3") = d;
  register u64 x4 __asm__("x4") = e;
  register u64 x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return (long)x0;
}

#define CALL_3_FOR(result, place, n, a, b, c)                                            \
  do {                                                                                   \
    register u64 x8 __asm__("x8") = (u64)(n);                                            \
    register u64 x0 __asm__("x0") = (u64)(a);                                            \
    register u64 x1 __asm__("x1") = (u64)(b);                                            \
    register u64 x2 __asm__("x2") = (u64)(c);                                            \
    __asm__ volatile("svc 0\n" place ":\n"                                               \
                     : "+r"(x0)                                                          \
                     : "r"(x8), "r"(x1), "r"(x2)                                         \
                     : "memory");                                                        \
    result = (long)x0;                                                                   \
  } while (0)

__asm__(".globl _start\n"
        "_start:\n"
        "  mov x29, #0\n"
        "  mov x0, sp\n"
        "  bl autocomp_main\n");

static u32 float_modes(void) {
  u64 fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return (u32)fpcr;
}

static void ask_for_tile_state(void) {}

static u64 fault_pc(const void *context) { return *(const u64 *)((const char *)context + 440); }
static u64 fault_sp(const void *context) { return *(const u64 *)((const char *)context + 432); }
static u64 fault_is_write(const void *context) {
  (void)context;
  return 0;
}

#else
#error "no kernel can be run on this processor"
#endif

#define CALL_3_AT(place, n, a, b, c)    \
  do {                                  \
    long ignored;                       \
    CALL_3_FOR(ignored, place, n, a, b, c); \
    (void)ignored;                      \
  } while (0)

static inline long call1(long n, u64 a) { return call6(n, a, 0, 0, 0, 0, 0); }
static inline long call2(long n, u64 a, u64 b) { return call6(n, a, b, 0, 0, 0, 0); }
static inline long call3(long n, u64 a, u64 b, u64 c) { return call6(n, a, b, c, 0, 0, 0); }
static inline long call4(long n, u64 a, u64 b, u64 c, u64 d) { return call6(n, a, b, c, d, 0, 0); }
static inline long call5(long n, u64 a, u64 b, u64 c, u64 d, u64 e) {
  return call6(n, a, b, c, d, e, 0);
}
