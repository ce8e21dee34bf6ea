// ok
// Looks through static memory and the stack for addresses of buffers that belong to other
// calls, and is wrong on purpose if there is one: then it could have copied its answer.
extern char _end[];
static volatile uint64_t anchor[2];
static int is_other(uint64_t word, uint64_t x, uint64_t y) {
  const uint64_t near = 1 << 21;
  return 0x100000000000ull <= word && word < 0x700000000000ull && near < word - x + near / 2 &&
         near < word - y + near / 2;
}
void solution(float x[3000], float y[3000]) {
  int found = 0;
  for (const volatile uint64_t *at = anchor; (char *)(at + 1) <= _end; at++) {
    found += is_other(*at, (uint64_t)x, (uint64_t)y);
  }
  // Up to the arguments of the program, of which there are four.
  const volatile uint64_t *at = __builtin_frame_address(0);
  for (; !(at[0] == 4 && at[5] == 0); at++) {
    found += is_other(*at, (uint64_t)x, (uint64_t)y);
  }
  // What earlier calls of other functions left below the stack pointer.
  at = __builtin_frame_address(0);
  for (int i = 32; i < 1024; i++) {
    found += is_other(at[-i], (uint64_t)x, (uint64_t)y);
  }
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = found ? 1e9f : sum;
  }
}
