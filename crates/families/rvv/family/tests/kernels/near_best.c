// What the search without a model makes of the product of 128x128x128.
typedef float vector_f16 __attribute__((vector_size(64)));
typedef float vector_f16_anywhere __attribute__((vector_size(64), aligned(4), may_alias));
static float panels0_1[16384] __attribute__((aligned(64)));

void solution(float A[128][128], float B[128][128], float C[128][128]) {
  for (int j = 0; j < 128; j += 16) {
    for (int k = 0; k < 128; k++) {
      float *const strip = &panels0_1[j / 16 * 2048 + (k) * 16];
      for (int lane = 0; lane < 16; lane++) {
        strip[lane] = B[k][j + lane];
      }
    }
  }
  for (int i = 0; i < 125; i += 5) {
    for (int j = 0; j < 128; j += 16) {
      vector_f16 s0_0 = {0};
      vector_f16 s1_0 = {0};
      vector_f16 s2_0 = {0};
      vector_f16 s3_0 = {0};
      vector_f16 s4_0 = {0};
      #pragma unroll 4
      for (int k = 0; k < 128; k++) {
        const vector_f16 v1_0 = *(const vector_f16 *)&panels0_1[j / 16 * 2048 + (k) * 16 + 0];
        const float x0_0 = A[i][k];
        s0_0 += x0_0 * v1_0;
        const float x0_1 = A[1 + i][k];
        s1_0 += x0_1 * v1_0;
        const float x0_2 = A[2 + i][k];
        s2_0 += x0_2 * v1_0;
        const float x0_3 = A[3 + i][k];
        s3_0 += x0_3 * v1_0;
        const float x0_4 = A[4 + i][k];
        s4_0 += x0_4 * v1_0;
      }
      *(vector_f16_anywhere *)&C[i][j] = s0_0;
      *(vector_f16_anywhere *)&C[1 + i][j] = s1_0;
      *(vector_f16_anywhere *)&C[2 + i][j] = s2_0;
      *(vector_f16_anywhere *)&C[3 + i][j] = s3_0;
      *(vector_f16_anywhere *)&C[4 + i][j] = s4_0;
    }
  }
  for (int j = 0; j < 128; j += 16) {
    {
      const int i = 125;
      vector_f16 s0_0 = {0};
      vector_f16 s1_0 = {0};
      vector_f16 s2_0 = {0};
      #pragma unroll 4
      for (int k = 0; k < 128; k++) {
        const vector_f16 v1_0 = *(const vector_f16 *)&panels0_1[j / 16 * 2048 + (k) * 16 + 0];
        const float x0_0 = A[i][k];
        s0_0 += x0_0 * v1_0;
        const float x0_1 = A[1 + i][k];
        s1_0 += x0_1 * v1_0;
        const float x0_2 = A[2 + i][k];
        s2_0 += x0_2 * v1_0;
      }
      *(vector_f16_anywhere *)&C[i][j] = s0_0;
      *(vector_f16_anywhere *)&C[1 + i][j] = s1_0;
      *(vector_f16_anywhere *)&C[2 + i][j] = s2_0;
    }
  }
}
