import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def solution(q, k, v):
    d, n = k.shape
    o = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.shared_hbm)
    lse = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(q, dtype=nl.bfloat16)
    result = nl.zeros((128, d), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    largest = nl.full((128, 1), -9984.0, dtype=nl.float32, buffer=nl.sbuf)
    for j in nl.sequential_range(n // 512):
        right = nl.load(k[:, nl.ds(j * 512, 512)], dtype=nl.bfloat16)
        scaled = nl.multiply(nisa.nc_matmul(left, right), 0.08838834764)
        row = nl.arange(128)[:, None]
        column = nl.arange(512)[None, :]
        # The queries are the last ones.
        scores = nisa.affine_select(pred=(n - 128 + row >= j * 512 + column), on_true_tile=scaled, on_false_value=-9984.0)
        higher = nl.maximum(largest, nl.max(scores, axis=[1]))
        powers = nl.exp(nl.subtract(scores, higher))
        keep = nl.exp(nl.subtract(largest, higher))
        total[...] = nl.add(nl.multiply(total, keep), nl.sum(powers, axis=[1]))
        step = nl.zeros((128, d), dtype=nl.float32, buffer=nl.psum)
        for i in nl.affine_range(4):
            block = nl.copy(nisa.nc_transpose(powers[:, nl.ds(i * 128, 128)]), dtype=nl.bfloat16)
            values = nl.load(v[nl.ds(j * 512 + i * 128, 128), :], dtype=nl.bfloat16)
            step += nisa.nc_matmul(block, values)
        result[...] = nl.add(nl.multiply(result, keep), step)
        largest[...] = nl.copy(higher)
    nl.store(o, nl.divide(result, total))
    nl.store(lse, nl.add(nl.log(total), largest))
    return o, lse
