volatile int spins;
void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {
  int n = 0;
  // One line, so that no choice of the compiler moves the loop to another.
  while (n < 64) { spins++; if (spins == 0) n++; }
}
