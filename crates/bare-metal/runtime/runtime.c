/* The four functions that compilers call on their own in freestanding code. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  uint8_t *t = to;
  const uint8_t *f = from;
  if ((((uintptr_t)t | (uintptr_t)f) & 7) == 0)
    for (; 8 <= n; n -= 8, t += 8, f += 8) *(uint64_t *)t = *(const uint64_t *)f;
  for (; n; n--) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t n) {
  uint8_t *t = to;
  const uint8_t *f = from;
  if ((uintptr_t)t - (uintptr_t)f >= n) return memcpy(to, from, n);
  while (n) {
    n--;
    t[n] = f[n];
  }
  return to;
}

void *memset(void *to, int value, size_t n) {
  uint8_t *t = to;
  uint64_t word = (uint8_t)value * 0x0101010101010101u;
  for (; n && ((uintptr_t)t & 7); n--) *t++ = (uint8_t)value;
  for (; 8 <= n; n -= 8, t += 8) *(uint64_t *)t = word;
  for (; n; n--) *t++ = (uint8_t)value;
  return to;
}

int memcmp(const void *left, const void *right, size_t n) {
  const uint8_t *l = left, *r = right;
  for (; n; n--, l++, r++)
    if (*l != *r) return *l < *r ? -1 : 1;
  return 0;
}
