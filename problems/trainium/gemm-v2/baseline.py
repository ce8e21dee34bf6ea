import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(lhsT, rhs):
    k, m = lhsT.shape
    n = rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for i in range(m // 128):
        for j in range(n // 512):
            total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for l in range(k // 128):
                a = nl.ndarray((128, 128), dtype=lhsT.dtype, buffer=nl.sbuf)
                b = nl.ndarray((128, 512), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=a, src=lhsT[l * 128:(l + 1) * 128, i * 128:(i + 1) * 128])
                nisa.dma_copy(dst=b, src=rhs[l * 128:(l + 1) * 128, j * 512:(j + 1) * 512])
                nisa.nc_matmul(dst=total, stationary=a, moving=b)
            row = nl.ndarray((128, 512), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=row, src=total)
            nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, j * 512:(j + 1) * 512], src=row)
    return out
