// crashed wild-access
// x86-64
void solution(float x[3000], float y[3000]) {
  y[0] = (float)__builtin_ia32_rdtsc();
}
