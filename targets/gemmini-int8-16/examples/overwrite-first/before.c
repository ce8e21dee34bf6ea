mvin(0, 0x80000000, 16, 16);
for (int k = 0; k < 8; k++) {
  preload(4096 + k * 16, 0xc0000000, 16, 16, 16, 16);
  compute_preloaded(k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
}
