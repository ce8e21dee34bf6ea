import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def solution(img, f):
    batch, channels, height, width = img.shape
    outputs = f.shape[0]
    out = nl.ndarray((batch, outputs, height, width), dtype=img.dtype, buffer=nl.shared_hbm)
    for n in nl.affine_range(batch):
        padded = nl.zeros((nl.par_dim(channels), height + 2, width + 2), dtype=img.dtype, buffer=nl.sbuf)
        padded[:, 1:height + 1, 1:width + 1] = nl.load(img[n])
        weights = nl.load(f)
        for h in nl.affine_range(height // 16):
            total = nl.zeros((nl.par_dim(outputs), 16, width), dtype=nl.float32, buffer=nl.psum)
            for a in nl.affine_range(3):
                for b in nl.affine_range(3):
                    tap = nl.copy(nisa.nc_transpose(weights[:, :, a, b]))
                    total += nisa.nc_matmul(tap, padded[:, nl.ds(h * 16 + a, 16), nl.ds(b, width)])
            nl.store(out[n, :, nl.ds(h * 16, 16), :], nl.copy(total))
    return out
