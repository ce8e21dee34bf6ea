void solution(float x[512][7168], float y[512][7168]) {
    for (int i = 0; i < 512; i++)
        for (int j = 0; j < 7168; j++) y[i][j] = (float)(x[i][j] / (1.0 + exp(-(double)x[i][j])));
}
