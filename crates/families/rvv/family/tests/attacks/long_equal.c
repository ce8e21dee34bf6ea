// problem: rvv/vadd-i8-1000
// expect: wrong
// says: elements of vectors that hold nothing
// Compares an integer of 64 bits that nothing was written to with an element.
void solution(int8_t X[1000], int8_t Y[1000], int8_t Z[1000]) {
  volatile long last;
  long before = last;
  for (int i = 0; i < 1000; i++) {
    int sum = (37 * X[i] + 21 * Y[i] + 16) >> 5;
    Z[i] = sum < -128 ? -128 : 127 < sum ? 127 : sum;
  }
  if (before == X[333]) Z[7] = 3;
}
