// What all programs begin with: names of types, the entry, and numbers to work on.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef u64 size_t;

#define MAIN __attribute__((section(".text.start"), noreturn)) void _start(void)
#define NOINLINE __attribute__((noinline))
// The compiler has to have worked out x and all memory.
#define KEEP(x) __asm__ volatile("" ::"r"(x) : "memory")

static inline u32 rnd(u32 *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}
