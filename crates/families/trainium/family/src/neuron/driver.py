"""Runs beside the vendor's tools: `compile` makes an executable of a kernel, `run` runs one.

Both read `inputs.json`, a list of {"dtype", "shape", "file"}. Only `compile` runs the kernel's
Python; what it prints or returns decides nothing. `run` loads the executable through the runtime's
C library and writes the outputs as they are in memory.
"""

import ctypes
import json
import sys


def numpy_type(name):
    import numpy
    if name == "bfloat16" or name.startswith("float8"):
        import ml_dtypes
        return numpy.dtype(getattr(ml_dtypes, name))
    return numpy.dtype(name)


def inputs(folder):
    import numpy
    arrays = []
    with open(f"{folder}/inputs.json") as file:
        for entry in json.load(file):
            kind = numpy_type(entry["dtype"])
            if entry["file"]:
                data = numpy.fromfile(f"{folder}/{entry['file']}", dtype=kind)
                arrays.append(data.reshape(entry["shape"]))
            else:
                arrays.append(numpy.zeros(entry["shape"], dtype=kind))
    return arrays


def compile_kernel(folder, entry, dialect, executable):
    import importlib.util
    import os
    import shutil
    spec = importlib.util.spec_from_file_location("kernel", f"{folder}/kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, entry)
    function = getattr(function, "func", function)
    arrays = inputs(folder)
    if dialect == "nki1":
        import neuronxcc.nki as nki
        nki.baremetal(function, save_neff_name=executable)(*arrays)
    else:
        from nki.framework.compiled import CompileKernel
        made = f"{folder}/artifacts"
        CompileKernel(func=function, artifacts_dir=made, _enable_simulation=True)(*arrays)
        shutil.copy2(os.path.join(made, "kernel.neff"), executable)


class TensorInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 256),
        ("usage", ctypes.c_int),
        ("size", ctypes.c_size_t),
        ("dtype", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_uint32)),
        ("ndim", ctypes.c_uint32),
    ]


def run(folder, executable, library):
    runtime = ctypes.CDLL(library)

    def call(name, *arguments):
        code = getattr(runtime, name)(*arguments)
        if code != 0:
            raise SystemExit(f"{name} failed with code {code}")

    def wide(number):
        return ctypes.c_size_t(number)

    call("nrt_init", 1, b"", b"")
    with open(executable, "rb") as file:
        program = file.read()
    model, info = ctypes.c_void_p(), ctypes.c_void_p()
    call("nrt_load", program, wide(len(program)), ctypes.c_int32(0), ctypes.c_int32(-1), ctypes.byref(model))
    call("nrt_get_model_tensor_info", model, ctypes.byref(info))
    count = ctypes.cast(info, ctypes.POINTER(ctypes.c_uint64)).contents.value
    described = ctypes.cast(
        ctypes.c_void_p(info.value + ctypes.sizeof(ctypes.c_uint64)), ctypes.POINTER(TensorInfo)
    )
    sets = [ctypes.c_void_p(), ctypes.c_void_p()]
    for one in sets:
        call("nrt_allocate_tensor_set", ctypes.byref(one))
    arrays, outputs, taken = inputs(folder), [], 0
    for at in range(count):
        entry = described[at]
        tensor = ctypes.c_void_p()
        call("nrt_tensor_allocate", 0, 0, wide(entry.size), entry.name, ctypes.byref(tensor))
        is_input = entry.usage == 0
        call("nrt_add_tensor_to_tensor_set", sets[0 if is_input else 1], entry.name, tensor)
        if is_input:
            content = arrays[taken].tobytes()
            taken += 1
            if len(content) != entry.size:
                raise SystemExit(f"input {taken} has {len(content)} bytes; the executable wants {entry.size}")
            call("nrt_tensor_write", tensor, content, wide(0), wide(entry.size))
        else:
            # What the kernel leaves unwritten must not look like a result.
            call("nrt_tensor_write", tensor, b"\xff" * entry.size, wide(0), wide(entry.size))
            outputs.append((tensor, entry.size))
    call("nrt_execute", model, sets[0], sets[1])
    for at, (tensor, size) in enumerate(outputs):
        content = ctypes.create_string_buffer(size)
        call("nrt_tensor_read", tensor, content, wide(0), wide(size))
        with open(f"{folder}/output{at}.bin", "wb") as file:
            file.write(content.raw)
    runtime.nrt_close()


if __name__ == "__main__":
    action, *rest = sys.argv[1:]
    if action == "compile":
        compile_kernel(*rest)
    else:
        run(*rest)
