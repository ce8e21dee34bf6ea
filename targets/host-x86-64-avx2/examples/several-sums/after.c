__m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
int j = 0;
for (; j + 32 <= 1000; j += 32) {
  s0 = _mm256_add_ps(s0, _mm256_loadu_ps(&X[i][j]));
  s1 = _mm256_add_ps(s1, _mm256_loadu_ps(&X[i][j + 8]));
  s2 = _mm256_add_ps(s2, _mm256_loadu_ps(&X[i][j + 16]));
  s3 = _mm256_add_ps(s3, _mm256_loadu_ps(&X[i][j + 24]));
}
s0 = _mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3));
float parts[8], sum = 0.0f;
_mm256_storeu_ps(parts, s0);
for (int lane = 0; lane < 8; lane++) {
  sum += parts[lane];
}
for (; j < 1000; j++) {
  sum += X[i][j];
}
