for (int jj = 0; jj < 4; jj++) {
  mvout(&C[i * 16][j * 64 + jj * 16], 0x80000000 + jj * 16, 16, 16);
}
