for (int i = 0; i < 2; i++) {
  for (int k = 0; k < 4; k++) {
    preload(4096 + k * 16, 0xc0000000 + i * 16, 16, 16, 16, 16);
    compute_preloaded(i * 64 + k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
  }
}
