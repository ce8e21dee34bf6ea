static float wide(uint16_t x) {
    union { uint32_t bits; float value; } it = {(uint32_t)x << 16};
    return it.value;
}
static uint16_t narrow(float x) {
    union { float value; uint32_t bits; } it = {x};
    return (uint16_t)((it.bits + 0x7fff + (it.bits >> 16 & 1)) >> 16);
}
void solution(uint16_t q[128][1024], uint16_t k[128][1024], uint16_t v[128][1024], uint16_t out[1024][128]) {
    static float a[1024][128], b[1024][128], c[1024][128];
    for (int i = 0; i < 1024; i++)
        for (int l = 0; l < 128; l++) {
            a[i][l] = wide(q[l][i]);
            b[i][l] = wide(k[l][i]);
            c[i][l] = wide(v[l][i]);
        }
    static float row[1024], result[128];
    for (int i = 0; i < 1024; i++) {
        int last = 1024;
        for (int j = 0; j < last; j++) {
            float sum = 0;
            for (int l = 0; l < 128; l++) sum += a[i][l] * b[j][l];
            row[j] = sum * 1.0f;
        }
        float largest = row[0];
        for (int j = 1; j < last; j++) largest = row[j] > largest ? row[j] : largest;
        double total = 0;
        for (int l = 0; l < 128; l++) result[l] = 0;
        for (int j = 0; j < last; j++) {
            float power = expf(row[j] - largest);
            total += power;
            for (int l = 0; l < 128; l++) result[l] += power * c[j][l];
        }
        for (int l = 0; l < 128; l++) out[i][l] = narrow((float)(result[l] / total));
    }
}
