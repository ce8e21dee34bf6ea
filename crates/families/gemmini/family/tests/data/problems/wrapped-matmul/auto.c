// The whole product by one call.
void solution(elem_t A[{{ M }}][{{ K }}], elem_t B[{{ K }}][{{ N }}], acc_t D[{{ M }}][{{ N }}], elem_t C[{{ M }}][{{ N }}]) {
  tiled_matmul_auto({{ M }}, {{ N }}, {{ K }}, &A[0][0], &B[0][0], &D[0][0], &C[0][0], {{ K }}, {{ N }}, {{ N }}, {{ N }},
                    MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, 1, NO_ACTIVATION, ACC_SCALE_IDENTITY, 0,
                    false, false, false, false, false, 0, WS);
}
