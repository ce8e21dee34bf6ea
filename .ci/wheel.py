#!/usr/bin/env python3
"""Packs a program that was built already as a wheel: .ci/wheel.py PROGRAM VERSION MACHINE FOLDER

The wheel is what `maturin build` makes of pyproject.toml (a program as a script of the
package), from the very bytes of the archive and without a second build. Its platform is
that of the oldest C library whose symbols the program asks for. Equal programs give
equal bytes.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path


def main():
    program, version, machine, folder = Path(sys.argv[1]), *sys.argv[2:4], Path(sys.argv[4])
    project = Path("pyproject.toml").read_text(encoding="utf-8")
    field = lambda name: re.search(rf'^{name} = "(.*)"$', project, re.M).group(1)
    name = field("name")
    tag = f"py3-none-{platform_tag(program, machine)}"
    info = f"{name}-{version}.dist-info"
    classifiers = re.search(r"classifiers = \[(.*?)\]", project, re.S).group(1)
    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {name}",
        f"Version: {version}",
        f"Summary: {field('description')}",
        f"License-Expression: {field('license')}",
        f"Requires-Python: {field('requires-python')}",
        "License-File: LICENSE-MIT",
        "License-File: LICENSE-APACHE",
        *(f"Classifier: {it}" for it in re.findall(r'"(.*?)"', classifiers)),
        "Description-Content-Type: text/markdown; charset=UTF-8",
        "",
        Path("README.md").read_text(encoding="utf-8"),
    ]
    files = {
        f"{name}-{version}.data/scripts/{name}": program.read_bytes(),
        f"{info}/METADATA": "\n".join(metadata).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: {name}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        f"{info}/licenses/LICENSE-MIT": Path("LICENSE-MIT").read_bytes(),
        f"{info}/licenses/LICENSE-APACHE": Path("LICENSE-APACHE").read_bytes(),
    }
    record = f"{info}/RECORD"
    rows = [f"{path},sha256={digest(data)},{len(data)}" for path, data in sorted(files.items())]
    files[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    # No file of a ZIP is older than this.
    changed = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800)
    wheel = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, time.gmtime(changed)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            packed.writestr(entry, data, compresslevel=9)
    print(f"packed {wheel.name}, {wheel.stat().st_size} bytes")


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def platform_tag(program, machine):
    """Returns the tag of the oldest C library that has what the program asks for."""
    symbols = subprocess.check_output(["readelf", "--wide", "--dyn-syms", program], text=True)
    versions = [tuple(map(int, it)) for it in re.findall(r"@GLIBC_(\d+)\.(\d+)", symbols)]
    major, minor = max(versions, default=(2, 17))
    return f"manylinux_{major}_{max(minor, 17)}_{machine}"


main()
