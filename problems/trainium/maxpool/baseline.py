import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(x):
    h, w = x.shape
    y = nl.ndarray((h - 2, w - 2), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range((h + 127) // 128):
        p, k, j = nl.mgrid[0:128, 0:3, 0:w]
        row = i * 128 + p
        rows = nl.load(x[row + k, j], mask=(row < h - 2))
        p, k, j, l = nl.mgrid[0:128, 0:3, 0:w - 2, 0:3]
        best = nl.max(rows[p, k, j + l], axis=[1, 3], mask=(i * 128 + p < h - 2))
        p, j = nl.mgrid[0:128, 0:w - 2]
        nl.store(y[i * 128 + p, j], best, mask=(i * 128 + p < h - 2))
    return y
