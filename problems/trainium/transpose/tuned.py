import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(a):
    d, m, n = a.shape
    b = nl.ndarray((d, n, m), dtype=a.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(d):
        # Rows of 2 KiB in and out instead of 512 bytes.
        rows = nl.ndarray((m // 128, nl.par_dim(128), n), dtype=a.dtype, buffer=nl.sbuf)
        for j in nl.affine_range(m // 128):
            rows[j] = nl.load(a[i, nl.ds(j * 128, 128), :])
        for k in nl.affine_range(n // 128):
            turned = nl.ndarray((nl.par_dim(128), m), dtype=a.dtype, buffer=nl.psum)
            for j in nl.affine_range(m // 128):
                turned[:, nl.ds(j * 128, 128)] = nisa.nc_transpose(rows[j, :, nl.ds(k * 128, 128)])
            nl.store(b[i, nl.ds(k * 128, 128), :], nl.copy(turned))
    return b
