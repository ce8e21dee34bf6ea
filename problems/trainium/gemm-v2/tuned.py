import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(lhsT, rhs):
    k, m = lhsT.shape
    n = rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    # Both operands come in once and stay.
    a = []
    b = []
    for l in range(k // 128):
        left = nl.ndarray((128, m), dtype=lhsT.dtype, buffer=nl.sbuf)
        right = nl.ndarray((128, n), dtype=rhs.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=lhsT[l * 128:(l + 1) * 128, :])
        nisa.dma_copy(dst=right, src=rhs[l * 128:(l + 1) * 128, :])
        a.append(left)
        b.append(right)
    for i in range(m // 128):
        row = nl.ndarray((128, n), dtype=out.dtype, buffer=nl.sbuf)
        for j in range(n // 512):
            total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for l in range(k // 128):
                nisa.nc_matmul(dst=total, stationary=a[l][:, i * 128:(i + 1) * 128], moving=b[l][:, j * 512:(j + 1) * 512])
            nisa.tensor_copy(dst=row[:, j * 512:(j + 1) * 512], src=total)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, :], src=row)
    return out
