void solution(float img[2][256][1][2048], float f[256][1][1][3], float out[2][256][1][2048]) {
    for (int n = 0; n < 2; n++)
        for (int c = 0; c < 256; c++)
            for (int j = 0; j < 2048; j++) {
                float total = 0;
                for (int k = 0; k < 3; k++) {
                    int at = j + k - 1;
                    if (0 <= at && at < 2048) total += img[n][c][0][at] * f[c][0][0][k];
                }
                out[n][c][0][j] = total;
            }
}
