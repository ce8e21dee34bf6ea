/* Sums in double precision. */
void solution(float a[512][4096], float g[4096], float y[512][4096]) {
    for (int i = 0; i < 512; i++) {
        double total = 0.0;
        for (int j = 0; j < 4096; j++) total += (double)a[i][j] * a[i][j];
        double factor = 1.0 / sqrt(total / 4096);
        for (int j = 0; j < 4096; j++) y[i][j] = (float)(a[i][j] * factor * g[j]);
    }
}
