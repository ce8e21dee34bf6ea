"""Searches whose workers, server and coordinator are killed at random times.

    chaos.py PROGRAM PROBLEM MINUTES [SEED]

For each round it searches once undisturbed on this machine, and once through a nats-server with
two workers while something is killed with SIGKILL (or a worker is stopped with SIGSTOP for some
time) every 0.2 to 1.5 seconds. A killed coordinator is resumed, a killed server comes back with
its store or with an empty one. Then the two journals must tell the same, and no task may be in a
journal twice. Prints counts of all that was done as JSON.
"""

import collections
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

PROGRAM, PROBLEM, MINUTES = sys.argv[1], sys.argv[2], float(sys.argv[3])
RANDOM = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 0)
COUNTS = collections.Counter()
SEARCH = ["--max-evaluations", "40", "--iterations", "8"]
PLACE = tempfile.mkdtemp(prefix="autocomp-chaos-")


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


PORT = free_port()
QUEUE = ["--queue", f"nats://127.0.0.1:{PORT}"]


def start(words, log):
    with open(os.path.join(PLACE, log), "a") as file:
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=file, cwd=PLACE)


def kill(child):
    child.send_signal(signal.SIGKILL)
    child.wait()


class Server:
    def __init__(self):
        self.start()

    def start(self):
        words = ["nats-server", "-js", "-sd", os.path.join(PLACE, "store"), "-a", "127.0.0.1"]
        self.child = start([*words, "-p", str(PORT)], "server.log")
        while True:
            with socket.socket() as it:
                if it.connect_ex(("127.0.0.1", PORT)) == 0:
                    return
            time.sleep(0.02)

    def restart(self, is_empty):
        kill(self.child)
        if is_empty:
            subprocess.run(["rm", "-rf", os.path.join(PLACE, "store")], check=True)
        time.sleep(RANDOM.uniform(0, 1))
        self.start()


def worker(name):
    return start([PROGRAM, "worker", *QUEUE, "--devices", "1", "--name", name], "workers.log")


def told(run):
    """Returns what a journal tells that does not depend on timing, by task, and checks that no
    task is there twice."""
    rows = sqlite3.connect(os.path.join(run, "run.sqlite")).execute(
        "select kind, task, body from events where task is not null order by seq"
    )
    found = {}
    for kind, task, body in rows:
        event = json.loads(body)
        if kind == "evaluated":
            evaluation = event["evaluation"]
            COUNTS["evaluations"] += 1
            if evaluation["outcome"] == "fault":
                COUNTS["faults in a journal"] += 1
            evaluation.pop("tiers", None)
            evaluation.pop("worker", None)
        for exchange in event.get("exchanges", []):
            exchange["latency_ms"] = 0
        if (kind, task) in found:
            COUNTS["TWICE IN A JOURNAL"] += 1
        found[kind, task] = json.dumps(event, sort_keys=True)
    return found


def rows_of(run):
    """Returns how many events are in a journal, if there is one."""
    path = os.path.join(PLACE, run, "run.sqlite")
    if not os.path.exists(path):
        return 0
    try:
        return sqlite3.connect(path).execute("select count(*) from events").fetchone()[0]
    except sqlite3.Error:
        return 0


def revive(workers):
    """Starts those again that ended by themselves: there was no server when they were started."""
    for at, it in enumerate(workers):
        if it.poll() is not None:
            COUNTS["workers started"] += 1
            workers[at] = worker(f"w{COUNTS['workers started']}")


def disturb(server, workers, search):
    what = RANDOM.choices(
        ["worker", "stopped worker", "server", "empty server", "coordinator"], [4, 1, 2, 1, 2]
    )[0]
    COUNTS[f"killed: {what}" if what != "stopped worker" else what] += 1
    if what == "worker":
        at = RANDOM.randrange(len(workers))
        kill(workers[at])
        COUNTS["workers started"] += 1
        workers[at] = worker(f"w{COUNTS['workers started']}")
    elif what == "stopped worker":
        at = RANDOM.randrange(len(workers))
        workers[at].send_signal(signal.SIGSTOP)
        time.sleep(RANDOM.uniform(0.5, 4))
        workers[at].send_signal(signal.SIGCONT)
    elif what.endswith("server"):
        server.restart(what == "empty server")
    elif search.poll() is None:
        kill(search)


def round_of(number, server):
    here, there = f"here{number}", f"there{number}"
    seed = ["--seed", str(number)]
    subprocess.run(
        [PROGRAM, "optimize", PROBLEM, *SEARCH, *seed, "--run-dir", here],
        cwd=PLACE, check=True, capture_output=True,
    )
    workers = []
    for _ in range(2):
        COUNTS["workers started"] += 1
        workers.append(worker(f"w{COUNTS['workers started']}"))
    lease = [*QUEUE, "--queue-lease", "2"]
    first = [PROGRAM, "optimize", PROBLEM, *SEARCH, *seed, "--run-dir", there, *lease]
    search = start(first, "search.log")
    began = progressed = time.time()
    rows = 0
    while True:
        time.sleep(RANDOM.uniform(0.2, 1.5))
        revive(workers)
        if search.poll() is not None:
            if search.returncode == 0:
                break
            if search.returncode not in (-9, 0):
                COUNTS[f"coordinators that ended with {search.returncode}"] += 1
            # One that was killed before its first event is started again in the same folder.
            resume = [PROGRAM, "optimize", "--resume", there, *lease]
            search = start(resume if rows_of(there) else first, "search.log")
        elif time.time() - began < 25:
            disturb(server, workers, search)
        # A slow machine is not a search that stands still.
        if rows_of(there) != rows:
            rows, progressed = rows_of(there), time.time()
        if time.time() - progressed > 300:
            COUNTS["STUCK"] += 1
            kill(search)
            break
    for it in workers:
        kill(it)
    COUNTS["rounds"] += 1
    if told(os.path.join(PLACE, here)) != told(os.path.join(PLACE, there)):
        COUNTS["OTHER HISTORIES"] += 1


def main():
    ends = time.time() + 60 * MINUTES
    server = Server()
    number = 0
    while time.time() < ends:
        number += 1
        round_of(number, server)
        print(json.dumps(COUNTS, sort_keys=True), flush=True)
    kill(server.child)
    print(f"logs in {PLACE}")


main()
