import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(a):
    d, m, n = a.shape
    b = nl.ndarray((d, n, m), dtype=a.dtype, buffer=nl.shared_hbm)
    for i in range(d):
        # Whole rows in and out, and one copy for a whole row of turned tiles.
        rows = []
        for j in range(m // 128):
            tile = nl.ndarray((128, n), dtype=a.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=a[i, j * 128:(j + 1) * 128, :])
            rows.append(tile)
        for k in range(n // 128):
            turned = nl.ndarray((128, m), dtype=a.dtype, buffer=nl.psum)
            for j in range(m // 128):
                nisa.nc_transpose(dst=turned[:, j * 128:(j + 1) * 128], data=rows[j][:, k * 128:(k + 1) * 128])
            out = nl.ndarray((128, m), dtype=a.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=out, src=turned)
            nisa.dma_copy(dst=b[i, k * 128:(k + 1) * 128, :], src=out)
    return b
