void solution(float lhs[4][512][64], float rhs[4][64][1024], float out[4][512][1024]) {
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 512; i++) {
            float *row = out[b][i];
            for (int j = 0; j < 1024; j++) row[j] = 0;
            for (int l = 0; l < 64; l++)
                for (int j = 0; j < 1024; j++) row[j] += lhs[b][i][l] * rhs[b][l][j];
            float largest = row[0];
            for (int j = 1; j < 1024; j++) largest = row[j] > largest ? row[j] : largest;
            double total = 0;
            for (int j = 0; j < 1024; j++) total += row[j] = expf(row[j] - largest);
            for (int j = 0; j < 1024; j++) row[j] = (float)(row[j] / total);
        }
}
