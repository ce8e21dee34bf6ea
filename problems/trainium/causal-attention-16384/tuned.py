import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(q, k, v):
    d, n = k.shape
    o = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.shared_hbm)
    lse = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    # The scale goes into the queries.
    left = nl.multiply(nl.load(q), 0.08838834764, dtype=nl.bfloat16)
    # All scores fit: no running maximum, nothing that one block needs of the one before.
    scores = nl.ndarray((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.sbuf)
    row = nl.arange(128)[:, None]
    column = nl.arange(512)[None, :]
    for j in nl.static_range(n // 512):
        product = nisa.nc_matmul(left, nl.load(k[:, nl.ds(j * 512, 512)], dtype=nl.bfloat16))
        # The queries are the last ones: only the last block meets the diagonal.
        if j < n // 512 - 1:
            scores[:, nl.ds(j * 512, 512)] = nl.copy(product)
        else:
            scores[:, nl.ds(j * 512, 512)] = nisa.affine_select(pred=(n - 128 + row >= j * 512 + column), on_true_tile=nl.copy(product), on_false_value=-9984.0)
    least = nisa.tensor_reduce(np.max, scores, axis=(1,), negate=True)
    total = nl.ndarray((nl.par_dim(128), 1), dtype=nl.float32, buffer=nl.sbuf)
    powers = nl.ndarray((nl.par_dim(128), n), dtype=nl.bfloat16, buffer=nl.sbuf)
    powers[...] = nisa.activation_reduce(np.exp, scores, bias=least, reduce_op=np.add, reduce_res=total)
    result = nl.zeros((128, d), dtype=nl.float32, buffer=nl.psum)
    for j in nl.affine_range(n // 128):
        block = nl.copy(nisa.nc_transpose(powers[:, nl.ds(j * 128, 128)]))
        result += nisa.nc_matmul(block, nl.load(v[nl.ds(j * 128, 128), :], dtype=nl.bfloat16))
    nl.store(o, nisa.activation(op=nl.copy, data=result, scale=nisa.reciprocal(total)))
    nl.store(lse, nl.subtract(nl.log(total), least))
    return o, lse
