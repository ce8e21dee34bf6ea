// parts: vectors
// X float32 100 input
// Y int32 100 output
typedef float real;
void solution(real X[100], int32_t Y[100]) {
  for (int i = 0; i < 100; i++) {
    int32_t bits;
    memcpy(&bits, &X[i], sizeof(bits));
    const real x = (real)-X[i];
    int32_t other = *(const int32_t *)&x;
    bits ^= ((int32_t *)X)[i] & 0xff;
    Y[i] = (bits >> 8) + (other >> 16);
  }
}
