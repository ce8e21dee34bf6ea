void solution(float q[512][4][128], float k[512][2][128], float v[512][2][128], float out[4][512][128]) {
    for (int h = 0; h < 4; h++) {
        static float row[512], result[128];
        for (int i = 0; i < 512; i++) {
            int last = 512;
            for (int j = 0; j < last; j++) {
                float sum = 0;
                for (int l = 0; l < 128; l++) sum += q[i][h][l] * k[j][h / 2][l];
                row[j] = sum * 0.08838834764f;
            }
            float largest = row[0];
            for (int j = 1; j < last; j++) largest = row[j] > largest ? row[j] : largest;
            double total = 0;
            for (int l = 0; l < 128; l++) result[l] = 0;
            for (int j = 0; j < last; j++) {
                float power = expf(row[j] - largest);
                total += power;
                for (int l = 0; l < 128; l++) result[l] += power * v[j][h / 2][l];
            }
            for (int l = 0; l < 128; l++) out[h][i][l] = (float)(result[l] / total);
        }
    }
}
