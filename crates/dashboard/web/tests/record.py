"""Runs a program on a terminal and prints what it wrote, piece by piece, as JSON.

python3 record.py COLUMNS ROWS KEYS PROGRAM WORDS...

KEYS is a JSON list of [seconds, text]: what is typed so long after the last. Only the
standard library is used.
"""

import codecs
import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

columns, rows, keys, program = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4:]
child, terminal = pty.fork()
if child == 0:
    os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(rows))
    os.environ.pop("NO_COLOR", None)
    os.execvp(program[0], program)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
pieces = []
# A character may be cut by the end of what was read at once.
decoder = codecs.getincrementaldecoder("utf-8")("replace")
due = time.monotonic() + (keys[0][0] if keys else 0)
while True:
    ready, _, _ = select.select([terminal], [], [], 0.05)
    if ready:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        # What asks the terminal where its cursor is gets an answer.
        if b"\x1b[6n" in piece:
            os.write(terminal, b"\x1b[1;1R")
        pieces.append(decoder.decode(piece))
    if keys and due <= time.monotonic():
        pieces.append("\0")
        os.write(terminal, keys.pop(0)[1].encode())
        due = time.monotonic() + (keys[0][0] if keys else 0)
_, status = os.waitpid(child, 0)
json.dump({"pieces": pieces, "status": os.waitstatus_to_exitcode(status)}, sys.stdout)
