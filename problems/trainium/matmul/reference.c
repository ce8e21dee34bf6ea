void solution(float lhs[256][1024], float rhs[1024][1024], float out[256][1024]) {
    for (int i = 0; i < 256; i++) {
        for (int j = 0; j < 1024; j++) out[i][j] = 0;
        for (int l = 0; l < 1024; l++)
            for (int j = 0; j < 1024; j++) out[i][j] += lhs[i][l] * rhs[l][j];
    }
}
