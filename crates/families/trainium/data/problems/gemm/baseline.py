import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(lhsT, rhs):
    k, m = lhsT.shape
    _, n = rhs.shape
    c = nl.ndarray((m, n), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        for j in nl.affine_range(n // 512):
            acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for p in nl.affine_range(k // 128):
                x = nl.load(lhsT[nl.ds(p * 128, 128), nl.ds(i * 128, 128)])
                y = nl.load(rhs[nl.ds(p * 128, 128), nl.ds(j * 512, 512)])
                acc += nisa.nc_matmul(x, y)
            nl.store(c[nl.ds(i * 128, 128), nl.ds(j * 512, 512)], nl.copy(acc, dtype=c.dtype))
    return c
