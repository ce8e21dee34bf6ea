#!/usr/bin/env python3
"""Times what the vendor's libraries take, through PyTorch, for the problems of the CUDA family.

    vendor.py PROBLEM...     names as `gemm-f16-4096x4096x4096`; a row for each that is known:
                             name, nanoseconds, calls

Times are those of events around one call on a device that is kept busy before, so that the
launches of the call follow each other, and with an L2 that was written and read through four
times over. What PyTorch makes of a function of one line (attention, layer normalization) is its
own kernel or several of cuBLAS and cuDNN; memory for results is taken beforehand where PyTorch
lets one say so.
"""

import re
import statistics
import sys

import torch
import torch.nn.functional as functional

CALLS = 21


def floats(*shape, kind=torch.float32):
    return (torch.rand(*shape, device="cuda") * 2 - 1).to(kind)


def product(kind, m, n, k):
    a, b = floats(m, k, kind=kind), floats(k, n, kind=kind)
    result = torch.empty(m, n, device="cuda", dtype=kind)
    return lambda: torch.mm(a, b, out=result)


def bytes_product(m, n, k):
    a = torch.randint(-8, 8, (m, k), device="cuda", dtype=torch.int8)
    b = torch.randint(-8, 8, (n, k), device="cuda", dtype=torch.int8).t()
    return lambda: torch._int_mm(a, b)


def attention(s, d):
    q, k, v = (floats(1, 1, s, d) for _ in range(3))
    return lambda: functional.scaled_dot_product_attention(q, k, v)


def of_rows(function):
    def made(m, n):
        x = floats(m, n)
        return lambda: function(x)

    return made


def normalization(function):
    def made(m, n):
        x, weight, bias = floats(m, n), floats(n), floats(n)
        return lambda: function(x, weight, bias)

    return made


def of_one(function):
    def made(n):
        x = floats(n)
        return lambda: function(x)

    return made


def histogram(n):
    x = torch.randint(0, 256, (n,), device="cuda", dtype=torch.int32)
    return lambda: torch.bincount(x, minlength=256)


def scan(n):
    x = torch.randint(-8, 8, (n,), device="cuda", dtype=torch.int32)
    return lambda: torch.cumsum(x, 0, dtype=torch.int32)


def added(n):
    x, y, z = floats(n), floats(n), floats(n)
    return lambda: torch.add(x, y, out=z)


def entropy(m, n):
    x = floats(m, n)
    labels = torch.randint(0, n, (m,), device="cuda")
    return lambda: functional.cross_entropy(x, labels, reduction="none")


def convolution(c, h, w, f):
    x, kernel = floats(1, c, h, w), floats(f, c, 3, 3)
    return lambda: functional.conv2d(x, kernel)


def depthwise(c, h, w):
    x, kernel = floats(1, c, h, w), floats(c, 1, 3, 3)
    return lambda: functional.conv2d(x, kernel, groups=c)


def top_k(m, n, k):
    x = floats(m, n)
    return lambda: torch.topk(x, k)


def transposition(m, n):
    x, y = floats(m, n), torch.empty(n, m, device="cuda")
    return lambda: y.copy_(x.t())


def batched(count, m, n, k):
    a, b = floats(count, m, k), floats(count, k, n)
    return lambda: torch.bmm(a, b)


KNOWN = {
    "attention-f32": attention,
    "conv2d-f32": convolution,
    "cross-entropy-f32": entropy,
    "dwconv-f32": depthwise,
    "gelu-f32": of_one(functional.gelu),
    "gemm-batched-f32": batched,
    "gemm-bf16": lambda *shape: product(torch.bfloat16, *shape),
    "gemm-f16": lambda *shape: product(torch.float16, *shape),
    "gemm-f32": lambda *shape: product(torch.float32, *shape),
    "gemm-i8": bytes_product,
    "histogram-i32": histogram,
    "layernorm-f32": normalization(
        lambda x, weight, bias: functional.layer_norm(x, x.shape[1:], weight, bias)
    ),
    "reduce-sum-f32": of_one(torch.sum),
    "rmsnorm-f32": normalization(
        lambda x, weight, bias: functional.rms_norm(x, x.shape[1:], weight)
    ),
    "scan-i32": scan,
    "softmax-f32": of_rows(lambda x: torch.softmax(x, 1)),
    "top-k-f32": top_k,
    "transpose-f32": transposition,
    "vector-add-f32": added,
}


def time(call, flush):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flush.add_(1)
    flush.sum()
    # The device is busy until the call is on its way to it.
    torch.cuda._sleep(400_000)
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e6


def main():
    properties = torch.cuda.get_device_properties(0)
    flush = torch.zeros(properties.L2_cache_size, device="cuda")
    # Single precision is what the problems ask for: no tf32.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    for name in sys.argv[1:]:
        head, _, shape = name.rpartition("-")
        make = KNOWN.get(head)
        if not make:
            continue
        try:
            call = make(*(int(it) for it in re.split("x", shape)))
            for _ in range(3):
                time(call, flush)
            times = [time(call, flush) for _ in range(CALLS)]
            print(f"{name}\t{statistics.median(times):.0f}\t{CALLS}", flush=True)
        except Exception as error:  # a row says what went wrong, the next one goes on
            print(f"{name}\terror\t{str(error).splitlines()[0][:200]}", flush=True)


main()
