import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def solution(lhs, rhs):
    k, m = lhs.shape
    n = rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhs.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        for j in nl.affine_range(n // 512):
            total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for l in nl.affine_range(k // 128):
                a = nl.load(lhs[nl.ds(l * 128, 128), nl.ds(i * 128, 128)])
                b = nl.load(rhs[nl.ds(l * 128, 128), nl.ds(j * 512, 512)])
                total += nisa.nc_matmul(a, b)
            nl.store(out[nl.ds(i * 128, 128), nl.ds(j * 512, 512)], nl.copy(total))
    return out
