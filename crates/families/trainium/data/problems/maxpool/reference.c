void reference(const float x[4096][4096], float y[4094][4094]) {
    for (int i = 0; i < 4094; i++)
        for (int j = 0; j < 4094; j++) {
            float best = x[i][j];
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    if (x[i + k][j + l] > best) best = x[i + k][j + l];
            y[i][j] = best;
        }
}
