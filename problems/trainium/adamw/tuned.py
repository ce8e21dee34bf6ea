import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def solution(theta, g, m, v):
    rows, columns = theta.shape
    out = nl.ndarray(theta.shape, dtype=theta.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(rows // 128):
        at = nl.ds(i * 128, 128)
        t = nl.load(theta[at, :])
        grad = nl.load(g[at, :])
        old = nl.load(m[at, :])
        spread = nl.load(v[at, :])
        # 0.1 (g + 9 m): the factor goes into the step.
        first = nisa.scalar_tensor_tensor(data=old, op0=np.multiply, operand0=9.0, op1=np.add, operand1=grad)
        # v_hat = 999 v + g g; its root and the small term on the scalar engine.
        squares = nisa.activation(op=np.square, data=grad)
        second = nisa.scalar_tensor_tensor(data=spread, op0=np.multiply, operand0=999.0, op1=np.add, operand1=squares)
        factor = nisa.activation(op=nl.rsqrt, data=second, bias=nl.full((128, 1), 1e-12, dtype=nl.float32))
        step = nisa.tensor_tensor(first, factor, np.multiply)
        scaled = nisa.activation(op=nl.copy, data=step, scale=0.001)
        result = nisa.scalar_tensor_tensor(data=t, op0=np.multiply, operand0=1.0 - 1e-5, op1=np.subtract, operand1=scaled)
        nl.store(out[at, :], result)
    return out
