//! Kernels of the second dialect that are rewritten.

/// Kernels with their inputs.
pub(super) const KERNELS: &[(&str, &str, &str)] = &[(
    "second product",
    "x:f32[256,256];y:f32[256,1024]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, y):
    k, m = x.shape
    _, n = y.shape
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(m // 128):
        for j in range(n // 512):
            acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for p in range(k // 128):
                a = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
                b = nl.ndarray((128, 512), dtype=y.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=a, src=x[p * 128:(p + 1) * 128, i * 128:(i + 1) * 128])
                nisa.dma_copy(dst=b, src=y[p * 128:(p + 1) * 128, j * 512:(j + 1) * 512])
                nisa.nc_matmul(dst=acc, stationary=a, moving=b)
            o = nl.ndarray((128, 512), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=o, src=acc)
            nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, j * 512:(j + 1) * 512], src=o)
    return out
",
),
(
    "second causal weights",
    "q:f32[256,128];k:f32[128,256];v:f32[256,64]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def weigh(scores, n):
    \"\"\"Exponentials of `scores`, and their sums.\"\"\"
    powers = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=powers, op=nl.exp, data=scores)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=powers, axis=1)
    return powers, total


def turned(data, rows, columns):
    accumulator = nl.ndarray((columns, rows), dtype=data.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=accumulator, data=data)
    result = nl.ndarray((columns, rows), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=accumulator)
    return result


def solution(q, k, v):
    n, d = q.shape
    out = nl.ndarray((n, 64), dtype=q.dtype, buffer=nl.shared_hbm)
    for i in range(n // 128):
        rows = nl.ndarray((128, d), dtype=q.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=rows, src=q[i * 128:(i + 1) * 128, :])
        nisa.tensor_scalar(dst=rows, data=rows, op0=nl.multiply, operand0=0.125)
        left = turned(rows, 128, d)
        scores = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.sbuf)
        for j in range(n // 128):
            piece = slice(j * 128, (j + 1) * 128)
            right = nl.ndarray((d, 128), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=right, src=k[:, piece])
            product = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=product, stationary=left, moving=right)
            block = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=block, src=product)
            nisa.affine_select(dst=scores[:, piece], pattern=[[-1, 128]], offset=i * 128 - j * 128, channel_multiplier=1, on_true_tile=block, on_false_value=-9984.0, cmp_op=nl.greater_equal)
        powers, total = weigh(scores, n)
        result = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)
        for j in range(n // 128):
            piece = slice(j * 128, (j + 1) * 128)
            values = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=values, src=v[piece, :])
            nisa.nc_matmul(dst=result, stationary=turned(powers[:, piece], 128, 128), moving=values)
        inverse = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=inverse, data=total)
        o = nl.ndarray((128, 64), dtype=out.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=o, data=result, op0=nl.multiply, operand0=inverse)
        wide = nl.ndarray((128, 64), dtype=out.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=wide, data1=o, data2=result, op=nl.add)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, :], src=wide)
    return out
",
),
(
    "second choices",
    "x:f32[128,256]",
    "import nki.isa as nisa
import nki.language as nl


def solution(x):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    same = tile
    if columns < 100:
        nisa.tensor_scalar(dst=same, data=same, op0=nl.multiply, operand0=2.0)
    else:
        nisa.tensor_scalar(dst=same, data=same, op0=nl.multiply, operand0=0.5)
    nisa.dma_copy(dst=y, src=same)
    return y
",
),
(
    "second spellings",
    "x:f32[128,1024];c:f32[64,1024];s:f32[64,1024];w:f32[128,4]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def bring(dst, src):
    nisa.dma_copy(dst, src)


def fresh(rows, columns):
    assert rows <= 128
    return nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)


def halved(data):
    result = fresh(128, 4)
    nisa.activation(result, nl.copy, data, scale=0.5)
    return result


def solution(x, c, s, w):
    d, n = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray((128, n - 2), dtype=x.dtype, buffer=nl.shared_hbm)
    weights = nl.ndarray((128, 4), dtype=w.dtype, buffer=nl.sbuf)
    bring(weights, w)
    both = [halved(weights) for m in range(2)]
    for j in range(n // 512):
        piece = slice(j * 512, (j + 1) * 512)
        parts = []
        for source in (x[0:64, piece], x[64:d, piece], c[:, piece], s[:, piece]):
            part = fresh(64, 512)
            nisa.dma_copy(part, source)
            parts.append(part)
        upper, lower, cosine, sine = parts
        for row, first, second, op in ((0, cosine, sine, nl.subtract), (64, sine, cosine, nl.add)):
            left = fresh(64, 512)
            right = fresh(64, 512)
            nisa.tensor_tensor(left, upper, first, op)
            nisa.tensor_tensor(right, lower, second, nl.multiply)
            nisa.tensor_tensor(dst=left, data1=left, data2=right, op=op)
            nisa.dma_copy(dst=y[row:row + 64, piece], src=left)
    best = fresh(128, n - 2)
    tile = fresh(128, n)
    nisa.dma_copy(tile, x)
    for k in range(3):
        window = tile[:, k:k + n - 2]
        if k == 0:
            nisa.tensor_copy(dst=best, src=window)
        else:
            nisa.tensor_tensor(dst=best, data1=best, data2=window, op=nl.maximum)
    for k in range(1, 3):
        for at, one in enumerate(both):
            nisa.tensor_scalar(dst=best, data=best, op0=nl.add if at == 0 else nl.multiply, operand0=one[:, k:k + 1])
    nisa.dma_copy(dst=z, src=best)
    return y, z
",
),
(
    "second rows",
    "x:f32[256,1024];g:f32[256,1024]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, g):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(2):
        rows = nl.ds(i * 128, 128)
        for j in range(2):
            piece = nl.ds(j * 512, 512)
            tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[rows, piece])
            gate = nl.ndarray((128, 512), dtype=g.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=gate, src=g[rows, piece])
            power = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation(dst=power, op=nl.exp, data=tile, scale=0.5)
            both = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=both, data1=power, data2=gate, op=nl.multiply)
            out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=out, src=both)
            nisa.dma_copy(dst=y[rows, piece], src=out)
    return y
",
),
(
    "second two products",
    "x:f32[256,128];y:f32[128,128]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    right = nl.ndarray((128, 128), dtype=y.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=right, src=y)
    for i in range(2):
        at = nl.ds(i * 128, 128)
        rows = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=rows, src=x[at, :])
        turned = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_transpose(dst=turned, data=rows)
        powers = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=powers, op=nl.exp, data=turned)
        half = powers[0:64, :]
        product = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=product, stationary=powers, moving=right)
        result = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=result, data1=product, data2=powers, op=nl.multiply)
        nisa.tensor_tensor(dst=result[0:64, :], data1=product[0:64, :], data2=half, op=nl.add)
        nisa.dma_copy(dst=out[at, :], src=result)
    return out
",
),
(
    "second wide stores",
    "x:f32[256,1024];g:f32[128,1024]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, g):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray((2, 128, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    gain = nl.ndarray((128, columns), dtype=g.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=gain, src=g)
    for i in range(rows // 128):
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:(i + 1) * 128, :])
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
        scaled = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=scaled, op=nl.tanh, data=tile[:, 0:columns], bias=total)
        result = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=result, data1=scaled, data2=gain, op=nl.multiply)
        nisa.dma_copy(dst=y[i * 128:(i + 1) * 128, :], src=result)
        both = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        for j in range(columns // 512):
            piece = nl.ds(j * 512, 512)
            nisa.tensor_tensor(dst=both[:, piece], data1=tile[:, piece], data2=gain[:, piece], op=nl.add)
        nisa.dma_copy(dst=z[i, :, 0:columns], src=both)
    return y, z
",
),
(
    "second turned loads",
    "x:f32[512,128];y:f32[128,128]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, y):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    wide = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=wide, src=x[0:512, 0:128])
    both = nl.ndarray((128, 256), dtype=y.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=both[:, 0:128], src=y)
    nisa.dma_transpose(dst=both[:, 128:256], src=y[0:128, 0:128])
    product = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=product, stationary=both[:, 128:256], moving=wide)
    result = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=product)
    nisa.dma_copy(dst=out, src=result)
    return out
",
),
(
    "second by columns",
    "x:f32[128,8,8];w:f32[128,8]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, w):
    y = nl.ndarray((128, 4, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    g = nl.load(w)
    o = nl.ndarray((128, 4, 4), dtype=x.dtype, buffer=nl.sbuf)
    for i in range(4):
        for j in range(4):
            a = nl.add(t[:, 2 * i, 2 * j:2 * j + 1], t[:, 2 * i + 1, 2 * j:2 * j + 1])
            b = nl.add(t[:, 2 * i, 2 * j + 1:2 * j + 2], t[:, 2 * i + 1, 2 * j + 1:2 * j + 2])
            nisa.tensor_scalar(dst=o[:, i, j:j + 1], data=nl.add(a, b), op0=nl.multiply, operand0=g[:, 3:4])
    nl.store(y, o)
    # Pieces side by side, and what one iteration makes for the next.
    u = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)
    for k in range(2):
        nisa.activation(dst=u[:, k * 4:k * 4 + 4], op=nl.tanh, data=g[:, k * 4:k * 4 + 4], scale=g[:, 0:1])
    for k in range(7):
        nisa.tensor_tensor(dst=u[:, k + 1:k + 2], data1=u[:, k:k + 1], data2=g[:, k:k + 1], op=nl.add)
    for k in range(8):
        nisa.tensor_scalar(dst=u[:, k:k + 1], data=g[:, 7 - k:8 - k], op0=nl.multiply, operand0=2.0)
        nisa.tensor_scalar(dst=u[:, k:k + 1], data=u[:, k:k + 1], op0=nl.add, operand0=g[:, k:k + 1])
    nl.store(z, u)
    return y, z
",
),
(
    "second rows spread by products",
    "x:f32[256,1024];b:f32[2,1024]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, b):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ndarray((1, 128), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    twos = nl.ndarray((1, 128), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=twos, value=2.0)
    for i in range(2):
        t = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[i * 128:(i + 1) * 128, :])
        row = nl.ndarray((1, 1024), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=row, src=b[i:i + 1, :])
        other = nl.ndarray((1, 1024), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=other, src=b[1 - i:2 - i, :], )
        for j in range(2):
            piece = slice(j * 512, (j + 1) * 512)
            wide = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=wide, stationary=ones, moving=row[:, piece])
            nisa.tensor_tensor(dst=t[:, piece], data1=t[:, piece], data2=wide, op=nl.multiply)
            # Twice the row.
            both = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=both, stationary=twos, moving=other[:, piece])
            nisa.tensor_tensor(dst=t[:, piece], data1=t[:, piece], data2=both, op=nl.add)
        nisa.dma_copy(dst=y[i * 128:(i + 1) * 128, :], src=t)
    return y
",
),
(
    "second turned blocks",
    "x:f32[256,512]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x):
    n, d = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(n // 128):
        rows = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=rows, src=x[i * 128:(i + 1) * 128, :])
        wide = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        for j in range(4):
            block = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=block, data=rows[:, j * 128:(j + 1) * 128])
            nisa.tensor_copy(dst=wide[:, j * 128:(j + 1) * 128], src=block)
        # What is turned is added to what lies beside, and read through names of parts.
        for j in range(4):
            piece = slice(j * 128, (j + 1) * 128)
            beside = rows[:, piece]
            back = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=back, data=wide[:, piece])
            kept = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=kept, src=back, engine=nisa.scalar_engine)
            both = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=both, data1=kept, data2=beside, op=nl.subtract)
            nisa.tensor_tensor(dst=both, data1=both, data2=wide[:, piece], op=nl.add)
            nisa.dma_copy(dst=y[i * 128:(i + 1) * 128, piece], src=both)
        # Each iteration turns what the one before copied: nothing of that is done at once.
        carried = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=carried, src=wide[:, 0:128])
        for j in range(3):
            turned = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=turned, data=carried)
            nisa.tensor_copy(dst=carried, src=turned)
        nisa.tensor_tensor(dst=wide[:, 0:128], data1=carried, data2=wide[:, 0:128], op=nl.add)
        for j in range(4):
            piece_2 = slice(j * 128, (j + 1) * 128)
            again = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=again, data=wide[:, piece_2])
            out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=out, src=again)
            nisa.dma_copy(dst=z[i * 128:(i + 1) * 128, piece_2], src=out)
    return y, z
",
),
(
    "second rows of few partitions",
    "x:f32[128,1024];c:f32[64,1024]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, c):
    d, n = x.shape
    half = d // 2
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for j in range(n // 256):
        piece = slice(j * 256, (j + 1) * 256)
        parts = []
        for source in (x[0:half, piece], x[half:d, piece], c[:, piece]):
            part = nl.ndarray((half, 256), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=part, src=source)
            parts.append(part)
        upper, lower, factor = parts
        for row, first, op in ((0, upper, nl.subtract), (half, lower, nl.add)):
            left = nl.ndarray((half, 256), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=left, data1=first, data2=factor, op=nl.multiply)
            nisa.tensor_tensor(dst=left, data1=left, data2=lower, op=op)
            nisa.dma_copy(dst=y[row:row + half, piece], src=left)
    return y
",
),
];
