void solution(float x[512][8192], float gamma[8192], float beta[8192], float y[512][8192]) {
    for (int i = 0; i < 512; i++) {
        double sum = 0.0, squares = 0.0;
        for (int j = 0; j < 8192; j++) {
            sum += x[i][j];
            squares += (double)x[i][j] * x[i][j];
        }
        double mean = sum / 8192, factor = 1.0 / sqrt(squares / 8192 - mean * mean + 1e-6);
        for (int j = 0; j < 8192; j++) y[i][j] = (float)((x[i][j] - mean) * factor * gamma[j] + beta[j]);
    }
}
