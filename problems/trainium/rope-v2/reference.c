void solution(float x[128][4096], float cos[64][4096], float sin[64][4096], float y[128][4096]) {
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 4096; j++) {
            y[i][j] = x[i][j] * cos[i][j] - x[i + 64][j] * sin[i][j];
            y[i + 64][j] = x[i + 64][j] * cos[i][j] + x[i][j] * sin[i][j];
        }
}
