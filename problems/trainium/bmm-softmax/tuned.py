import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(lhs, rhs):
    batch, m, k = lhs.shape
    n = rhs.shape[2]
    out = nl.ndarray((batch, m, n), dtype=lhs.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        right = nl.load(rhs[b])
        for i in nl.affine_range(m // 128):
            left = nl.copy(nisa.nc_transpose(nl.load(lhs[b, nl.ds(i * 128, 128), :])))
            scores = nl.ndarray((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.psum)
            for j in nl.affine_range(n // 512):
                scores[:, nl.ds(j * 512, 512)] = nisa.nc_matmul(left, right[:, nl.ds(j * 512, 512)])
            # Exponentials straight from the accumulators, with their sums.
            least = nisa.tensor_reduce(np.max, scores, axis=(1,), negate=True)
            powers = nl.ndarray((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.sbuf)
            total = nl.ndarray((nl.par_dim(128), 1), dtype=nl.float32, buffer=nl.sbuf)
            powers[...] = nisa.activation_reduce(np.exp, scores, bias=least, reduce_op=np.add, reduce_res=total)
            nl.store(out[b, nl.ds(i * 128, 128), :], nisa.tensor_scalar(powers, np.multiply, nisa.reciprocal(total)))
    return out
