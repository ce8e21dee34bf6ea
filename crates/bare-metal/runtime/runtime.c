/* The four functions that compilers call on their own in freestanding code. */
#include <stddef.h>
#include <stdint.h>

#ifdef __riscv_vector
#include <riscv_vector.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  uint8_t *t = to;
  const uint8_t *f = from;
  for (size_t vl; n; n -= vl, t += vl, f += vl) {
    vl = __riscv_vsetvl_e8m8(n);
    __riscv_vse8_v_u8m8(t, __riscv_vle8_v_u8m8(f, vl), vl);
  }
  return to;
}

void *memmove(void *to, const void *from, size_t n) {
  uint8_t *t = to;
  const uint8_t *f = from;
  if ((uintptr_t)t - (uintptr_t)f >= n) return memcpy(to, from, n);
  for (size_t vl; n; n -= vl) {
    vl = __riscv_vsetvl_e8m8(n);
    __riscv_vse8_v_u8m8(t + n - vl, __riscv_vle8_v_u8m8(f + n - vl, vl), vl);
  }
  return to;
}

void *memset(void *to, int value, size_t n) {
  uint8_t *t = to;
  vuint8m8_t all = __riscv_vmv_v_x_u8m8((uint8_t)value, __riscv_vsetvlmax_e8m8());
  for (size_t vl; n; n -= vl, t += vl) {
    vl = __riscv_vsetvl_e8m8(n);
    __riscv_vse8_v_u8m8(t, all, vl);
  }
  return to;
}

int memcmp(const void *left, const void *right, size_t n) {
  const uint8_t *l = left, *r = right;
  for (size_t vl; n; n -= vl, l += vl, r += vl) {
    vl = __riscv_vsetvl_e8m8(n);
    vbool1_t differs = __riscv_vmsne_vv_u8m8_b1(__riscv_vle8_v_u8m8(l, vl), __riscv_vle8_v_u8m8(r, vl), vl);
    long first = __riscv_vfirst_m_b1(differs, vl);
    if (first >= 0) return l[first] < r[first] ? -1 : 1;
  }
  return 0;
}
#else
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
#endif
