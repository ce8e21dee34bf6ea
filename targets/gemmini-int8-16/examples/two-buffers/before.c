for (int i = 0; i < 32; i++) {
  mvin(&A[i * 16][0], 0, 64, 16);
  for (int k = 0; k < 4; k++) {
    preload(8192 + k * 16, 0x80000000 + (k == 0 ? 0 : 0x40000000), 16, 16, 16, 16);
    compute_preloaded(k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
  }
  mvout(&C[i * 16][0], 0x80000000, 16, 16);
}
