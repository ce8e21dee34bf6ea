for (int k = 0; k < 4; k++) {
  preload(4096 + k * 16, 0xc0000000, 16, 16, 16, 16);
  compute_preloaded(k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
  preload(GARBAGE_ADDR, 0xc0000000 + 16, 16, 16, 16, 16);
  compute_accumulated(64 + k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
}
