import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def solution(img, f):
    batch, channels, height, width = img.shape
    outputs = f.shape[0]
    out = nl.ndarray((batch, outputs, height, width), dtype=img.dtype, buffer=nl.shared_hbm)
    weights = nl.ndarray((outputs, channels, 3, 3), dtype=f.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=weights, src=f)
    taps = []
    for a in range(3):
        for b in range(3):
            turned = nl.ndarray((channels, outputs), dtype=f.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=turned, data=weights[:, :, a, b])
            tap = nl.ndarray((channels, outputs), dtype=f.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=tap, src=turned)
            taps.append(tap)
    for n in range(batch):
        padded = nl.ndarray((channels, height + 2, width + 2), dtype=img.dtype, buffer=nl.sbuf)
        nisa.memset(dst=padded, value=0.0)
        nisa.dma_copy(dst=padded[:, 1:height + 1, 1:width + 1], src=img[n])
        for h in range(height // 16):
            total = nl.ndarray((outputs, 16, width), dtype=nl.float32, buffer=nl.psum)
            for a in range(3):
                for b in range(3):
                    nisa.nc_matmul(dst=total, stationary=taps[a * 3 + b], moving=padded[:, h * 16 + a:h * 16 + a + 16, b:b + width])
            rows = nl.ndarray((outputs, 16, width), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=rows, src=total)
            nisa.dma_copy(dst=out[n, :, h * 16:(h + 1) * 16, :], src=rows)
    return out
