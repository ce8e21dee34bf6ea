void solution(float delta[128][3584], float u[128][3584], float A[128][16], float B[16][3584], float C[16][3584], float y[128][3584]) {
    for (int c = 0; c < 128; c++) {
        static double total[3584];
        for (int t = 0; t < 3584; t++) total[t] = 0;
        for (int s = 0; s < 16; s++) {
            double state = 0;
            for (int t = 0; t < 3584; t++) {
                float d = delta[c][t];
                state = expf(d * A[c][s]) * state + d * u[c][t] * B[s][t];
                total[t] += state * C[s][t];
            }
        }
        for (int t = 0; t < 3584; t++) y[c][t] = (float)total[t];
    }
}
