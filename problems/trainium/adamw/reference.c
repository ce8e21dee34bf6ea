void solution(float theta[512][2048], float g[512][2048], float m[512][2048], float v[512][2048], float out[512][2048]) {
    for (int i = 0; i < 512; i++)
        for (int j = 0; j < 2048; j++) {
            double first = 0.9 * m[i][j] + 0.1 * g[i][j];
            double second = 0.999 * v[i][j] + 0.001 * g[i][j] * g[i][j];
            double t = theta[i][j] - 1e-5 * theta[i][j];
            out[i][j] = (float)(t - 0.01 * first / (sqrt(second * 1000) + 1e-8));
        }
}
