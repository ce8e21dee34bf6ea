void solution(float x[128][512], float w_up[512][1024], float w_down[1024][512], float w_gate[512][1024], float out[128][512]) {
    static float up[1024], gate[1024];
    for (int i = 0; i < 128; i++) {
        for (int j = 0; j < 1024; j++) up[j] = gate[j] = 0;
        for (int l = 0; l < 512; l++)
            for (int j = 0; j < 1024; j++) {
                up[j] += x[i][l] * w_up[l][j];
                gate[j] += x[i][l] * w_gate[l][j];
            }
        for (int j = 0; j < 512; j++) out[i][j] = 0;
        for (int l = 0; l < 1024; l++) {
            float hidden = gate[l] / (1 + expf(-gate[l])) * up[l];
            for (int j = 0; j < 512; j++) out[i][j] += hidden * w_down[l][j];
        }
    }
}
