// One 16x64 block of C at a time, every operand moved in when it is needed:
// what a compiler emits that tiles for the array and schedules nothing.
void solution(int8_t A[256][256], int8_t B[256][256], int8_t C[256][256]) {
    // Local memory: A in 256 scratchpad rows from 0 to 255 (bank 0).
    // Local memory: C in 128 accumulator rows from 0 to 575 (banks 0, 1).
    // Local memory: B in 4096 scratchpad rows from 4096 to 8191 (bank 1).
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
    config_st(256);
    config_ld(0, 1.0f, 16, 0);
    config_ld(256, 1.0f, 16, 1);
    config_ld(256, 1.0f, 16, 2);
    for (int i = 0; i < 16; i++) {
        for (int ko = 0; ko < 4; ko++) {
            mvin2(&A[16 * i][64 * ko], 64 * ko, 64, 16);
        }
        for (int j = 0; j < 4; j++) {
            for (int jj = 0; jj < 4; jj++) {
                mvin(0, 0x80000000 + 16 * jj + 512 * (j % 2), 16, 16);
            }
            for (int ko = 0; ko < 4; ko++) {
                if (i == 0) {
                    for (int k = 0; k < 4; k++) {
                        mvin3(&B[16 * k + 64 * ko][64 * j], 4096 + 1024 * j + 64 * k + 256 * ko, 64, 16);
                    }
                }
                for (int jj = 0; jj < 4; jj++) {
                    for (int k = 0; k < 4; k++) {
                        preload(4096 + 1024 * j + 16 * jj + 64 * k + 256 * ko, 0xC0000000 + 16 * jj + 512 * (j % 2), 16, 16, 16, 16);
                        compute_preloaded(16 * k + 64 * ko, 0xFFFFFFFF, 16, 16, 16, 16);
                    }
                }
            }
            for (int jj = 0; jj < 4; jj++) {
                mvout(&C[16 * i][64 * j + 16 * jj], 0x80000000 + 16 * jj + 512 * (j % 2), 16, 16);
            }
        }
    }
    fence();
}
