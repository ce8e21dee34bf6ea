import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


def turned(x, i, steps):
    """Loads 128 rows of `x` from row `i * 128` on, and turns them around in blocks of 128 columns."""
    rows = nl.load(x[nl.ds(i * 128, 128), :])
    blocks = nl.ndarray((steps, nl.par_dim(128), 128), dtype=x.dtype, buffer=nl.sbuf)
    for l in nl.affine_range(steps):
        blocks[l] = nl.copy(nisa.nc_transpose(rows[:, nl.ds(l * 128, 128)]))
    return blocks


@nki.jit
def solution(x, w, a, b):
    m, k = x.shape
    n = w.shape[1]
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        rows = turned(x, i, k // 128)
        # The narrow product, already turned around: (x a)^T = a^T x^T.
        small = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.psum)
        for l in nl.affine_range(k // 128):
            small += nisa.nc_matmul(nl.load(a[nl.ds(l * 128, 128), :]), rows[l])
        narrow = nl.copy(small)
        for j in nl.affine_range(n // 512):
            total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for l in nl.affine_range(k // 128):
                total += nisa.nc_matmul(rows[l], nl.load(w[nl.ds(l * 128, 128), nl.ds(j * 512, 512)]))
            other = nisa.nc_matmul(narrow, nl.load(b[:, nl.ds(j * 512, 512)]))
            both = nl.add(nl.copy(total), other)
            nl.store(out[nl.ds(i * 128, 128), nl.ds(j * 512, 512)], both)
    return out
