// ok
#include <math.h>
#include <string.h>
#include <stdint.h>
#include <float.h>
void solution(float x[3000], float y[3000]) {
  double sum = 0.0;
  for (int i = 0; i < 3000; i++) {
    sum += fabs(x[i]) <= FLT_MAX ? x[i] : floor(0.5);
    y[i] = (float)sum;
  }
}
