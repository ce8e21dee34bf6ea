// parts: vectors
// X int32 1024 input
// Y int32 1024 output
#include <limits.h>
#include <stdint.h>
void solution(int32_t X[1024], int32_t Y[1024]) {
  for (int i = 0; i < 1024; i++) {
    int32_t x = X[i] < INT_MAX ? X[i] + 1 : INT_MAX;
    x = x > UINT8_MAX ? UINT8_MAX : x < 0 ? 0 : x;
    Y[i] = x;
  }
}
