import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def solution(lhsT, rhs):
    k, m = lhsT.shape
    n = rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    # Both operands come in once, a whole row of either at a time, and stay.
    steps = k // 128
    a = nl.ndarray((steps, nl.par_dim(128), m), dtype=lhsT.dtype, buffer=nl.sbuf)
    b = nl.ndarray((steps, nl.par_dim(128), n), dtype=rhs.dtype, buffer=nl.sbuf)
    for l in nl.affine_range(steps):
        a[l] = nl.load(lhsT[nl.ds(l * 128, 128), :])
        b[l] = nl.load(rhs[nl.ds(l * 128, 128), :])
    for i in nl.affine_range(m // 128):
        row = nl.ndarray((nl.par_dim(128), n), dtype=out.dtype, buffer=nl.sbuf)
        for j in nl.affine_range(n // 512):
            total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for l in nl.affine_range(steps):
                total += nisa.nc_matmul(a[l, :, nl.ds(i * 128, 128)], b[l, :, nl.ds(j * 512, 512)])
            row[:, nl.ds(j * 512, 512)] = nl.copy(total, dtype=out.dtype)
        nl.store(out[nl.ds(i * 128, 128), :], row)
    return out
