import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def solution(theta, g, m, v):
    rows, columns = theta.shape
    out = nl.ndarray(theta.shape, dtype=theta.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(rows // 128):
        for j in nl.affine_range(columns // 512):
            at = nl.ds(i * 128, 128)
            piece = nl.ds(j * 512, 512)
            t = nl.load(theta[at, piece])
            grad = nl.load(g[at, piece])
            first = nl.add(nl.multiply(nl.load(m[at, piece]), 0.9), nl.multiply(grad, 0.1))
            second = nl.add(nl.multiply(nl.load(v[at, piece]), 0.999), nl.multiply(nl.multiply(grad, grad), 0.001))
            below = nl.add(nl.sqrt(nl.multiply(second, 1000.0)), 1e-8)
            step = nl.multiply(nl.divide(first, below), 0.01)
            decayed = nl.subtract(t, nl.multiply(t, 1e-5))
            nl.store(out[at, piece], nl.subtract(decayed, step))
    return out
