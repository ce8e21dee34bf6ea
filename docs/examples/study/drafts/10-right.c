// One 16x64 block of C at a time, every operand moved in when it is needed.
void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {
    // Local memory: A in 128 scratchpad rows from 4096 to 4223 (bank 1).
    // Local memory: C in 128 accumulator rows from 0 to 575 (banks 0, 1).
    // Local memory: B in 256 scratchpad rows from 1024 to 1279 (bank 0).
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
    config_st(64);
    config_ld(0, 1.0f, 16, 0);
    config_ld(64, 1.0f, 16, 1);
    config_ld(64, 1.0f, 16, 2);
    mvin2(&A[0][0], 4096, 64, 16);
    for (int i = 0; i < 4; i++) {
        for (int jj = 0; jj < 4; jj++) {
            mvin(0, 0x80000000 + 16 * jj + 512 * (i % 2), 16, 16);
        }
        if (i < 3) {
            mvin2(&A[16 + 16 * i][0], 4096 + 64 * ((1 + i) % 2), 64, 16);
        }
        if (i == 0) {
            for (int k = 0; k < 4; k++) {
                mvin3(&B[16 * k][0], 1024 + 64 * k, 64, 16);
            }
        }
        for (int jj = 0; jj < 4; jj++) {
            for (int k = 0; k < 4; k++) {
                preload(1024 + 16 * jj + 64 * k, 0xC0000000 + 16 * jj + 512 * (i % 2), 16, 16, 16, 16);
                compute_preloaded(4096 + 16 * k + 64 * (i % 2), 0xFFFFFFFF, 16, 16, 16, 16);
            }
        }
        for (int jj = 0; jj < 4; jj++) {
            mvout(&C[16 * i][16 * jj], 0x80000000 + 16 * jj + 512 * (i % 2), 16, 16);
        }
    }
    fence();
}
