void solution(float a[16][512][512], float b[16][512][512]) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 512; j++)
            for (int k = 0; k < 512; k++) b[i][k][j] = a[i][j][k];
}
