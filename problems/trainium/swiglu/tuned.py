import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


def turned(x, i, steps):
    """Loads 128 rows of `x` from row `i * 128` on, and turns them around in blocks of 128 columns."""
    rows = nl.load(x[nl.ds(i * 128, 128), :])
    blocks = nl.ndarray((steps, nl.par_dim(128), 128), dtype=x.dtype, buffer=nl.sbuf)
    for l in nl.affine_range(steps):
        blocks[l] = nl.copy(nisa.nc_transpose(rows[:, nl.ds(l * 128, 128)]))
    return blocks


@nki.jit
def solution(x, w_up, w_down, w_gate):
    m, k = x.shape
    n = w_up.shape[1]
    out = nl.ndarray((m, k), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        rows = turned(x, i, k // 128)
        hidden = nl.ndarray((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.affine_range(n // 512):
            up = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            gate = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for l in nl.affine_range(k // 128):
                up += nisa.nc_matmul(rows[l], nl.load(w_up[nl.ds(l * 128, 128), nl.ds(j * 512, 512)]))
                gate += nisa.nc_matmul(rows[l], nl.load(w_gate[nl.ds(l * 128, 128), nl.ds(j * 512, 512)]))
            active = nisa.activation(op=nl.silu, data=gate)
            hidden[:, nl.ds(j * 512, 512)] = nl.multiply(active, up)
        total = nl.zeros((128, k), dtype=nl.float32, buffer=nl.psum)
        for l in nl.affine_range(n // 128):
            block = nl.copy(nisa.nc_transpose(hidden[:, nl.ds(l * 128, 128)]))
            total += nisa.nc_matmul(block, nl.load(w_down[nl.ds(l * 128, 128), :]))
        nl.store(out[nl.ds(i * 128, 128), :], nl.copy(total))
    return out
