// The program around a kernel: maps the buffers that its parent laid out,
// gives up everything it does not need, and calls the kernel when told to.
//
// It is started with three descriptors as arguments: where commands come from,
// where answers go, and the memory that is shared. The kernel runs in this
// process and may do to it what it likes: nothing that decides a verdict or a
// cost is computed here. Costs are the processor time that the kernel of the
// operating system charges to this process between two waits for a command.
#include "platform.h"

// Arguments that are passed in registers, or to any kernel with so few; and most of them.
enum { FEW = 8, ARGUMENTS = 32, POINTERS = 16384 };
enum { READY = 1, DONE = 2, FAULT = 3 };
enum { TILE_STATE = 1 };

// What the parent wrote at the start of the shared memory, in 64-bit words:
// this, then regions, then pointers, then the filter of system calls.
struct setup {
  u64 magic;
  u64 bytes;         // of all of this, a multiple of the page size
  u64 n_regions;
  u64 n_arguments;   // of the kernel
  u64 n_pointers;    // a multiple of n_arguments
  u64 n_filter;      // instructions of 8 bytes
  u64 flags;
};

struct region {
  u64 address;
  u64 offset;        // in the shared memory
  u64 bytes;
  u64 writable;
};

struct command {
  u64 first;         // set of buffers
  u64 count;         // sets from there on, one call each
};

struct answer {
  u64 kind;
  u64 detail;        // DONE: modes that were changed; FAULT: the signal
  u64 address;       // FAULT: of the access, or the number of the system call
  u64 pc;            // FAULT: of the instruction
  u64 access;        // FAULT: 1 if it was a write
};

#define EIGHT void *, void *, void *, void *, void *, void *, void *, void *
typedef void kernel(EIGHT);
typedef void kernel_of_many(EIGHT, EIGHT, EIGHT, EIGHT);
extern kernel AUTOCOMP_ENTRY;

static int commands, answers;
static void *pointers[POINTERS];
static _Alignas(16) char fault_stack[16384];

static __attribute__((noreturn)) void end(int code) {
  for (;;) {
    call1(SYS_exit_group, code);
  }
}

static void say(const struct answer *answer) {
  call3(SYS_write, answers, (u64)answer, sizeof *answer);
}

static void on_fault(int signal, void *info, void *context) {
  struct answer answer = {FAULT, (u64)signal, 0, fault_pc(context), fault_is_write(context)};
  // `siginfo_t`: the address, or for refused system calls the number behind it.
  answer.address = signal == SIGSYS ? *(u32 *)((char *)info + 24) : *(u64 *)((char *)info + 16);
  say(&answer);
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

__attribute__((noreturn)) void autocomp_main(u64 *stack) {
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
  const u64 *wanted = (const u64 *)(regions + setup->n_regions);
  const void *filter = wanted + setup->n_pointers;
  if (setup->magic != AUTOCOMP_MAGIC || setup->n_pointers > POINTERS) {
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
  for (u64 i = 0; i < setup->n_pointers; i++) {
    pointers[i] = (void *)wanted[i];
  }
  u64 n_arguments = setup->n_arguments;
  if (setup->flags & TILE_STATE) {
    ask_for_tile_state();
  }
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
  u32 modes = float_modes();
  call1(SYS_close, memory);
  struct {
    unsigned short length;
    const void *instructions;
  } program = {(unsigned short)setup->n_filter, filter};
  if (call5(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (u64)&program, 0, 0) != 0) {
    end(6);
  }
  struct answer ready = {READY, 0, 0, 0, 0};
  say(&ready);

  for (;;) {
    struct command command;
    if (call3(SYS_read, commands, (u64)&command, sizeof command) != sizeof command) {
      end(0);
    }
    for (u64 set = command.first; set < command.first + command.count; set++) {
      void **p = &pointers[set * n_arguments];
      void *a[ARGUMENTS];
      for (u64 i = 0; i < ARGUMENTS; i++) {
        a[i] = i < n_arguments ? p[i] : 0;
      }
#define GIVEN(i) a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7]
      if (n_arguments <= FEW) {
        AUTOCOMP_ENTRY(GIVEN(0));
      } else {
        ((kernel_of_many *)(void *)AUTOCOMP_ENTRY)(GIVEN(0), GIVEN(8), GIVEN(16), GIVEN(24));
      }
    }
    struct answer done = {DONE, modes ^ float_modes(), 0, 0, 0};
    say(&done);
  }
}
