for (int i = 0; i < 32; i++) {
  uint32_t half = (i & 1) * 512;
  for (int k = 0; k < 8; k++) {
    preload(4096 + k * 16, (k == 0 ? 0x80000000 : 0xc0000000) + half, 16, 16, 16, 16);
    compute_preloaded(i * 128 + k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
  }
  mvout(&C[i * 16][0], 0x80000000 + half, 16, 16);
}
