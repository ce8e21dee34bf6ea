import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(img, f):
    batch, channels, _, width = img.shape
    out = nl.ndarray(img.shape, dtype=img.dtype, buffer=nl.shared_hbm)
    for n in range(batch):
        for c in range(channels // 128):
            rows = slice(c * 128, (c + 1) * 128)
            padded = nl.ndarray((128, width + 2), dtype=img.dtype, buffer=nl.sbuf)
            nisa.memset(dst=padded, value=0.0)
            nisa.dma_copy(dst=padded[:, 1:width + 1], src=img[n, rows, 0, :])
            taps = nl.ndarray((128, 3), dtype=f.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=taps, src=f[rows, 0, 0, :])
            total = nl.ndarray((128, width), dtype=img.dtype, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=total, data=padded[:, 0:width], op0=nl.multiply, operand0=taps[:, 0:1])
            for k in range(1, 3):
                term = nl.ndarray((128, width), dtype=img.dtype, buffer=nl.sbuf)
                nisa.tensor_scalar(dst=term, data=padded[:, k:k + width], op0=nl.multiply, operand0=taps[:, k:k + 1])
                nisa.tensor_tensor(dst=total, data1=total, data2=term, op=nl.add)
            nisa.dma_copy(dst=out[n, rows, 0, :], src=total)
    return out
