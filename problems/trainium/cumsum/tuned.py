import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(x):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ones((128, columns), dtype=nl.float32, buffer=nl.sbuf)
    for i in nl.affine_range(rows // 128):
        # Whole rows: no carry between pieces.
        tile = nl.load(x[nl.ds(i * 128, 128), :])
        nl.store(y[nl.ds(i * 128, 128), :], nisa.tensor_tensor_scan(ones, tile, initial=0, op0=np.multiply, op1=np.add))
    return y
