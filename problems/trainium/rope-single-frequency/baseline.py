import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def solution(x, cos, sin):
    d, n = x.shape
    half = d // 2
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(n // 512):
        piece = nl.ds(j * 512, 512)
        upper = nl.load(x[0:half, piece])
        lower = nl.load(x[half:d, piece])
        c = nl.load(cos[:, piece])
        s = nl.load(sin[:, piece])
        nl.store(y[0:half, piece], nl.subtract(nl.multiply(upper, c), nl.multiply(lower, s)))
        nl.store(y[half:d, piece], nl.add(nl.multiply(upper, s), nl.multiply(lower, c)))
    return y
