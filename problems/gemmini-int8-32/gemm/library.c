// The usual library's own call for a matrix product: it picks the tiles, and issues
// them through the hardware loop.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  tiled_matmul_auto({{ M }}, {{ N }}, {{ K }}, &A[0][0], &B[0][0], 0, &C[0][0], {{ K }}, {{ N }}, 0, {{ N }},
                    MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, 1, NO_ACTIVATION, ACC_SCALE_IDENTITY, 0,
                    false, false, false, false, false, 0, WS);
}
