void solution(float delta[1][256][2048], float u[1][256][2048], float A[256][16], float B[1][16][2048], float C[1][16][2048], float y[1][256][2048]) {
    for (int c = 0; c < 256; c++) {
        static double total[2048];
        for (int t = 0; t < 2048; t++) total[t] = 0;
        for (int s = 0; s < 16; s++) {
            double state = 0;
            for (int t = 0; t < 2048; t++) {
                float d = delta[0][c][t];
                state = expf(d * A[c][s]) * state + d * u[0][c][t] * B[0][s][t];
                total[t] += state * C[0][s][t];
            }
        }
        for (int t = 0; t < 2048; t++) y[0][c][t] = (float)total[t];
    }
}
