"""Calls the function `reference` of a problem for each case and sends what it returns.

Reads `reference.py` in its folder, and from standard input a line that describes the problem
and, behind a byte 1 for each case, its inputs. Answers, on what was standard output: for each case
a byte 0 and the outputs, then a byte 2 and, up to the end, a JSON object with the files that decided
them and the processor time that was spent; or a byte 1 and, up to the end, a JSON object that says
what is wrong. If it is given the numbers of two pipes, these take the place of standard input and
output, and it says with a byte 3 that it has started.
"""

import json
import os
import struct
import sys
import time

is_standing = len(sys.argv) == 3
if is_standing:
    requests, answers = (os.fdopen(int(it), how) for it, how in zip(sys.argv[1:], ("rb", "wb")))
else:
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What the reference prints is no answer.
    os.dup2(2, 1)

FILE = "reference.py"
# Bytes of code that Python keeps beside a module, which is listed itself.
COMPILED = ".pyc"
WHOLE = "bBhHiIlLqQ?"
# Types of PyTorch for the forms in which numbers are exchanged.
TORCH = {
    "b": "int8",
    "B": "uint8",
    "h": "int16",
    "H": "uint16",
    "i": "int32",
    "I": "uint32",
    "?": "bool",
    "f": "float32",
    "d": "float64",
}


class Refusal(Exception):
    """What is wrong, in words, and of which kind."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind
        self.message = message


def said(error):
    """Returns what an exception says, after its line in the reference."""
    name = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return f"line {error.lineno}: {name}: {error.msg}"
    line, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == FILE:
            line = at.tb_lineno
        at = at.tb_next
    place = "" if line is None else f"line {line}: "
    return f"{place}{name}: {error}" if str(error) else f"{place}{name}"


def refusal(error):
    """Returns what is told of an exception of the reference."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return Refusal("module", error.name.partition(".")[0])
    if isinstance(error, MemoryError):
        return Refusal("memory", said(error))
    if isinstance(error, OSError):
        return Refusal("confined", said(error))
    return Refusal("exception", said(error))


opened = set()


def note(event, arguments):
    """Notes a file that is opened."""
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        opened.add(os.path.abspath(os.fsdecode(arguments[0])))


def files():
    """Returns the files that were read, modules and others, but those of this folder."""
    modules = [getattr(it, "__file__", None) for it in list(sys.modules.values())]
    modules = {os.path.abspath(it) for it in modules if isinstance(it, str)}
    others = {it for it in opened if not it.endswith(COMPILED)}
    own = os.path.dirname(os.path.abspath(__file__))
    read = (it for it in modules | others if os.path.dirname(it) != own)
    return sorted(it for it in read if os.path.isfile(it) and os.path.getsize(it))


def loaded():
    """Runs the file and returns its function."""
    with open(FILE, encoding="utf-8") as file:
        text = file.read()
    names = {"__name__": "reference", "__file__": FILE}
    exec(compile(text, FILE, "exec"), names)
    function = names.get("reference")
    if not callable(function):
        raise Refusal("function", "has no function `reference`")
    return function


def tuples(value):
    """Returns a value of which what JSON has as lists are the tuples that kernels get."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def constants(function, arguments):
    """Returns those of the problem's arguments that the function has parameters for."""
    import inspect

    arguments = {name: tuples(value) for name, value in arguments.items()}
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return arguments
    if any(it.kind == it.VAR_KEYWORD for it in parameters):
        return arguments
    names = {it.name for it in parameters}
    return {name: value for name, value in arguments.items() if name in names}


def nested(values, shape):
    """Returns a list of lists of `shape`."""
    for extent in reversed(shape[1:]):
        values = [values[at : at + extent] for at in range(0, len(values), extent)]
    return values


def given(content, buffer):
    """Returns what the reference gets for an input."""
    code, shape = buffer["code"], buffer["shape"]
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    # PyTorch does without NumPy, which need not be installed for it.
    if torch is not None:
        as_sent = getattr(torch, TORCH[code])
        tensor = torch.frombuffer(bytearray(content), dtype=as_sent).reshape(shape)
        # Numbers of a type that it lacks are given as single precision, which holds them.
        other = torch.float32 if code == "d" else as_sent
        return tensor.to(getattr(torch, buffer["dtype"], other))
    if numpy is not None:
        array = numpy.frombuffer(content, numpy.dtype("<" + code)).reshape(shape)
        return array.astype(numpy.float32) if code == "d" else array.copy()
    values = struct.unpack(f"<{len(content) // struct.calcsize(code)}{code}", content)
    return nested(list(values), shape)


def flattened(value, shape, name, depth=0):
    """Returns the numbers of lists in lists, which must have `shape`."""
    if depth == len(shape):
        if isinstance(value, (list, tuple)):
            raise Refusal("shape", f"`{name}` has more than {len(shape)} dimensions")
        return [value]
    if not isinstance(value, (list, tuple)) or len(value) != shape[depth]:
        found = f"{len(value)} elements" if isinstance(value, (list, tuple)) else "a number"
        raise Refusal(
            "shape", f"`{name}` has {found} in dimension {depth} instead of {shape[depth]}"
        )
    return [it for part in value for it in flattened(part, shape, name, depth + 1)]


def wrong_type(found, buffer):
    name, dtype = buffer["name"], buffer["dtype"]
    return Refusal("dtype", f"`{name}` has elements of type {found} instead of {dtype}")


def out_of_range(value, buffer):
    name, dtype = buffer["name"], buffer["dtype"]
    return Refusal("range", f"`{name}` holds {value}, which {dtype} does not have")


def fitted(shape, buffer):
    """Refuses a shape that is not the buffer's."""
    if list(shape) != buffer["shape"]:
        found, wanted = list(shape), buffer["shape"]
        raise Refusal("shape", f"`{buffer['name']}` has the shape {found} instead of {wanted}")


def within(values, buffer):
    """Refuses whole numbers that the buffer's type does not have."""
    for value in values:
        if not buffer["least"] <= value <= buffer["most"]:
            raise out_of_range(value, buffer)


def plain(value, buffer):
    """Returns the bytes of an output that is made of lists."""
    code = buffer["code"]
    values = flattened(value, buffer["shape"], buffer["name"])
    for value in values:
        number = isinstance(value, int) or code in "fd" and isinstance(value, float)
        if not number:
            raise wrong_type(type(value).__name__, buffer)
    if code in WHOLE:
        within(values, buffer)
    try:
        return struct.pack(f"<{len(values)}{code}", *values)
    except OverflowError as error:
        raise Refusal("range", f"`{buffer['name']}`: {error}") from error


def of_tensor(torch, value, buffer):
    """Returns the bytes of an output that is a tensor."""
    import ctypes

    code = buffer["code"]
    value = value.detach().cpu()
    value = value if value.layout is torch.strided else value.to_dense()
    fitted(value.shape, buffer)
    if value.is_complex() or value.is_floating_point() and code not in "fd":
        raise wrong_type(value.dtype, buffer)
    if code in WHOLE:
        # Not all types of whole numbers have least and greatest elements.
        wide = value.to(torch.int64)
        within((wide.min().item(), wide.max().item()), buffer)
    value = value.to(getattr(torch, TORCH[code])).contiguous()
    return ctypes.string_at(value.data_ptr(), value.numel() * value.element_size())


def of_array(numpy, value, buffer):
    """Returns the bytes of an output that is an array, or made of what becomes one."""
    array, code = numpy.asarray(value), buffer["code"]
    fitted(array.shape, buffer)
    if array.dtype.kind not in ("biuf" if code in "fd" else "biu"):
        raise wrong_type(array.dtype, buffer)
    if code in WHOLE:
        within((int(array.min()), int(array.max())), buffer)
    with numpy.errstate(over="ignore"):
        return numpy.ascontiguousarray(array, numpy.dtype("<" + code)).tobytes()


def sent(value, buffer):
    """Returns the bytes of an output."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return of_tensor(torch, value, buffer)
    name = buffer["name"]
    if numpy is not None and isinstance(value, numpy.ma.MaskedArray):
        what = "is a masked array, whose masked elements hold nothing that is told"
        raise Refusal("masked", f"`{name}` {what}")
    is_array = isinstance(value, (list, tuple, bool, int, float)) or hasattr(value, "__array__")
    if not is_array:
        raise Refusal("value", f"`{name}` is {type(value).__name__}, which is no array")
    return plain(value, buffer) if numpy is None else of_array(numpy, value, buffer)


def returned(result, outputs):
    """Returns the outputs among what the reference returned."""
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(outputs):
        names = ", ".join(buffer["name"] for buffer in outputs)
        raise Refusal("count", f"results: {len(results)} instead of {len(outputs)} ({names})")
    return results


def main():
    problem = json.loads(requests.readline())
    sys.addaudithook(note)
    function = loaded()
    named = constants(function, problem["arguments"])
    buffers = problem["buffers"]
    outputs = [buffer for buffer in buffers if buffer["is_written"]]
    times = [time.process_time()]
    if is_standing:
        answers.write(b"\3")
        answers.flush()
    while requests.read(1):
        inputs = [
            given(requests.read(buffer["sent"]), buffer)
            for buffer in buffers
            if buffer["is_read"]
        ]
        results = returned(function(*inputs, **named), outputs)
        parts = [sent(value, buffer) for value, buffer in zip(results, outputs)]
        answers.write(b"\0" + b"".join(parts))
        answers.flush()
        times.append(time.process_time())
    spent = {"start_s": times[0], "calls_s": times[-1] - times[0], "calls": len(times) - 1}
    answers.write(b"\2" + json.dumps({"files": files(), **spent}).encode())
    answers.flush()


try:
    main()
except Refusal as found:
    wrong = found
except BaseException as error:
    wrong = refusal(error)
else:
    os._exit(0)
answers.write(b"\1" + json.dumps({"kind": wrong.kind, "message": wrong.message}).encode())
answers.flush()
os._exit(1)
