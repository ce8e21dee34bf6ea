import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(a):
    d, m, n = a.shape
    b = nl.ndarray((d, n, m), dtype=a.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(d):
        for j in nl.affine_range(m // 128):
            for k in nl.affine_range(n // 128):
                tile = nl.load(a[i, nl.ds(j * 128, 128), nl.ds(k * 128, 128)])
                turned = nl.copy(nisa.nc_transpose(tile))
                nl.store(b[i, nl.ds(k * 128, 128), nl.ds(j * 128, 128)], turned)
    return b
