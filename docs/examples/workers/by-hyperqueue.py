"""Starts workers of autocomp as tasks of HyperQueue.

    pip install hyperqueue
    by-hyperqueue.py WORKERS PROCESSORS [SERVER_FOLDER]

Each worker is a task with so many processors. AUTOCOMP_QUEUE and AUTOCOMP_QUEUE_ACCESS say which
queue they work for; autocomp and the access file have to be there on all nodes. The folder is that
of `hq server start`, if it is not the usual one. `hq job cancel` ends the workers.
"""

import os
import sys

from hyperqueue import Client, Job
from hyperqueue.ffi.protocol import ResourceRequest

count, processors = int(sys.argv[1]), int(sys.argv[2])
folder = sys.argv[3] if 3 < len(sys.argv) else os.path.expanduser("~/.hq-server")
names = ("PATH", "HOME", "AUTOCOMP_QUEUE", "AUTOCOMP_QUEUE_ACCESS", "AUTOCOMP_CACHE_DIR")
variables = {name: os.environ[name] for name in names if name in os.environ}

job = Job(name="autocomp", max_fails=None, default_env=variables)
for _ in range(count):
    job.program(
        ["autocomp", "worker", "--devices", str(processors)],
        resources=ResourceRequest(cpus=processors),
    )
print(f"job {Client(folder).submit(job).id} of {count} workers")
