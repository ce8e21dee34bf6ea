void solution(float img[1][128][32][32], float f[128][128][3][3], float out[1][128][32][32]) {
    for (int o = 0; o < 128; o++) {
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 32; j++) out[0][o][i][j] = 0;
        for (int c = 0; c < 128; c++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    for (int i = 0; i < 32; i++) {
                        int row = i + a - 1;
                        if (row < 0 || 32 <= row) continue;
                        int first = b == 0, last = b == 2 ? 31 : 32;
                        for (int j = first; j < last; j++)
                            out[0][o][i][j] += img[0][c][row][j + b - 1] * f[o][c][a][b];
                    }
    }
}
