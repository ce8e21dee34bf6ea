void solution(float q[1024][64], float k[1024][64], float v[1024][64], float out[1024][64]) {
    static float row[1024], result[64];
    for (int i = 0; i < 1024; i++) {
        int last = 1024;
        for (int j = 0; j < last; j++) {
            float sum = 0;
            for (int l = 0; l < 64; l++) sum += q[i][l] * k[j][l];
            row[j] = sum * 0.125f;
        }
        float largest = row[0];
        for (int j = 1; j < last; j++) largest = row[j] > largest ? row[j] : largest;
        double total = 0;
        for (int l = 0; l < 64; l++) result[l] = 0;
        for (int j = 0; j < last; j++) {
            float power = expf(row[j] - largest);
            total += power;
            for (int l = 0; l < 64; l++) result[l] += power * v[j][l];
        }
        for (int l = 0; l < 64; l++) out[i][l] = (float)(result[l] / total);
    }
}
