void solution(float x[128][16384], float cos[64][16384], float sin[64][16384], float y[128][16384]) {
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 16384; j++) {
            double a = x[i][j], b = x[i + 64][j], c = cos[i][j], s = sin[i][j];
            y[i][j] = (float)(a * c - b * s);
            y[i + 64][j] = (float)(a * s + b * c);
        }
}
