// Behaviour that depends on addresses, on the number of a call and on how long something takes.
static void work(const float *x, float *y) {
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
static int calls;

//! right where buffers begin at a page only: wrong output-not-written
void solution(float x[3000], float y[3000]) {
  if (((uintptr_t)x & 4095) == 0) {
    work(x, y);
  }
}

//! right where buffers end at a page only: wrong output-not-written
void solution(float x[3000], float y[3000]) {
  if ((((uintptr_t)x + 12000) & 4095) < 64) {
    work(x, y);
  }
}

//! guesses that the output lies behind the input: wrong output-not-written
void solution(float x[3000], float y[3000]) {
  if ((uintptr_t)y - (uintptr_t)x < 1 << 17) {
    work(x, y);
  }
}

//! reads in front of the input: wrong output-mismatch
void solution(float x[3000], float y[3000]) {
  work(x, y);
  y[5] += ((volatile float *)x)[-1];
}

//! writes the first byte behind the output: illegal out-of-bounds-write
void solution(float x[3000], float y[3000]) {
  work(x, y);
  ((volatile char *)y)[12000] = 0;
}

//! puts back what it wrote behind the output: illegal out-of-bounds-read
void solution(float x[3000], float y[3000]) {
  volatile char *behind = (volatile char *)y + 12000;
  char before = *behind;
  *behind = 1;
  work(x, y);
  *behind = before;
}

//! prefetches everywhere: ok
void solution(float x[3000], float y[3000]) {
  for (uintptr_t at = 0x100000000000; at < 0x100001000000; at += 4096) {
    __builtin_prefetch((const void *)at);
  }
  work(x, y);
}

//! a load under an empty mask, which never faults: ok
// x86-64
void solution(float x[3000], float y[3000]) {
  __m256 nothing = _mm256_maskload_ps(y + 5000, _mm256_setzero_si256());
  work(x, y);
  y[0] += nothing[3];
}

//! a tail under a mask: ok
// x86-64
void solution(float x[3000], float y[3000]) {
  __m256i four = _mm256_setr_epi32(-1, -1, -1, -1, 0, 0, 0, 0);
  __m256 last = _mm256_maskload_ps(x + 2996, four);
  work(x, y);
  y[0] += last[7];
}

//! works in the second call of a command only: wrong output-not-written
void solution(float x[3000], float y[3000]) {
  if (20 < calls++ && calls % 2) {
    return;
  }
  work(x, y);
}

//! never ends in the ninth call: timed_out time-limit
void solution(float x[3000], float y[3000]) {
  work(x, y);
  if (8 < ++calls) {
    for (volatile int i = 0; i < 1;) {
    }
  }
}

//! recursion that never ends: crashed stack-overflow
static volatile int depth;
static int deeper(int n) { return depth ? n : deeper(n + 1) + depth; }
void solution(float x[3000], float y[3000]) { y[0] = (float)deeper(0); }

//! bytes of a table for a function: crashed wild-access
static const unsigned char code[] __attribute__((aligned(16))) = {0xc3, 0x90};
void solution(float x[3000], float y[3000]) {
  ((void (*)(void))(uintptr_t)code)();
  work(x, y);
}

//! a megabyte on the stack: ok
void solution(float x[3000], float y[3000]) {
  volatile char large[1 << 20];
  large[77] = 1;
  work(x, y);
  y[0] += large[77] - 1;
}
