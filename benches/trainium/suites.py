#!/usr/bin/env python3
"""Lays out suites for `autocomp sim calibrate --suite` from public repositories.

    suites.py MIRROR TABLE... OUT

MIRROR holds clones named `OWNER+NAME`, bare ones (or `OWNER+NAME/repo`) included. Each TABLE lists
measured latencies with the columns `id`, `device`, `latency_us` and `source`, which is
`OWNER/NAME[@COMMIT] PATH`; busy shares are taken over. OUT gets one folder for each machine with
`latencies.tsv` and the kernels. Texts of the repositories are read, never run. Rows whose kernel is
not in MIRROR are named and left out.
"""
import ast
import csv
import pathlib
import re
import subprocess
import sys

SHAPES = {  # inputs of the operators of NKIBench, as its references have them
    "adamw": "f32[10944,2048];f32[10944,2048];f32[10944,2048];f32[10944,2048]",
    "add_rmsnorm_matmul": "f32[4096,1024];f32[1024,2048];1e-5;f32[4096,1024];f32[1024]",
    "bmm": "f32[16,4096,64];f32[16,64,4096]",
    "bmm_softmax": "f32[16,4096,64];f32[16,64,4096]",
    "gqa_full": "f32[32,128,16,128];f32[1,8,4,128,8,128];f32[1,32,128,1024]",
    "lora": "f32[8,4,128,40,128];f32[40,128,12288];f32[40,128,128];f32[128,12288]",
    "mamba": "f32[256,7168];f32[256,7168];f32[256,16];f32[16,7168];f32[16,7168]",
    "matmul": "f32[32,128,40,128];f32[40,128,12288]",
    "matmul_add_rmsnorm": "f32[4096,2048];f32[2048,2048];1e-5;f32[4096,2048];f32[2048]",
    "rmsnorm_matmul": "f32[32,128,1024];f32[8,128,2048]",
    "rope_single_freq_apply": "f32[128,262144];f32[64,262144];f32[64,262144]",
    "silu": "f32[128,32,7168]",
    "swiglu": "f32[8,4,128,8,128];f32[8,128,3072];f32[24,128,1024];f32[8,128,3072]",
    "transpose_matmul": "f32[128,16,4096];f32[128,16,10944]",
}
TRACES = {  # function and inputs of the traces of Autocomp
    "gemm": ("test", "bf16[8192,4096];bf16[8192,8192]"),
    "mamba": ("test", "f32[1,256,2048];f32[1,256,2048];f32[256,16];f32[1,16,2048];f32[1,16,2048]"),
    "attention": ("test", "bf16[128,4096];bf16[128,4096];bf16[128,4096]"),
    "sdattention": ("test", "f32[4096,64];f32[4096,64];f32[4096,64]"),
    "conv1d": ("test", "f32[8,512,1,2048];f32[512,1,1,3];padding=((0,0),(1,1))"),
}
SHARES = ["dma_percent", "vector_percent", "scalar_percent", "tensor_percent"]
IMPORTS = """import math
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
"""


def text_of(mirror, repository, path):
    """Text of a file of a repository, or None."""
    base = mirror / repository.replace("/", "+")
    for folder in (base / "repo", base / ".git", base):
        if (folder / "objects").is_dir():
            command = ["git", f"--git-dir={folder}", "show", f"HEAD:{path}"]
            shown = subprocess.run(command, capture_output=True, text=True, check=False)
            return shown.stdout if shown.returncode == 0 else None
    return None


def node_of(text, number):
    """The code of a trace's node: from the outermost candidate inwards."""
    node = ast.parse(text, mode="eval").body
    for _ in range(number):
        node = next(it.value for it in node.keywords if it.arg == "parent")
    return IMPORTS + next(it.value for it in node.keywords if it.arg == "code").value


def named(inputs):
    """Gives the inputs that have no name one each, in the order of the parameters."""
    parts = enumerate(inputs.split(";"))
    name = lambda at, it: it if "=" in it else f"input{at}{':' if '[' in it else '='}{it}"
    return ";".join(name(at, it) for at, it in parts)


def plan_of(row):
    """Repository, path, entry, inputs, node of a trace, constants to set; or None."""
    name, source = row["id"], row["source"]
    if name.startswith("aws.mamba."):
        version, sizes = name.split(".")[2:]
        length, channels = re.fullmatch(r"seq(\d+)_ch(\d+)", sizes).groups()
        wide, narrow = f"f32[1,{channels},{length}]", f"f32[1,16,{length}]"
        inputs = f"{wide};{wide};f32[{channels},16];{narrow};{narrow}"
        path = "src/nki_samples/tutorials/fused_mamba/mamba_nki_kernels.py"
        return "aws-neuron/nki-samples", path, f"mamba_{version}", inputs, None, {}
    match = re.match(r"([\w.-]+/[\w.-]+?)(?:@\w+)? (\S+\.(?:py|md|txt))", source)
    if not match:
        return None
    repository, path = match.groups()
    node = re.search(r"ast node (\d+)", source)
    if node:
        entry, inputs = TRACES[name.split(".")[2]]
        return repository, path, entry, inputs, int(node[1]), {}
    if name.startswith("cs149."):
        course = "xaviergonzalez/asst4-trainium2", "part1/kernels.py"
        if "transpose.1024" in name:
            return *course, "matrix_transpose", "f32[1024,1024]", None, {}
        sizes = re.fullmatch(r"n=(\d+) (ROW_CHUNK|FREE_DIM)=(\d+)", row["shape"])
        if not sizes:
            return None
        count, constant, value = sizes.groups()
        kernel = "vector_add_tiled" if constant == "ROW_CHUNK" else "vector_add_stream"
        shape = f"f32[{count},1]" if constant == "ROW_CHUNK" else f"f32[{count}]"
        return *course, kernel, f"{shape};{shape}", None, {constant: value}
    if path.startswith("NKIBench/") or "/runs/" in path:
        return repository, path, "kernel", SHAPES[row["kernel"]], None, {}
    return None


def main():
    """Lays out the suites."""
    mirror, *tables, out = map(pathlib.Path, sys.argv[1:])
    suites = {}
    for row in (row for table in tables for row in csv.DictReader(table.open(), delimiter="\t")):
        planned = plan_of(row) if row.get("kind", "measured") == "measured" else None
        text = planned and text_of(mirror, *planned[:2])
        if not text:
            print(f"left out: {row['id']}", file=sys.stderr)
            continue
        repository, path, entry, inputs, node, constants = planned
        text = text if node is None else node_of(text, node)
        for constant, value in constants.items():
            text = re.sub(rf"(\b{constant} = )\d+", rf"\g<1>{value}", text)
        machine = row["device"].split()[0].split(".")[0]
        suite = machine + ("-small" if row["id"].startswith("cs149") else "")
        group = row["id"].split(".")[0] if row["id"].startswith("accelopt") else row["kernel"]
        group = row["id"].rsplit(".", 1)[0].replace("aws.", "aws-") if "autocomp" in row["id"] else group
        group = "mamba-tutorial" if row["id"].startswith("aws.mamba") else group
        file = row["id"] + ".py"
        shares = [row.get(share) or "" for share in SHARES]
        line = [row["id"], file, entry, named(inputs), machine, row["latency_us"], group, *shares]
        suites.setdefault(suite, []).append(line)
        (out / suite).mkdir(parents=True, exist_ok=True)
        (out / suite / file).write_text(text)
    header = ["id", "file", "entry", "inputs", "machine", "latency_us", "group", *SHARES]
    for suite, lines in suites.items():
        table = "\n".join("\t".join(line) for line in [header, *lines]) + "\n"
        (out / suite / "latencies.tsv").write_text(table)
        print(f"{out / suite}: {len(lines)} kernels")


main()
