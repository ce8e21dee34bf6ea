import nki
import nki.isa as nisa
import nki.language as nl


def weigh(scores, n, dtype):
    """Exponentials of `scores` less the largest of each row, largest, and sums."""
    largest = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    least = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=largest, op=nl.maximum, data=scores, axis=1)
    nisa.tensor_scalar(dst=least, data=largest, op0=nl.multiply, operand0=-1.0)
    powers = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=powers, op=nl.exp, data=scores, bias=least)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=powers, axis=1)
    return powers, largest, total


def turned(data, rows, columns, dtype):
    """`data` of `rows` partitions and `columns` columns, the other way around."""
    accumulator = nl.ndarray((columns, rows), dtype=data.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=accumulator, data=data)
    result = nl.ndarray((columns, rows), dtype=dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=accumulator)
    return result


def divided(result, total, d, dtype):
    """`result` with each row divided by its total."""
    inverse = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.reciprocal(dst=inverse, data=total)
    out = nl.ndarray((128, d), dtype=dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=out, data=result, op0=nl.multiply, operand0=inverse)
    return out


@nki.jit
def solution(q, k, v):
    d, n = k.shape
    o = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.shared_hbm)
    lse = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray((d, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=q)
    scores = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.sbuf)
    for j in range(n // 512):
        piece = slice(j * 512, (j + 1) * 512)
        right = nl.ndarray((d, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.dma_copy(dst=right, src=k[:, piece])
        product = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=product, stationary=left, moving=right)
        block = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=block, data=product, op0=nl.multiply, operand0=0.08838834764)
        # The queries are the last ones.
        nisa.affine_select(dst=scores[:, piece], pattern=[[-1, 512]], offset=n - 128 - j * 512, channel_multiplier=1, on_true_tile=block, on_false_value=-9984.0, cmp_op=nl.greater_equal)
    powers, largest, total = weigh(scores, n, nl.bfloat16)
    result = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.psum)
    for j in range(n // 128):
        piece = slice(j * 128, (j + 1) * 128)
        values = nl.ndarray((128, d), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.dma_copy(dst=values, src=v[piece, :])
        nisa.nc_matmul(dst=result, stationary=turned(powers[:, piece], 128, 128, nl.bfloat16), moving=values)
    nisa.dma_copy(dst=o, src=divided(result, total, d, o.dtype))
    logs = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=logs, op=nl.log, data=total)
    nisa.tensor_tensor(dst=logs, data1=logs, data2=largest, op=nl.add)
    nisa.dma_copy(dst=lse, src=logs)
    return o, lse
