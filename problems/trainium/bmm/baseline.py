import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def solution(lhs, rhs):
    batch, m, k = lhs.shape
    n = rhs.shape[2]
    out = nl.ndarray((batch, m, n), dtype=lhs.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        for i in nl.affine_range(m // 128):
            for j in nl.affine_range(n // 512):
                rows = nl.load(lhs[b, nl.ds(i * 128, 128), :])
                left = nl.copy(nisa.nc_transpose(rows))
                right = nl.load(rhs[b, :, nl.ds(j * 512, 512)])
                product = nl.copy(nisa.nc_matmul(left, right))
                nl.store(out[b, nl.ds(i * 128, 128), nl.ds(j * 512, 512)], product)
    return out
