void solution(float x[256][1024], float w[1024][1024], float z[256][1024], float g[1024], float out[256][1024]) {
    for (int i = 0; i < 256; i++) {
        for (int j = 0; j < 1024; j++) out[i][j] = z[i][j];
        for (int l = 0; l < 1024; l++)
            for (int j = 0; j < 1024; j++) out[i][j] += x[i][l] * w[l][j];
        double squares = 0;
        for (int j = 0; j < 1024; j++) squares += (double)out[i][j] * out[i][j];
        double factor = 1.0 / sqrt(squares / 1024 + 1e-5);
        for (int j = 0; j < 1024; j++) out[i][j] = (float)(out[i][j] * factor * g[j]);
    }
}
