// crashed arithmetic-trap
// x86-64
void solution(float x[3000], float y[3000]) {
  volatile int zero = (int)x[0] & 0;
  y[0] = (float)(3000 / zero);
}
