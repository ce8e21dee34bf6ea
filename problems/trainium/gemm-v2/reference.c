static float wide(uint16_t x) {
    union { uint32_t bits; float value; } it = {(uint32_t)x << 16};
    return it.value;
}
static uint16_t narrow(float x) {
    union { float value; uint32_t bits; } it = {x};
    return (uint16_t)((it.bits + 0x7fff + (it.bits >> 16 & 1)) >> 16);
}
void solution(uint16_t lhsT[1024][256], uint16_t rhs[1024][1024], uint16_t out[256][1024]) {
    static float row[1024];
    for (int i = 0; i < 256; i++) {
        for (int j = 0; j < 1024; j++) row[j] = 0;
        for (int l = 0; l < 1024; l++) {
            float a = wide(lhsT[l][i]);
            for (int j = 0; j < 1024; j++) row[j] += a * wide(rhs[l][j]);
        }
        for (int j = 0; j < 1024; j++) out[i][j] = narrow(row[j]);
    }
}
