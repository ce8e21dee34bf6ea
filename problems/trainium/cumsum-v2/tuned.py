import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(x):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    for i in range(rows // 128):
        # Whole rows: no carry between pieces.
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:(i + 1) * 128, :])
        sums = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor_scan(dst=sums, data0=ones, data1=tile, initial=0.0, op0=nl.multiply, op1=nl.add)
        nisa.dma_copy(dst=y[i * 128:(i + 1) * 128, :], src=sums)
    return y
