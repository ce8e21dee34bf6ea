void solution(float lhs[4][512][64], float rhs[4][64][1024], float out[4][512][1024]) {
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 512; i++) {
            for (int j = 0; j < 1024; j++) out[b][i][j] = 0;
            for (int l = 0; l < 64; l++)
                for (int j = 0; j < 1024; j++) out[b][i][j] += lhs[b][i][l] * rhs[b][l][j];
        }
}
