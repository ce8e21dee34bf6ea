// parts: vectors
// p float32 240 input
// y float32 80 output
struct point {
  float x;
  float y;
  float z;
};
void solution(float p[240], float y[80]) {
  struct point *q = (struct point *)p;
  for (int i = 0; i < 80; i++) y[i] = sqrtf(q[i].x * q[i].x + q[i].y * q[i].y + q[i].z * q[i].z);
}
