// parts: vectors, vectors, vectors
// X float32 6,333 input
// Y float32 6,333 output
#define ROWS 6
#define COLS 333
void solution(const float *X, float *Y) {
  for (int r = 0; r < ROWS; r++) {
    const float *in = X + r * COLS;
    float *out = Y + r * COLS;
    float max = -INFINITY;
    for (int c = 0; c < COLS; c++) if (in[c] > max) max = in[c];
    float sum = 0;
    for (int c = 0; c < COLS; c++) { out[c] = expf(in[c] - max); sum += out[c]; }
    const float inv = 1.0f / sum;
    for (int c = 0; c < COLS; c++) out[c] *= inv;
  }
}
