// crashed static-memory
// More than a worker may have; the size is a slip of whoever wrote the kernel.
static volatile char big[1900000000];
void solution(float x[3000], float y[3000]) {
  big[1800000000] = 1;
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum + big[7];
  }
}
