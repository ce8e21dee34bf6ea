// Calls a kernel on a board and says how long that takes: runner JOB RESULT CORE CALLS FLUSHED.
//
// A job is the program that was simulated, bit for bit, with the contents of its buffers, and
// where all of it lies (`job.rs`). The runner has no C library. It prints one line for each call:
// nanoseconds, and a digest of what the call left; RESULT gets what the last call left.

typedef unsigned long u64;
typedef unsigned char u8;

enum { OPENAT = 56, CLOSE = 57, LSEEK = 62, READ = 63, WRITE = 64, EXIT = 93, AFFINITY = 122,
       CLOCK = 113, MMAP = 222, MPROTECT = 226, FENCE_I = 259 };
enum { READABLE = 1, WRITABLE = 2, EXECUTABLE = 4 };
enum { PRIVATE = 2, FIXED = 16, ANONYMOUS = 32, NO_RESERVE = 0x4000 };
enum { CREATE = 64, TRUNCATE = 512, WRITE_ONLY = 1, HERE = -100, MONOTONIC_RAW = 4 };
enum { PAGE = 4096, MOST_CALLS = 1000 };

static u64 ask(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
  register u64 a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  register u64 a3 __asm__("a3") = d, a4 __asm__("a4") = e, a5 __asm__("a5") = f;
  register u64 a7 __asm__("a7") = number;
  __asm__ volatile("ecall"
                   : "+r"(a0)
                   : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                   : "memory");
  return a0;
}

static int failed(u64 answer) { return answer > -4096UL; }

static void print(const char *text) {
  u64 length = 0;
  while (text[length]) length++;
  ask(WRITE, 1, (u64)text, length, 0, 0, 0);
}

static void print_number(u64 number, char behind) {
  char digits[24];
  int at = 23;
  digits[at] = behind;
  do digits[--at] = '0' + number % 10; while (number /= 10);
  ask(WRITE, 1, (u64)&digits[at], 24 - at, 0, 0, 0);
}

// Ends with what went wrong, which is no fault of the kernel.
static void stop(const char *what) {
  print("error ");
  print(what);
  print("\n");
  ask(EXIT, 3, 0, 0, 0, 0, 0);
}

static u64 number_of(const char *text) {
  u64 number = 0;
  while (*text >= '0' && *text <= '9') number = 10 * number + (*text++ - '0');
  return number;
}

static void copy(u8 *to, const u8 *from, u64 bytes) {
  for (u64 i = 0; i < bytes; i++) to[i] = from[i];
}

struct piece {
  u64 address, held, bytes, rights, is_restored, is_compared;
};

struct job {
  u64 magic, base, bytes, entry, stack, arguments, pieces;
  u64 argument[8];
  struct piece piece[];
};

// Calls the kernel on its stack, with registers of floats and vectors as the convention has them.
void call_on(u64 entry, const u64 *arguments, u64 stack);
__asm__(".text\n.globl call_on\ncall_on:\n"
        "addi sp, sp, -112\n"
        "sd ra, 0(sp)\nsd s0, 8(sp)\nsd s1, 16(sp)\nsd s2, 24(sp)\nsd s3, 32(sp)\nsd s4, 40(sp)\n"
        "sd s5, 48(sp)\nsd s6, 56(sp)\nsd s7, 64(sp)\nsd s8, 72(sp)\nsd s9, 80(sp)\n"
        "sd s10, 88(sp)\nsd s11, 96(sp)\n"
        "mv s0, sp\nmv t0, a0\nmv t1, a1\nmv sp, a2\n"
        "ld a0, 0(t1)\nld a1, 8(t1)\nld a2, 16(t1)\nld a3, 24(t1)\n"
        "ld a4, 32(t1)\nld a5, 40(t1)\nld a6, 48(t1)\nld a7, 56(t1)\n"
        "csrwi fcsr, 0\n"
        "jalr t0\n"
        "mv sp, s0\n"
        "ld ra, 0(sp)\nld s0, 8(sp)\nld s1, 16(sp)\nld s2, 24(sp)\nld s3, 32(sp)\nld s4, 40(sp)\n"
        "ld s5, 48(sp)\nld s6, 56(sp)\nld s7, 64(sp)\nld s8, 72(sp)\nld s9, 80(sp)\n"
        "ld s10, 88(sp)\nld s11, 96(sp)\n"
        "addi sp, sp, 112\nret\n");

// What an empty kernel is.
void nothing(void);
__asm__(".text\n.globl nothing\nnothing:\nret\n");

static u64 now(void) {
  long at[2];
  ask(CLOCK, MONOTONIC_RAW, (u64)at, 0, 0, 0, 0);
  return 1000000000UL * at[0] + at[1];
}

static u64 timed(u64 entry, const u64 *arguments, u64 stack) {
  u64 before = now();
  call_on(entry, arguments, stack);
  return now() - before;
}

static void *anywhere(u64 bytes) {
  u64 at = ask(MMAP, 0, bytes, READABLE | WRITABLE, PRIVATE | ANONYMOUS, -1, 0);
  if (failed(at)) stop("there is not enough memory");
  return (void *)at;
}

static u64 begin_of(struct piece *it) { return it->address & -PAGE; }
static u64 length_of(struct piece *it) {
  return ((it->address + it->bytes + PAGE - 1) & -PAGE) - begin_of(it);
}

static void protect(struct piece *it, u64 rights) {
  if (failed(ask(MPROTECT, begin_of(it), length_of(it), rights, 0, 0, 0)))
    stop("memory cannot be protected");
}

static void put(struct piece *it, const u8 *content) {
  u8 *to = (u8 *)it->address;
  copy(to, content, it->held);
  for (u64 i = it->held; i < it->bytes; i++) to[i] = 0;
}

static struct job *read_job(const char *path) {
  u64 file = ask(OPENAT, HERE, (u64)path, 0, 0, 0, 0);
  if (failed(file)) stop("the job cannot be read");
  u64 bytes = ask(LSEEK, file, 0, 2, 0, 0, 0);
  ask(LSEEK, file, 0, 0, 0, 0, 0);
  u8 *job = anywhere(bytes);
  for (u64 at = 0, got; at < bytes; at += got) {
    got = ask(READ, file, (u64)job + at, bytes - at, 0, 0, 0);
    if (failed(got) || got == 0) stop("the job cannot be read");
  }
  ask(CLOSE, file, 0, 0, 0, 0, 0);
  return (struct job *)job;
}

static u64 digest_of(struct job *job) {
  u64 hash = 0xcbf29ce484222325;
  for (u64 p = 0; p < job->pieces; p++) {
    struct piece *it = &job->piece[p];
    for (u64 i = 0; it->is_compared && i < it->bytes; i++)
      hash = (hash ^ ((u8 *)it->address)[i]) * 0x100000001b3;
  }
  return hash;
}

static void write_results(struct job *job, const char *path) {
  u64 file = ask(OPENAT, HERE, (u64)path, WRITE_ONLY | CREATE | TRUNCATE, 0600, 0, 0);
  if (failed(file)) stop("the result cannot be written");
  for (u64 p = 0; p < job->pieces; p++) {
    struct piece *it = &job->piece[p];
    for (u64 at = 0, done; it->is_compared && at < it->bytes; at += done) {
      done = ask(WRITE, file, it->address + at, it->bytes - at, 0, 0, 0);
      if (failed(done)) stop("the result cannot be written");
    }
  }
}

__attribute__((noreturn)) void run(u64 *stack) {
  if (stack[0] != 6) stop("five arguments are needed");
  char **words = (char **)&stack[1];
  u64 core = number_of(words[3]), calls = number_of(words[4]), flushed = number_of(words[5]);
  static u64 mask[16];
  mask[core / 64 % 16] = 1UL << core % 64;
  if (failed(ask(AFFINITY, 0, sizeof mask, (u64)mask, 0, 0, 0))) stop("there is no such core");
  struct job *job = read_job(words[1]);
  if (job->magic != 0x31626f6a6472616f || calls > MOST_CALLS) stop("the job is of another version");
  if (failed(ask(MMAP, job->base, job->bytes, 0, PRIVATE | ANONYMOUS | FIXED | NO_RESERVE, -1, 0)))
    stop("the program's memory is taken");
  const u8 *contents = (u8 *)&job->piece[job->pieces], *content = contents;
  for (u64 p = 0; p < job->pieces; content += job->piece[p++].held) {
    protect(&job->piece[p], READABLE | WRITABLE);
    put(&job->piece[p], content);
  }
  for (u64 p = 0; p < job->pieces; p++) protect(&job->piece[p], job->piece[p].rights);
  ask(FENCE_I, 0, 0, 0, 0, 0, 0);
  __asm__ volatile("fence.i" ::: "memory");
  volatile u8 *flush = flushed ? anywhere(flushed) : 0;
  u64 *times = anywhere(2 * 8 * MOST_CALLS), *digests = times + MOST_CALLS;
  u64 least = -1UL;
  for (int i = 0; i < 32; i++) {
    u64 time = timed((u64)nothing, job->argument, job->stack);
    if (time < least) least = time;
  }
  // The first call is to warm up.
  for (u64 i = 0; i <= calls; i++) {
    content = contents;
    for (u64 p = 0; p < job->pieces; content += job->piece[p++].held)
      if (job->piece[p].is_restored) put(&job->piece[p], content);
    for (u64 at = 0; at < flushed; at += 64) flush[at] = i;
    u64 time = timed(job->entry, job->argument, job->stack);
    if (i == 0) continue;
    times[i - 1] = time > least ? time - least : 0;
    digests[i - 1] = digest_of(job);
  }
  write_results(job, words[2]);
  for (u64 i = 0; i < calls; i++) {
    print_number(times[i], ' ');
    print_number(digests[i], '\n');
  }
  ask(EXIT, 0, 0, 0, 0, 0, 0);
  for (;;) {}
}

__asm__(".text\n.globl _start\n_start:\nmv a0, sp\nandi sp, sp, -16\ncall run\n");
