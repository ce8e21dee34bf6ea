void solution(float q[1024][128], float k[128][1024], float v[1024][128], float o[1024][128], float lse[1024][1]) {
    static float keys[1024][128];
    for (int j = 0; j < 1024; j++)
        for (int l = 0; l < 128; l++) keys[j][l] = k[l][j];
    static float row[1024], result[128];
    for (int i = 0; i < 1024; i++) {
        int last = i + 1;
        for (int j = 0; j < last; j++) {
            float sum = 0;
            for (int l = 0; l < 128; l++) sum += q[i][l] * keys[j][l];
            row[j] = sum * 0.08838834764f;
        }
        float largest = row[0];
        for (int j = 1; j < last; j++) largest = row[j] > largest ? row[j] : largest;
        double total = 0;
        for (int l = 0; l < 128; l++) result[l] = 0;
        for (int j = 0; j < last; j++) {
            float power = expf(row[j] - largest);
            total += power;
            for (int l = 0; l < 128; l++) result[l] += power * v[j][l];
        }
        for (int l = 0; l < 128; l++) o[i][l] = (float)(result[l] / total);
        lse[i][0] = (float)log(total) + largest;
    }
}
