import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(x):
    h, w = x.shape
    y = nl.ndarray((h - 2, w - 2), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range((h + 127) // 128):
        rows = min(128, h - 2 - i * 128)
        best = nl.ndarray((128, w - 2), dtype=x.dtype, buffer=nl.sbuf)
        for k in range(3):
            tile = nl.ndarray((128, w), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile[0:rows, :], src=x[i * 128 + k:i * 128 + k + rows, :])
            for l in range(3):
                part = tile[0:rows, l:l + w - 2]
                if k == 0 and l == 0:
                    nisa.tensor_copy(dst=best[0:rows, :], src=part)
                else:
                    nisa.tensor_tensor(dst=best[0:rows, :], data1=best[0:rows, :], data2=part, op=nl.maximum)
        nisa.dma_copy(dst=y[i * 128:i * 128 + rows, :], src=best[0:rows, :])
    return y
