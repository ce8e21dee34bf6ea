import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def solution(img, f):
    batch, channels, height, width = img.shape
    outputs = f.shape[0]
    out = nl.ndarray((batch, outputs, height, width), dtype=img.dtype, buffer=nl.shared_hbm)
    # The taps are turned around once.
    weights = nl.load(f)
    taps = nl.ndarray((3, 3, nl.par_dim(channels), outputs), dtype=f.dtype, buffer=nl.sbuf)
    for a in nl.affine_range(3):
        for b in nl.affine_range(3):
            taps[a, b] = nl.copy(nisa.nc_transpose(weights[:, :, a, b]))
    for n in nl.affine_range(batch):
        padded = nl.zeros((nl.par_dim(channels), height + 2, width + 2), dtype=img.dtype, buffer=nl.sbuf)
        padded[:, 1:height + 1, 1:width + 1] = nl.load(img[n])
        whole = nl.ndarray((nl.par_dim(outputs), height, width), dtype=out.dtype, buffer=nl.sbuf)
        for h in nl.affine_range(height // 16):
            total = nl.zeros((nl.par_dim(outputs), 16, width), dtype=nl.float32, buffer=nl.psum)
            for a in nl.affine_range(3):
                for b in nl.affine_range(3):
                    total += nisa.nc_matmul(taps[a, b], padded[:, nl.ds(h * 16 + a, 16), nl.ds(b, width)])
            whole[:, nl.ds(h * 16, 16), :] = nl.copy(total)
        nl.store(out[n], whole)
    return out
