void solution(float x[1024][1024], float y[1022][1022]) {
    for (int i = 0; i < 1022; i++)
        for (int j = 0; j < 1022; j++) {
            float best = x[i][j];
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    if (x[i + k][j + l] > best) best = x[i + k][j + l];
            y[i][j] = best;
        }
}
