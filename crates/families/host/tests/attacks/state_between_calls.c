// State that a kernel keeps from call to call. Variants begin with `//! NAME: OUTCOME CODE`; what
// stands before the first one belongs to all of them.
static void work(const float *x, float *y) {
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
static float kept[3000], seen[3000];
static int calls;

//! answers of a hash of a few inputs: wrong output-mismatch
static uint64_t last;
void solution(float x[3000], float y[3000]) {
  uint64_t hash = 0;
  memcpy(&hash, x + 17, 4);
  hash &= 0xff800000u;
  if (calls++ && hash == last) {
    memcpy(y, kept, sizeof kept);
    return;
  }
  last = hash;
  work(x, y);
  memcpy(kept, y, sizeof kept);
}

//! every second call does half: wrong output-not-written
void solution(float x[3000], float y[3000]) {
  if (calls++ & 1) {
    float sum = 0.0f;
    for (int i = 0; i < 1500; i++) {
      sum += x[i];
      y[i] = sum;
    }
  } else {
    work(x, y);
  }
}

//! right in the tests and wrong from the tenth call on: wrong output-mismatch
void solution(float x[3000], float y[3000]) {
  work(x, y);
  if (10 < ++calls) {
    y[2999] += 1.0f;
  }
}

//! wrong only in the first call: wrong output-mismatch
void solution(float x[3000], float y[3000]) {
  work(x, y);
  y[1500] += calls++ ? 0.0f : 1.0f;
}

//! leaves the work to the next call: wrong output-not-written
static float *owed_y, *owed_x;
void solution(float x[3000], float y[3000]) {
  if (owed_y) {
    work(owed_x, owed_y);
  }
  owed_x = x;
  owed_y = y;
}

//! finishes the call before in this one: wrong output-not-written
static float *late;
void solution(float x[3000], float y[3000]) {
  if (late) {
    late[2999] = kept[2999];
  }
  work(x, kept);
  memcpy(y, kept, sizeof(float[2999]));
  late = y;
}

//! reads its own last output where it lay: crashed wild-access
// Memory of an earlier worker is not mapped in this one; of an earlier call it is empty.
static const float *before;
void solution(float x[3000], float y[3000]) {
  work(x, y);
  if (before && before != y) {
    y[0] += before[2999] != 0.0f;
  }
  before = (const float *)((uintptr_t)y ^ 0x40000000000);
}

//! what the tests gave is gone when kernels are timed: ok
static const float *old_x[9], *old_y[9];
void solution(float x[3000], float y[3000]) {
  work(x, y);
  // Of an earlier command: those of one command lie in memory together.
  const int at = calls++;
  if (at < 9) {
    old_x[at] = x;
    old_y[at] = y;
  }
  for (int call = 0; call < at && call < 1; call++) {
    if (old_x[call] != x) {
      y[0] += old_x[call][99] != 0.0f || old_y[call][99] != 0.0f ? 1.0f : 0.0f;
    }
  }
}

//! keeps calls of a command and makes them together when it takes one for the last: wrong output-not-written
static float *xs[64], *ys[64];
static int kept_calls;
void solution(float x[3000], float y[3000]) {
  xs[kept_calls] = x;
  ys[kept_calls++] = y;
  // Eight calls of tests, one to warm up.
  if (++calls < 9 || kept_calls == 64 || calls % 32 == 1) {
    for (int i = 0; i < kept_calls; i++) {
      work(xs[i], ys[i]);
    }
    kept_calls = 0;
  }
}

//! a stack frame of the call before: ok
static __attribute__((noinline)) float left(int write, const float *x) {
  volatile float frame[64];
  float found = frame[13];
  if (write) {
    for (int i = 0; i < 64; i++) {
      frame[i] = x[i];
    }
  }
  return found;
}
void solution(float x[3000], float y[3000]) {
  volatile float ignored = left(0, x);
  work(x, y);
  ignored = left(1, x);
}

//! state in the vector registers: wrong output-mismatch
// x86-64
void solution(float x[3000], float y[3000]) {
  uint64_t flag;
  __asm__ volatile("vmovq %%xmm15, %0" : "=r"(flag));
  work(x, y);
  if (flag == 0x5ca1ab1e) {
    y[7] += 1.0f;
  }
  __asm__ volatile("vmovq %0, %%xmm15" : : "r"(0x5ca1ab1eul) : "xmm15");
}

//! state in the mask of the x87 stack: illegal changed-modes
// x86-64
void solution(float x[3000], float y[3000]) {
  work(x, y);
  unsigned short word = 0x027f;
  __asm__ volatile("fldcw %0" : : "m"(word));
}

//! full stack of the x87 unit: ok
// x86-64
void solution(float x[3000], float y[3000]) {
  work(x, y);
  __asm__ volatile("fld1" ::: "memory");
  __asm__ volatile("fstp %%st(0)" ::: "memory");
}
