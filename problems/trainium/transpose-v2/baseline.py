import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(a):
    d, m, n = a.shape
    b = nl.ndarray((d, n, m), dtype=a.dtype, buffer=nl.shared_hbm)
    for i in range(d):
        for j in range(m // 128):
            for k in range(n // 128):
                tile = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=tile, src=a[i, j * 128:(j + 1) * 128, k * 128:(k + 1) * 128])
                turned = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.psum)
                nisa.nc_transpose(dst=turned, data=tile)
                out = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
                nisa.tensor_copy(dst=out, src=turned)
                nisa.dma_copy(dst=b[i, k * 128:(k + 1) * 128, j * 128:(j + 1) * 128], src=out)
    return b
