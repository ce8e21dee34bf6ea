// parts: vectors
// a float32 101,2 input
// b float32 101,2 input
// c float32 101,2 output
typedef struct {
  float re, im;
} complex_t;

void solution(float a[101][2], float b[101][2], float c[101][2]) {
  const complex_t *pa = (const complex_t *)a;
  const complex_t *pb = (const complex_t *)b;
  complex_t *pc = (complex_t *)c;
  for (int i = 0; i < 101; i++) {
    complex_t u = pa[i], v = pb[i];
    complex_t w = {u.re * v.re - u.im * v.im, 0};
    w.im = u.re * v.im + u.im * v.re;
    pc[i] = w;
  }
}
