// The program around a kernel: maps the buffers that its parent laid out,
// gives up everything it does not need, and calls the kernel when told to.
//
// It is started with three descriptors as arguments: where commands come from,
// where answers go, and the memory that is shared. The kernel runs in this
// process and may do to it what it likes: nothing that decides a verdict or a
// cost is computed here. Costs are the processor time that the kernel of the
// operating system charges to this process between two waits for a command.
//
// The process knows the buffers of one call at a time: their addresses come
// through the pipe with each call, and what was needed to map them is unmapped
// and wiped before the kernel runs for the first time.
#include "platform.h"

// Arguments that are passed in registers, or to any kernel with so few; and most of them.
enum { FEW = 8, ARGUMENTS = 32, FILTER = 256, WIPED = 16384 };
enum { READY = 1, DONE = 2, FAULT = 3 };
enum { TILE_STATE = 1 };

// What the parent wrote at the start of the shared memory, in 64-bit words:
// this, then regions, then the filter of system calls.
struct setup {
  u64 magic;
  u64 bytes;         // of all of this, a multiple of the page size
  u64 n_regions;
  u64 n_filter;      // instructions
  u64 flags;
};

struct region {
  u64 address;
  u64 offset;        // in the shared memory
  u64 bytes;
  u64 writable;
};

// What the parent writes for each call, and at the end of a command. Nothing tells a kernel
// whether another call follows: it would leave work to that one, and do several at once.
struct record {
  u64 n_arguments;   // one more than there are; 0 at the end of a command
  void *arguments[ARGUMENTS];
};

struct answer {
  u64 kind;
  u64 detail;        // DONE: modes that were changed; FAULT: the signal
  u64 address;       // FAULT: of the access, or the number of the system call
  u64 pc;            // FAULT: of the instruction
  u64 access;        // FAULT: 1 if it was a write, 2 if the address is not known, 4 on the stack
};

typedef void kernel(void *, void *, void *, void *, void *, void *, void *, void *);
typedef void kernel_of_many(void *, void *, void *, void *, void *, void *, void *, void *,
                            void *, void *, void *, void *, void *, void *, void *, void *,
                            void *, void *, void *, void *, void *, void *, void *, void *,
                            void *, void *, void *, void *, void *, void *, void *, void *);
extern kernel AUTOCOMP_ENTRY;

// An instruction of the filter of system calls.
struct instruction {
  unsigned short code;
  unsigned char if_true, if_false;
  u32 value;
};

static int commands, answers;
static u64 stack_top;
static _Alignas(16) char fault_stack[16384];

static __attribute__((noreturn)) void end(int code) {
  for (;;) {
    call1(SYS_exit_group, code);
  }
}

static NOT_TWICE void on_fault(int signal, void *info, void *context) {
  struct answer answer = {FAULT, (u64)signal, 0, fault_pc(context), fault_is_write(context)};
  // `siginfo_t`: the address, or for refused system calls the number behind it; who sent it.
  answer.address = signal == SIGSYS ? *(u32 *)((char *)info + 24) : *(u64 *)((char *)info + 16);
  enum { BY_THE_PROCESSOR = 128 };
  if (*(int *)((char *)info + 8) == BY_THE_PROCESSOR) {
    answer.access |= 2;
  }
  enum { BELOW_STACK_POINTER = 65536 };
  if (fault_sp(context) - BELOW_STACK_POINTER <= answer.address && answer.address < stack_top) {
    answer.access |= 4;
  }
  CALL_3_AT("after_fault", SYS_write, answers, &answer, sizeof answer);
  end(1);
}

static u64 number(const char *text) {
  u64 value = 0;
  for (; *text >= '0' && *text <= '9'; text++) {
    value = value * 10 + (u64)(*text - '0');
  }
  return value;
}

// Gives back the pages of the system's clock, which programs otherwise read
// without asking. `top` is a page of the stack's end.
static __attribute__((unused)) void drop_clock(const u64 *auxiliary) {
  u64 clock = 0, top = 0;
  for (; auxiliary[0] != 0; auxiliary += 2) {
    if (auxiliary[0] == AT_SYSINFO_EHDR) {
      clock = auxiliary[1];
    } else if (auxiliary[0] == AT_EXECFN) {
      top = auxiliary[1] | (PAGE - 1);
    }
  }
  if (clock == 0) {
    return;
  }
  u64 here = (u64)&auxiliary & ~(u64)(PAGE - 1);
  unsigned char resident;
  for (u64 page = clock - PAGE; clock - page <= 8 * PAGE; page -= PAGE) {
    int in_stack = here <= page && page <= top;
    if (in_stack || call3(SYS_mincore, page, PAGE, (u64)&resident) != 0) {
      break;
    }
    call2(SYS_munmap, page, PAGE);
  }
  call2(SYS_munmap, clock, 2 * PAGE);
}

// Maps the buffers and copies the filter, which refuses system calls from anywhere but the
// three places of this file; returns the number of its instructions.
static __attribute__((noinline)) u64 prepare(int memory, struct instruction *filter) {
  long head = call6(SYS_mmap, 0, PAGE, PROT_READ, MAP_SHARED, memory, 0);
  if (head < 0) {
    end(3);
  }
  u64 bytes = ((struct setup *)head)->bytes;
  call2(SYS_munmap, head, PAGE);
  head = call6(SYS_mmap, 0, bytes, PROT_READ, MAP_SHARED, memory, 0);
  if (head < 0) {
    end(3);
  }
  const struct setup *setup = (const struct setup *)head;
  const struct region *regions = (const struct region *)(setup + 1);
  const struct instruction *given = (const struct instruction *)(regions + setup->n_regions);
  if (setup->magic != AUTOCOMP_MAGIC) {
    end(4);
  }
  for (u64 i = 0; i < setup->n_regions; i++) {
    const struct region *region = &regions[i];
    long at = call6(SYS_mmap, region->address, region->bytes,
                    region->writable ? PROT_READ | PROT_WRITE : PROT_READ,
                    MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_POPULATE, memory, region->offset);
    if (at != (long)region->address) {
      end(5);
    }
  }
  if (setup->flags & TILE_STATE) {
    ask_for_tile_state();
  }
  u64 n = 0;
#ifndef AUTOCOMP_LIBRARY
  enum { LOAD = 0x20, IS = 0x15, RETURN = 0x06, TRAP = 0x00030000, NUMBER = 0, PLACE = 8 };
  extern const char after_read[], after_done[], after_fault[];
  const struct instruction places[] = {
      {LOAD, 0, 0, NUMBER},
      {IS, 5, 0, SYS_exit_group},
      {LOAD, 0, 0, PLACE},
      {IS, 3, 0, (u32)(u64)after_read},
      {IS, 2, 0, (u32)(u64)after_done},
      {IS, 1, 0, (u32)(u64)after_fault},
      {RETURN, 0, 0, TRAP},
  };
  for (; n < sizeof places / sizeof *places; n++) {
    filter[n] = places[n];
  }
#endif
  u64 n_given = setup->n_filter;
  if (FILTER - n < n_given) {
    end(4);
  }
  for (u64 i = 0; i < n_given; i++) {
    filter[n++] = given[i];
  }
  call2(SYS_munmap, head, bytes);
  return n;
}

// Overwrites what earlier calls have left below the stack pointer.
static __attribute__((noinline)) void wipe_stack(void) {
  volatile char below[WIPED];
  for (u64 i = 0; i < sizeof below; i++) {
    below[i] = 0;
  }
}

// Waits for calls and makes them.
static NOT_TWICE __attribute__((noreturn)) void serve(void) {
  u32 modes = float_modes(), changed = 0;
  struct answer answer = {READY, 0, 0, 0, 0};
  for (;;) {
    if (answer.kind != 0) {
      CALL_3_AT("after_done", SYS_write, answers, &answer, sizeof answer);
      changed = 0;
    }
    struct record record;
    long got;
    CALL_3_FOR(got, "after_read", SYS_read, commands, &record, sizeof record);
    if (got != sizeof record) {
      end(0);
    }
    answer = (struct answer){record.n_arguments ? 0 : DONE, changed, 0, 0, 0};
    if (!record.n_arguments) {
      continue;
    }
    void **a = record.arguments;
#define GIVEN(i) a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7]
    if (record.n_arguments <= FEW + 1) {
      AUTOCOMP_ENTRY(GIVEN(0));
    } else {
      ((kernel_of_many *)(void *)AUTOCOMP_ENTRY)(GIVEN(0), GIVEN(8), GIVEN(16), GIVEN(24));
    }
    changed |= modes ^ float_modes();
  }
}

__attribute__((noreturn)) void autocomp_main(u64 *stack) {
  stack_top = (u64)stack;
  u64 n = stack[0];
  char **arguments = (char **)(stack + 1);
  u64 *environment = stack + 1 + n + 1;
  while (*environment != 0) {
    environment++;
  }
  if (n < 4) {
    end(2);
  }
#ifndef AUTOCOMP_LIBRARY
  // Before anything is mapped, which might lie next to it. Libraries of the system, which
  // are trusted, have been mapped already.
  drop_clock(environment + 1);
#endif
  commands = (int)number(arguments[1]);
  answers = (int)number(arguments[2]);
  int memory = (int)number(arguments[3]);
  struct instruction filter[FILTER];
  u64 n_filter = prepare(memory, filter);
#ifndef AUTOCOMP_LIBRARY
  call5(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
#endif

  struct stack_area area = {fault_stack, 0, sizeof fault_stack};
  call2(SYS_sigaltstack, (u64)&area, 0);
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
  for (u64 i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct action action = {on_fault, SA_SIGINFO | SA_ONSTACK | SA_RESTORER, 0, 0};
    call4(SYS_rt_sigaction, signals[i], (u64)&action, 0, 8);
  }
  call1(SYS_close, memory);
  struct {
    unsigned short length;
    const void *instructions;
  } program = {(unsigned short)n_filter, filter};
  if (call5(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (u64)&program, 0, 0) != 0) {
    end(6);
  }
  wipe_stack();
  serve();
}
