//! Kernels of the first dialect that are rewritten.

/// Kernels with their inputs.
pub(super) const KERNELS: &[(&str, &str, &str)] = &[
    (
        "product",
        "x:f32[256,256];y:f32[256,512]",
        "def solution(x, y):
    k, m = x.shape
    _, n = y.shape
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        for j in nl.affine_range(n // 256):
            acc = nl.zeros((128, 256), dtype=nl.float32, buffer=nl.sbuf)
            for p in nl.sequential_range(k // 128):
                a = nl.load(x[nl.ds(p * 128, 128), nl.ds(i * 128, 128)])  # stationary
                b = nl.load(y[nl.ds(p * 128, 128), nl.ds(j * 256, 256)])
                acc += nl.copy(nisa.nc_matmul(a, b))
            nl.store(out[nl.ds(i * 128, 128), nl.ds(j * 256, 256)], acc)
    return out
",
    ),
    (
        "softmax",
        "x:f32[256,1024]",
        "def solution(x):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.sequential_range(rows // 128):
        tile = nl.load(x[i * 128:(i + 1) * 128, :])
        top = nl.max(tile, axis=[1], keepdims=True)
        power = nl.exp((tile - top) * 0.5)
        total = nl.sum(power, axis=[1], keepdims=True)
        # divides by the sum
        nl.store(y[i * 128:(i + 1) * 128, :], power * (1.0 / total))
    return y
",
    ),
    (
        "gate",
        "x:f32[128,2048];g:f32[128,2048];c:f32[128,1]",
        "def solution(x, g, c):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    WIDTH = 512
    for j in nl.affine_range(2048 // WIDTH):
        bias = nl.load(c)
        tile = nl.load(x[:, nl.ds(j * WIDTH, WIDTH)])
        gate = nl.load(g[:, nl.ds(j * WIDTH, WIDTH)])
        power = nl.exp(tile * -1.0)
        swish = tile * nl.reciprocal(power + 1.0)
        moved = (swish * 2.0) + bias
        nl.store(y[:, nl.ds(j * WIDTH, WIDTH)], nl.maximum(moved * gate, gate - moved))
    return y
",
    ),
    (
        "place of the largest",
        "x:f32[256,512];c:f32[128,512]",
        "def solution(x, c):
    rows, columns = x.shape
    y = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(rows // 128):
        numbers = nl.load(c)
        tile = nl.load(x[i * 128:(i + 1) * 128, :])
        top = nl.max(tile, axis=[1], keepdims=True)
        hit = nl.equal(tile, top)
        above = nl.greater(0.5, tile)
        places = nl.maximum(nl.multiply(hit, numbers), nl.subtract(numbers, above))
        nl.store(y[i * 128:(i + 1) * 128, :], nl.max(places, axis=[1], keepdims=True))
    return y
",
    ),
    (
        "softmax of a narrow type",
        "x:f32[256,512];w:f32[128,512]",
        "def solution(x, w):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(rows // 128):
        tile = nl.load(x[i * 128:(i + 1) * 128, :])
        top = nl.max(tile, axis=[1], keepdims=True)
        powers = nl.exp(nl.subtract(tile, top), dtype=nl.bfloat16)
        total = nl.sum(powers, axis=[1], keepdims=True, dtype=nl.float32)
        again = nl.copy(powers, dtype=nl.float32)
        squares = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(nl.square, nl.subtract(tile, top), reduce_op=nl.add, reduce_res=squares)
        again = nl.multiply(again, squares)
        part = nl.multiply(nl.divide(again, total), nl.load(w), dtype=nl.float32)
        nl.store(y[i * 128:(i + 1) * 128, :], part)
    return y
",
    ),
    (
        "pieces with a largest each",
        "x:f32[128,2048]",
        "def solution(x):
    rows, n = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(n // 512):
        tile = nl.load(x[:, nl.ds(j * 512, 512)])
        top = nl.max(tile, axis=[1], keepdims=True)
        nl.store(y[:, nl.ds(j * 512, 512)], nl.divide(tile, top))
    return y
",
    ),
    (
        "pieces with a largest of all",
        "x:f32[128,2048]",
        "def solution(x):
    rows, n = x.shape
    y = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    largest = nl.full((128, 1), -1000.0, dtype=nl.float32, buffer=nl.sbuf)
    for j in nl.sequential_range(n // 512):
        tile = nl.load(x[:, nl.ds(j * 512, 512)])
        top = nl.max(tile, axis=[1], keepdims=True)
        largest[...] = nl.maximum(largest, top)
    nl.store(y, largest)
    return y
",
    ),
    (
        "halves",
        "x:f32[128,2048];c:f32[64,2048];s:f32[64,1]",
        "def solution(x, c, s):
    d, n = x.shape
    half = d // 2
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(n // 512):
        piece = nl.ds(j * 512, 512)
        upper = nl.load(x[0:half, piece])
        lower = nl.load(x[half:d, piece]) + nl.full((64, 1), 0.5, dtype=nl.float32)
        scale = nl.load(c[:, piece])
        top = nl.load(s)
        turned = nl.multiply(nl.subtract(upper, top), scale)
        nl.store(y[0:half, piece], turned)
        nl.store(y[half:d, piece], nl.multiply(lower, nl.exp(nl.load(s))))
    return y
",
    ),
    (
        "turn",
        "a:f32[256,512]",
        "def solution(a):
    m, n = a.shape
    b = nl.ndarray((n, m), dtype=a.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(m // 128):
        for k in nl.affine_range(n // 128):
            tile = nl.load(a[nl.ds(j * 128, 128), nl.ds(k * 128, 128)])
            nl.store(b[nl.ds(k * 128, 128), nl.ds(j * 128, 128)], nl.copy(nisa.nc_transpose(tile)))
    return b
",
    ),
    (
        "turned loads",
        "x:f32[512,128];y:f32[128,128]",
        "def solution(x, y):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    wide = nl.load_transpose2d(x[0:512, 0:128])
    square = nl.load_transpose2d(y[0:128, 0:128])
    nl.store(out, nl.copy(nisa.nc_matmul(square, wide)))
    return out
",
    ),
    (
        "scaled product",
        "x:f32[256,128];w:f32[256,1024]",
        "def turned(x, l):
    return nl.copy(nisa.nc_transpose(nl.copy(nisa.nc_transpose(nl.load(x[nl.ds(l * 128, 128), :])))))


def solution(x, w):
    out = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(2):
        total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
        first = turned(x, 0)
        for l in nl.affine_range(2):
            a = nl.multiply(nl.load(x[nl.ds(l * 128, 128), :]), 2.0)
            total += nisa.nc_matmul(a, nl.load(w[nl.ds(l * 128, 128), nl.ds(j * 512, 512)]))
        total += nisa.nc_matmul(first, nl.load(w[0:128, nl.ds(j * 512, 512)]))
        nl.store(out[:, nl.ds(j * 512, 512)], nl.copy(total))
    return out
",
    ),
    (
        "numbered tiles",
        "x:f32[512,128];y:f32[512,256]",
        "def solution(x, y):
    k, m = x.shape
    out = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((4, nl.par_dim(128), 128), dtype=x.dtype, buffer=nl.sbuf)
    for l in nl.affine_range(k // 128):
        tiles[l] = nl.load(x[nl.ds(l * 128, 128), :])
    total = nl.zeros((128, 256), dtype=nl.float32, buffer=nl.psum)
    for l in nl.affine_range(k // 128):
        total += nisa.nc_matmul(tiles[l], nl.load(y[nl.ds(l * 128, 128), :]))
    nl.store(out, nl.copy(total))
    return out
",
    ),
    (
        "norm",
        "x:f32[256,1024];g:f32[1024]",
        "def solution(x, g):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    kept = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.sequential_range(rows // 128):
        kept[...] = nl.load(x[i * 128:(i + 1) * 128, :])
        mean = nl.mean(kept, axis=1)
        var = nl.mean(kept * kept, axis=1) - mean * mean
        wide = nl.load(g.reshape((1, 1024))).broadcast_to((128, 1024))
        scaled = (kept - mean) * nl.rsqrt(var + 1e-3)
        nl.store(y[i * 128:(i + 1) * 128, :], scaled * wide)
    return y
",
    ),
    (
        "windows",
        "x:f32[256,130]",
        "def solution(x):
    h, w = x.shape
    y = nl.ndarray((h - 2, w - 2), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        p, k, j = nl.mgrid[0:128, 0:3, 0:w]
        rows = nl.load(x[i * 128 + p + k, j], mask=(i * 128 + p < h - 2))
        p, k, j, l = nl.mgrid[0:128, 0:3, 0:w - 2, 0:3]
        best = nl.max(rows[p, k, j + l], axis=[1, 3], mask=(i * 128 + p < h - 2))
        p, j = nl.mgrid[0:128, 0:w - 2]
        nl.store(y[i * 128 + p, j], best, mask=(i * 128 + p < h - 2))
    return y
",
    ),
    (
        "running sums",
        "x:f32[128,2048]",
        "def solution(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    carry = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    ones = nl.ones((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    for j in nl.sequential_range(4):
        tile = nl.load(x[:, nl.ds(j * 512, 512)])
        sums = nisa.tensor_tensor_scan(ones, tile, initial=carry, op0=nl.multiply, op1=nl.add)
        nl.store(y[:, nl.ds(j * 512, 512)], sums)
        carry[...] = nl.copy(sums[:, 511:512])
    return y
",
    ),
    (
        "two products",
        "x:f32[256,128];y:f32[128,128]",
        "def solution(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        at = nl.ds(i * 128, 128)
        turned = nl.copy(nisa.nc_transpose(nl.load(x[at, :])))
        powers = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
        powers[...] = nl.exp(turned)
        powers[0:64, :] = nl.copy(turned[0:64, :])
        # the second one
        product = nisa.nc_matmul(powers, nl.load(y))
        nl.store(out[at, :], nl.multiply(product, powers))
    return out
",
    ),
    (
        "causal weights",
        "q:f32[128,256];k:f32[128,256];v:f32[256,64]",
        "def solution(q, k, v):
    d, n = q.shape
    out = nl.ndarray((n, 64), dtype=q.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(n // 128):
        left = nl.load(q[:, nl.ds(i * 128, 128)])
        scores = nl.ndarray((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.sbuf)
        plain = nl.ndarray((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.affine_range(n // 128):
            right = nl.load(k[:, nl.ds(j * 128, 128)])
            plain[:, nl.ds(j * 128, 128)] = nl.copy(nisa.nc_matmul(left, right))
            row = nl.arange(128)[:, None]
            column = nl.arange(128)[None, :]
            scores[:, nl.ds(j * 128, 128)] = nisa.affine_select(pred=(i * 128 + row >= j * 128 + column), on_true_tile=plain[:, nl.ds(j * 128, 128)], on_false_value=-9984.0)
        powers = nl.exp(scores)
        weights = nl.divide(powers, nl.sum(powers, axis=[1]))
        total = nl.zeros((128, 64), dtype=nl.float32, buffer=nl.psum)
        for j in nl.affine_range(n // 128):
            block = nl.copy(nisa.nc_transpose(weights[:, nl.ds(j * 128, 128)]), dtype=nl.float32)
            total += nisa.nc_matmul(block, nl.load(v[nl.ds(j * 128, 128), :]))
        nl.store(out[nl.ds(i * 128, 128), :], nl.copy(nl.multiply(total, 2.0), dtype=out.dtype))
    return out
",
    ),
    (
        "weighed scans",
        "x:f32[64,1024];w:f32[64,4];r:f32[4,1024]",
        "import numpy as np


def solution(x, w, r):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray((rows, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.zeros((64, 1024), dtype=nl.float32, buffer=nl.sbuf)
    few = nl.zeros((64, 256), nl.float32)
    for s in nl.sequential_range(4):
        decay = nisa.activation(op=nl.tanh, data=tile, scale=nl.load(w[:, s:s + 1]))
        state = nisa.tensor_tensor_scan(decay, tile, initial=0, op0=nl.multiply, op1=nl.add)
        total += nl.multiply(state, nl.load(r[s:s + 1, :]).broadcast_to((64, columns)))
        few[...] = nl.add(few, nl.multiply(state[:, 0:256], decay[:, 0:256]))
    nl.store(y, total)
    nl.store(z, few)
    return y, z
",
    ),
    (
        "masks",
        "a:f32[256,1024];b:f32[200,1024]",
        "class Sizes:
    rows = 128
    columns = 512


def solution(a, b):
    n, d = a.shape
    y = nl.ndarray((n, d), dtype=a.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    grid = nl.mgrid[0:Sizes.rows, 0:Sizes.columns]
    rows = nl.arange(nl.tile_size.pmax)[:, None]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((n + 127) // 128):
        for j in nl.affine_range(d // Sizes.columns):
            whole = (i * 128 + rows < n) & (j * 512 + columns < d)
            part = i * 128 + rows < b.shape[0]
            x = nl.load(a[i * 128 + rows, j * 512 + columns], mask=whole)
            x = nl.maximum(x * 0.5, 0.0, mask=whole)
            x = nl.multiply(x, nl.load(a[i * 128 + grid.p, j * 512 + grid.x]))
            nl.store(y[i * 128 + rows, j * 512 + columns], value=x, mask=whole)
            w = nl.load(b[i * 128 + rows, j * 512 + columns], mask=part)
            nl.store(z[i * 128 + rows, j * 512 + columns], value=nl.exp(w, mask=part), mask=part)
    return y, z
",
    ),
    (
        "tiles in pieces",
        "x:f32[128,2048];w:f32[128,2048]",
        "def solution(x, w):
    n = x.shape[1]
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(n // 1024):
        tile = nl.load(x[0:128, nl.ds(j * 1024, 1024)])
        powers = nl.ndarray((nl.par_dim(128), 1024), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.affine_range(1024 // 512):
            at = nl.ds(i * 512, 512)
            powers[0:128, at] = nl.exp(tile[0:128, at])
        nl.store(y[0:128, nl.ds(j * 1024, 1024)], value=powers)
    carry = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    for j in nl.sequential_range(n // 1024):
        ones = nl.ones((128, 1024), dtype=nl.float32, buffer=nl.sbuf)
        tile = nl.load(w[0:128, nl.ds(j * 1024, 1024)])
        sums = nisa.tensor_tensor_scan(ones, tile, initial=carry, op0=nl.multiply, op1=nl.add)
        nl.store(z[0:128, nl.ds(j * 1024, 1024)], sums[:, 0:1024])
        carry[...] = nl.copy(sums[:, 1023:1024])
    return y, z
",
    ),
    (
        "causal weights of two loops",
        "q:f32[128,256];k:f32[128,256]",
        "def solution(q, k):
    d, n = q.shape
    out = nl.ndarray((n, n), dtype=q.dtype, buffer=nl.shared_hbm)
    scores = nl.ndarray((2, nl.par_dim(128), 256), dtype=nl.float32, buffer=nl.sbuf)
    for i in nl.affine_range(n // 128):
        left = nl.load(q[:, nl.ds(i * 128, 128)])
        for j in nl.affine_range(n // 128):
            right = nl.load(k[:, nl.ds(j * 128, 128)])
            product = nl.copy(nisa.nc_matmul(left, right))
            row = nl.arange(128)[:, None]
            column = nl.arange(128)[None, :]
            scores[i, :, nl.ds(j * 128, 128)] = nisa.affine_select(pred=(i * 128 + row >= j * 128 + column), on_true_tile=product, on_false_value=-9984.0)
    for i in nl.affine_range(n // 128):
        nl.store(out[nl.ds(i * 128, 128), :], nl.exp(scores[i]))
    return out
",
    ),
    (
        "sums in two loops",
        "x:f32[256,256];w:f32[256,512];z:f32[256,512]",
        "def solution(x, w, z):
    out = nl.ndarray((256, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    kept = nl.ndarray((2, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
    for l in nl.affine_range(2):
        kept[l] = nl.load(w[nl.ds(l * 128, 128), :])
    for i in nl.affine_range(2):
        columns = nl.ndarray((2, nl.par_dim(128), 128), dtype=nl.float32, buffer=nl.sbuf)
        for l in nl.affine_range(2):
            columns[l] = nl.copy(nisa.nc_transpose(nl.load(x[nl.ds(i * 128, 128), nl.ds(l * 128, 128)])))
        sums = nl.ndarray((nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.affine_range(2):
            total = nl.zeros((128, 256), dtype=nl.float32, buffer=nl.psum)
            for l in nl.affine_range(2):
                part = kept[l, 0:128, nl.ds(j * 256, 256)]
                total += nisa.nc_matmul(columns[l], part)
            sums[:, nl.ds(j * 256, 256)] = nl.add(total, nl.load(z[nl.ds(i * 128, 128), nl.ds(j * 256, 256)]))
        largest = nl.max(sums, axis=[1], keepdims=True)
        nl.store(out[nl.ds(i * 128, 128), :], nl.subtract(sums, largest))
    return out
",
    ),
    (
        "scans of wide tiles",
        "d:f32[128,1024];b:f32[4,1024];a:f32[128,4]",
        "def solution(d, b, a):
    y = nl.ndarray(d.shape, dtype=d.dtype, buffer=nl.shared_hbm)
    total = nl.zeros((128, 1024), dtype=nl.float32, buffer=nl.sbuf)
    for s in nl.affine_range(4):
        tile = nl.load(d[0:128, :])
        decay = nisa.activation(op=nl.sigmoid, data=tile, scale=nl.load(a[:, s:s + 1]))
        driven = nl.multiply(tile, nl.load(b[s:s + 1, :]).broadcast_to((128, 1024)))
        state = nisa.tensor_tensor_scan(decay, driven, initial=0, op0=nl.multiply, op1=nl.add)
        total += nl.multiply(state, tile)
    nl.store(y[:, :], total)
    return y
",
    ),
    (
        "two products in two loops",
        "q:f32[2,256,64];k:f32[64,128];v:f32[128,64]",
        "def solution(q, k, v):
    out = nl.ndarray((512, 64), dtype=q.dtype, buffer=nl.shared_hbm)
    for h in nl.affine_range(2):
        first = h * 256
        for i in nl.affine_range(2):
            left = nl.copy(nisa.nc_transpose(nl.load(q[h, nl.ds(i * 128, 128), :])))
            scores = nl.copy(nisa.nc_matmul(left, nl.load(k)))
            powers = nl.exp(scores)
            turned = nl.copy(nisa.nc_transpose(powers))
            nl.store(out[nl.ds(first + i * 128, 128), :], nl.copy(nisa.nc_matmul(turned, nl.load(v))))
    return out
",
    ),
    (
        "turned blocks",
        "x:f32[256,512]",
        "def solution(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        rows = nl.load(x[nl.ds(i * 128, 128), :])
        wide = nl.ndarray((nl.par_dim(128), 512), dtype=x.dtype, buffer=nl.sbuf)
        for j in nl.affine_range(4):
            wide[:, nl.ds(j * 128, 128)] = nl.copy(nisa.nc_transpose(rows[:, nl.ds(j * 128, 128)]))
        for j in nl.affine_range(4):
            out = nl.copy(nisa.nc_transpose(wide[:, nl.ds(j * 128, 128)]))
            nl.store(z[nl.ds(i * 128, 128), nl.ds(j * 128, 128)], out)
        for j in nl.affine_range(4):
            first = j * 128
            back = nl.copy(nisa.nc_transpose(wide[:, nl.ds(first, 128)]), dtype=nl.float32)
            both = nl.add(back, rows[:, nl.ds(first, 128)])
            nl.store(y[nl.ds(i * 128, 128), nl.ds(first, 128)], nl.multiply(both, 2.0))
    return y, z
",
    ),
];
