/* Operands are given as single precision; every result rounds to bfloat16 afterwards. */
void reference(const float lhsT[8192][4096], const float rhs[8192][8192], float c[4096][8192]) {
    for (int i = 0; i < 4096; i++) {
        for (int j = 0; j < 8192; j++) c[i][j] = 0.0f;
        for (int p = 0; p < 8192; p++) {
            float x = lhsT[p][i];
            for (int j = 0; j < 8192; j++) c[i][j] += x * rhs[p][j];
        }
    }
}
