import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(delta, u, A, B, C):
    batch, channels, length = delta.shape
    states = A.shape[1]
    y = nl.ndarray(delta.shape, dtype=delta.dtype, buffer=nl.shared_hbm)
    ones = nl.ndarray((1, 128), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    for b in range(batch):
        for c in range(channels // 128):
            rows = slice(c * 128, (c + 1) * 128)
            rates = nl.ndarray((128, states), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=rates, src=A[rows, :])
            total = nl.ndarray((128, length), dtype=nl.float32, buffer=nl.sbuf)
            nisa.memset(dst=total, value=0.0)
            d = nl.ndarray((128, length), dtype=nl.float32, buffer=nl.sbuf)
            driven = nl.ndarray((128, length), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=d, src=delta[b, rows, :])
            nisa.dma_copy(dst=driven, src=u[b, rows, :])
            nisa.tensor_tensor(dst=driven, data1=d, data2=driven, op=nl.multiply)
            for s in range(states):
                decay = nl.ndarray((128, length), dtype=nl.float32, buffer=nl.sbuf)
                nisa.activation(dst=decay, op=nl.exp, data=d, scale=rates[:, s:s + 1])
                weights = nl.ndarray((1, length), dtype=nl.float32, buffer=nl.sbuf)
                gains = nl.ndarray((1, length), dtype=nl.float32, buffer=nl.sbuf)
                nisa.dma_copy(dst=weights, src=B[b, s:s + 1, :])
                nisa.dma_copy(dst=gains, src=C[b, s:s + 1, :])
                inputs = nl.ndarray((128, length), dtype=nl.float32, buffer=nl.sbuf)
                out = nl.ndarray((128, length), dtype=nl.float32, buffer=nl.sbuf)
                # A row is spread over the partitions by a product with ones.
                for j in range(length // 512):
                    piece = slice(j * 512, (j + 1) * 512)
                    wide = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
                    nisa.nc_matmul(dst=wide, stationary=ones, moving=weights[:, piece])
                    nisa.tensor_tensor(dst=inputs[:, piece], data1=driven[:, piece], data2=wide, op=nl.multiply)
                state = nl.ndarray((128, length), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_tensor_scan(dst=state, data0=decay, data1=inputs, initial=0.0, op0=nl.multiply, op1=nl.add)
                for j in range(length // 512):
                    piece = slice(j * 512, (j + 1) * 512)
                    wide = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
                    nisa.nc_matmul(dst=wide, stationary=ones, moving=gains[:, piece])
                    nisa.tensor_tensor(dst=out[:, piece], data1=state[:, piece], data2=wide, op=nl.multiply)
                nisa.tensor_tensor(dst=total, data1=total, data2=out, op=nl.add)
            nisa.dma_copy(dst=y[b, rows, :], src=total)
    return y
