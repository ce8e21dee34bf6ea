//! Kernels of the second dialect that are written with functions of `nl`, which return tiles.

/// Kernels with their inputs.
pub(super) const KERNELS: &[(&str, &str, &str)] = &[
    (
        "functions rmsnorm",
        "x:f32[256,512];g:f32[512]",
        "import nki
import nki.language as nl


@nki.jit
def solution(x, g, eps=1e-6):
    n, d = x.shape
    P = nl.tile_size.pmax
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    weight = nl.load(g.reshape((1, d)).broadcast_to((P, d)))
    for i in nl.affine_range(n // P):
        tile = nl.load(x[i * P:(i + 1) * P, :])
        total = nl.sum(nl.square(tile), axis=1, keepdims=True)
        inverse = nl.rsqrt(nl.add(nl.multiply(total, 1.0 / d), eps))
        scaled = nl.multiply(tile, inverse)
        nl.store(out[i * P:(i + 1) * P, :], nl.multiply(scaled, weight))
    return out
",
    ),
    (
        "functions softmax",
        "x:f32[256,512];w:f32[256,1]",
        "import nki
import nki.language as nl


@nki.jit
def solution(x, w):
    rows, cols = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range((rows + 127) // 128):
        start = i * 128
        p = nl.load(x[start:start + 128])
        p = nl.softmax(p, axis=1)
        p = nl.multiply(p, nl.load(w[start:start + 128]))
        p = nl.maximum(p, 1e-4)
        nl.store(out[start:start + 128], p)
    return out
",
    ),
    (
        "functions gate",
        "gate:bf16[128,1024];up:bf16[128,1024]",
        "import nki
import nki.language as nl

TILE = 512


def swish(g):
    return nl.multiply(g, nl.divide(1.0, nl.add(1.0, nl.exp(nl.negative(g)))))


@nki.jit
def solution(gate, up):
    m, n = gate.shape
    result = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
    for start in range(0, n, TILE):
        cols = nl.ds(start, TILE)
        g = nl.load(gate[:, cols], dtype=nl.float32)
        u = nl.load(up[:, cols], dtype=nl.float32)
        h = nl.multiply(swish(g), nl.where(nl.greater(u, 0.0), u, nl.multiply(u, 0.5)))
        nl.store(result[:, cols], nl.copy(h, dtype=result.dtype))
    return result
",
    ),
    (
        "functions rope",
        "x:f32[128,1024];cos:f32[64,1024];sin:f32[64,1024]",
        "import nki
import nki.language as nl


@nki.jit
def solution(x, cos, sin):
    d, s = x.shape
    half = d // 2
    out = nl.ndarray((d, s), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(s // 512):
        cols = nl.ds(i * 512, 512)
        c, n = nl.load(cos[:, cols]), nl.load(sin[:, cols])
        upper, lower = nl.load(x[0:half, cols]), nl.load(x[half:d, cols])
        nl.store(out[0:half, cols], nl.subtract(nl.multiply(upper, c), nl.multiply(lower, n)))
        nl.store(out[half:d, cols], nl.add(nl.multiply(upper, n), nl.multiply(lower, c)))
    return out
",
    ),
    (
        "functions attention",
        "q:f32[256,64];k:f32[256,64];v:f32[256,64]",
        "import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(q, k, v):
    s, d = q.shape
    out = nl.ndarray((s, d), dtype=q.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(s // 128):
        q_tile = nl.multiply(nl.load(q[i * 128:(i + 1) * 128, :]), 0.125)
        scores = nl.ndarray((128, s), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.affine_range(s // 128):
            k_turned = nl.copy(nl.transpose(nl.load(k[j * 128:(j + 1) * 128, :])))
            nisa.tensor_copy(dst=scores[:, j * 128:(j + 1) * 128], src=nl.matmul(q_tile, k_turned))
        top = nl.max(scores, axis=1, keepdims=True)
        e = nl.exp(nl.subtract(scores, top))
        probs = nl.divide(e, nl.sum(e, axis=1, keepdims=True))
        acc = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.psum)
        for j in nl.affine_range(s // 128):
            turned = nl.copy(nl.transpose(probs[:, j * 128:(j + 1) * 128]))
            v_tile = nl.load(v[j * 128:(j + 1) * 128, :])
            nisa.nc_matmul(dst=acc, stationary=turned, moving=v_tile)
        nl.store(out[i * 128:(i + 1) * 128, :], nl.copy(acc))
    return out
",
    ),
    (
        "functions sums",
        "x:f32[256,256];w:f32[256,512];bias:f32[512]",
        "import nki
import nki.language as nl


@nki.jit
def solution(x, w, bias):
    m, k = x.shape
    n = w.shape[1]
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    b_tile = nl.load(bias.reshape((1, n)).broadcast_to((128, n)))
    for i in range(m // 128):
        total = nl.zeros((128, n), dtype=nl.float32, buffer=nl.sbuf)
        for p in range(k // 128):
            x_tile = nl.load(x[i * 128:(i + 1) * 128, p * 128:(p + 1) * 128])
            w_tile = nl.load(w[p * 128:(p + 1) * 128, :])
            total = nl.add(total, nl.matmul(x_tile, w_tile))
        total = nl.add(total, b_tile)
        nl.store(out[i * 128:(i + 1) * 128, :], nl.relu(nl.subtract(total, 0.25)))
    return out
",
    ),
    (
        "functions rows",
        "x:f32[256,1024];w:f32[1024];b:f32[1024]",
        "import nki
import nki.language as nl


@nki.jit
def solution(x, w, b, eps=1e-5):
    n, d = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    weights = nl.load(w.reshape((1, d)))
    biases = nl.load(b.reshape((1, d)))
    for i in range(n // 128):
        t = nl.load(x[i * 128:(i + 1) * 128, :])
        mean = nl.mean(t, axis=1, keepdims=True)
        variance = nl.var(t, axis=1, keepdims=True)
        t = nl.multiply(nl.subtract(t, mean), nl.rsqrt(nl.add(variance, eps)))
        nl.store(y[i * 128:(i + 1) * 128, :], nl.add(nl.multiply(t, weights), biases))
    return y
",
    ),
    (
        "functions lists",
        "a:f32[256,256];b:f32[256,256]",
        "import nki
import nki.language as nl


@nki.jit
def solution(a, b):
    n, d = a.shape
    out = nl.ndarray((n, d), dtype=a.dtype, buffer=nl.shared_hbm)
    tiles = [nl.load(a[i * 128:(i + 1) * 128, :]) for i in range(n // 128)]
    others = [nl.load(b[i * 128:(i + 1) * 128, :]) for i in range(n // 128)]
    for i in range(n // 128):
        t, o = tiles[i], others[i]
        difference = nl.subtract(t, nl.multiply(o, 0.5))
        nl.store(out[i * 128:(i + 1) * 128, :], nl.multiply(difference, difference))
    return out
",
    ),
];
