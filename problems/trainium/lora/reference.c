void solution(float x[256][1024], float w[1024][1024], float a[1024][128], float b[128][1024], float out[256][1024]) {
    static float small[128];
    for (int i = 0; i < 256; i++) {
        for (int r = 0; r < 128; r++) small[r] = 0;
        for (int l = 0; l < 1024; l++)
            for (int r = 0; r < 128; r++) small[r] += x[i][l] * a[l][r];
        for (int j = 0; j < 1024; j++) out[i][j] = 0;
        for (int l = 0; l < 1024; l++)
            for (int j = 0; j < 1024; j++) out[i][j] += x[i][l] * w[l][j];
        for (int r = 0; r < 128; r++)
            for (int j = 0; j < 1024; j++) out[i][j] += small[r] * b[r][j];
    }
}
