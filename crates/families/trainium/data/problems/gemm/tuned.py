import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(lhsT, rhs):
    k, m = lhsT.shape
    _, n = rhs.shape
    c = nl.ndarray((m, n), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    # Blocks of 1024 by 2048 results: 32 sums of 128 by 512, held as float32 in SBUF.
    block_m, block_n, block_k = 8, 4, 8
    for bi in nl.affine_range(m // (128 * block_m)):
        for bj in nl.affine_range(n // (512 * block_n)):
            sums = nl.zeros((block_m, nl.par_dim(128), 512 * block_n), dtype=nl.float32, buffer=nl.sbuf)
            for bp in nl.sequential_range(k // (128 * block_k)):
                xs = nl.ndarray((block_k, nl.par_dim(128), 128 * block_m), dtype=lhsT.dtype, buffer=nl.sbuf)
                ys = nl.ndarray((block_k, nl.par_dim(128), 512 * block_n), dtype=rhs.dtype, buffer=nl.sbuf)
                for p in nl.affine_range(block_k):
                    row = (bp * block_k + p) * 128
                    xs[p] = nl.load(lhsT[nl.ds(row, 128), nl.ds(bi * 128 * block_m, 128 * block_m)])
                    ys[p] = nl.load(rhs[nl.ds(row, 128), nl.ds(bj * 512 * block_n, 512 * block_n)])
                for i in nl.affine_range(block_m):
                    for j in nl.affine_range(block_n):
                        acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
                        for p in nl.affine_range(block_k):
                            acc += nisa.nc_matmul(xs[p, :, nl.ds(i * 128, 128)], ys[p, :, nl.ds(j * 512, 512)])
                        sums[i, :, nl.ds(j * 512, 512)] += acc
            for i in nl.affine_range(block_m):
                row = (bi * block_m + i) * 128
                nl.store(c[nl.ds(row, 128), nl.ds(bj * 512 * block_n, 512 * block_n)], nl.copy(sums[i], dtype=c.dtype))
    return c
