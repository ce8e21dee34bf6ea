void solution(float x[256][1024], float w[1024][1024], float z[256][1024], float g[1024], float out[256][1024]) {
    static float row[1024];
    for (int i = 0; i < 256; i++) {
        double squares = 0;
        for (int l = 0; l < 1024; l++) {
            row[l] = x[i][l] + z[i][l];
            squares += (double)row[l] * row[l];
        }
        float factor = (float)(1.0 / sqrt(squares / 1024 + 1e-5));
        for (int j = 0; j < 1024; j++) out[i][j] = 0;
        for (int l = 0; l < 1024; l++) {
            float a = row[l] * factor * g[l];
            for (int j = 0; j < 1024; j++) out[i][j] += a * w[l][j];
        }
    }
}
