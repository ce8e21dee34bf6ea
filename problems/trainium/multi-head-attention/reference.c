void solution(float q[4][512][128], float k[4][128][512], float v[4][512][128], float o[4][512][128], float lse[4][512][1]) {
    for (int h = 0; h < 4; h++) {
        static float keys[512][128];
        for (int j = 0; j < 512; j++)
            for (int l = 0; l < 128; l++) keys[j][l] = k[h][l][j];
        static float row[512], result[128];
        for (int i = 0; i < 512; i++) {
            int last = i + 1;
            for (int j = 0; j < last; j++) {
                float sum = 0;
                for (int l = 0; l < 128; l++) sum += q[h][i][l] * keys[j][l];
                row[j] = sum * 0.08838834764f;
            }
            float largest = row[0];
            for (int j = 1; j < last; j++) largest = row[j] > largest ? row[j] : largest;
            double total = 0;
            for (int l = 0; l < 128; l++) result[l] = 0;
            for (int j = 0; j < last; j++) {
                float power = expf(row[j] - largest);
                total += power;
                for (int l = 0; l < 128; l++) result[l] += power * v[h][j][l];
            }
            for (int l = 0; l < 128; l++) o[h][i][l] = (float)(result[l] / total);
            lse[h][i][0] = (float)log(total) + largest;
        }
    }
}
