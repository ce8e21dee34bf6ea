"""Two machines, and faults of networks, disks, clocks and tools, each with a real nats-server.

    faults.py PROGRAM PROBLEM [SCENARIO...]

Needs root, for network namespaces and a small disk; `faketime` for the clock; in OTHER_COMPILER the
path of a zig or clang of another version. Each scenario searches once undisturbed on this machine
and once through a queue that is disturbed; then the two journals must tell the same, but for who
evaluated and how long it took, and no task may be in a journal twice. Prints one line for each
scenario.
"""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

PROGRAM, PROBLEM = os.path.abspath(sys.argv[1]), sys.argv[2]
SEARCH = ["--max-evaluations", "40", "--iterations", "8", "--seed", "1"]
PLACE = tempfile.mkdtemp(prefix="autocomp-faults-")
CHILDREN = []
NEAR, FAR = "autocomp-near", "autocomp-far"


def start(words, log, within=None):
    inside = ["ip", "netns", "exec", within] if within else []
    with open(os.path.join(PLACE, log), "a") as file:
        child = subprocess.Popen(inside + words, stdout=subprocess.DEVNULL, stderr=file, cwd=PLACE)
    CHILDREN.append(child)
    return child


def run(*words):
    subprocess.run(words, check=True, cwd=PLACE, capture_output=True)


def log(name):
    with open(os.path.join(PLACE, name)) as file:
        return file.read()


def server(store, address="127.0.0.1", within=None):
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        port = it.getsockname()[1]
    words = ["nats-server", "-js", "-sd", store, "-a", address, "-p", str(port)]
    child = start(words, f"{store.replace('/', '-')}.log", within)
    while "Server is ready" not in log(f"{store.replace('/', '-')}.log"):
        time.sleep(0.02)
    return child, ["--queue", f"nats://{address}:{port}"]


def worker(queue, name, within=None, before=(), more=()):
    words = [*before, PROGRAM, "worker", *queue, "--devices", "1", "--name", name, *more]
    return start(words, f"{name}.log", within)


def search(queue, name, within=None):
    words = [PROGRAM, "optimize", PROBLEM, *SEARCH, "--run-dir", name]
    return start([*words, *queue, "--queue-lease", "2"], f"{name}.log", within)


def told(name):
    """Returns what a journal tells that does not depend on timing, by task."""
    rows = sqlite3.connect(os.path.join(PLACE, name, "run.sqlite")).execute(
        "select kind, task, body from events where task is not null order by seq"
    )
    found = {}
    for kind, task, body in rows:
        event = json.loads(body)
        for key in ("tiers", "worker"):
            event.get("evaluation", {}).pop(key, None)
        for exchange in event.get("exchanges", []):
            exchange["latency_ms"] = 0
        assert (kind, task) not in found, f"{kind} {task} is there twice"
        found[kind, task] = json.dumps(event, sort_keys=True)
    return found


def ended(child, name):
    """Waits for a search and holds its journal against that of this machine."""
    code = child.wait(timeout=400)
    assert code == 0, f"the search ended with {code}: {log(name + '.log')[-2000:]}"
    assert told("here") == told(name), "another history"
    evaluations = sum(kind == "evaluated" for kind, _ in told(name))
    return f"{evaluations} evaluations, the history of this machine"


def network():
    """Two namespaces with one cable between them, the near one at 10.213.7.1."""
    for name in (NEAR, FAR):
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "lo", "up")
    run("ip", "link", "add", "near", "netns", NEAR, "type", "veth", "peer", "far", "netns", FAR)
    for name, device, address in ((NEAR, "near", "10.213.7.1"), (FAR, "far", "10.213.7.2")):
        run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", device)
        run("ip", "-n", name, "link", "set", device, "up")


def two_machines():
    """README's lines on two machines that have nothing in common but a cable and their compiler."""
    network()
    homes = {}
    for name, programs in ((NEAR, []), (FAR, ["nats-server"])):
        home = homes[name] = os.path.join(PLACE, name)
        os.makedirs(os.path.join(home, "bin"))
        for program in programs:
            os.symlink(shutil.which(program), os.path.join(home, "bin", program))
        shutil.copy(PROGRAM, os.path.join(home, "bin", "autocomp"))

    def on(name):
        path = f"PATH={homes[name]}/bin:/usr/bin:/bin"
        return ["ip", "netns", "exec", name, "env", "-i", f"HOME={homes[name]}", path, "autocomp"]

    # A new user's would come from the network.
    cache = os.environ.get("AUTOCOMP_CACHE_DIR", os.path.expanduser("~/.cache/autocomp"))
    kept = os.path.join(homes[FAR], ".cache/autocomp/toolchains")
    shutil.copytree(os.path.join(cache, "toolchains"), kept)
    serving = start([*on(FAR), "worker", "serve", "--address", "0.0.0.0"], "serving.log")
    while "takes" not in log("serving.log"):
        time.sleep(0.1)
    needed = log("serving.log").split(" needs ")[1].split(";")[0].split(" and ")
    for path in needed:
        shutil.copy(path, homes[NEAR])
    access = os.path.join(homes[NEAR], "search.toml")
    queue = ["--queue", "nats://10.213.7.2", "--queue-access", access]
    words = [*on(NEAR), "optimize", PROBLEM, *SEARCH, "--run-dir", "two", *queue]
    said = ended(start(words, "two.log"), "two")
    there = os.path.join(homes[FAR], ".cache/autocomp/workers")
    serving.send_signal(signal.SIGINT)
    serving.wait()
    left = [it for _, folders, files in os.walk(there) for it in folders + files]
    return f"{len(needed)} files copied; {said}; left at the worker: {left}"


def partition():
    """The worker's network is cut for longer than a lease, five times."""
    network()
    _, queue = server("store-partition", "10.213.7.1", within=NEAR)
    worker(queue, "far", within=FAR)
    child = search(queue, "partition", within=NEAR)
    n_cuts = 0
    while child.poll() is None and n_cuts < 5:
        time.sleep(3)
        run("ip", "-n", NEAR, "link", "set", "near", "down")
        n_cuts += 1
        time.sleep(4)
        run("ip", "-n", NEAR, "link", "set", "near", "up")
    return f"{n_cuts} cuts of 4 s; " + ended(child, "partition")


def full_disk():
    """The disk of the server's store is full for 15 seconds in the middle of the search."""
    disk = os.path.join(PLACE, "disk")
    os.mkdir(disk)
    run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk)
    _, queue = server(os.path.join(disk, "store"))
    worker(queue, "near")
    child = search(queue, "full")
    time.sleep(5)
    filler = os.path.join(disk, "filler")
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=4k"], capture_output=True)
    assert child.poll() is None, "the search was over too soon"
    time.sleep(15)
    is_waiting = child.poll() is None
    os.remove(filler)
    said = [it for it in log("full.log").splitlines() if "the queue at" in it]
    return f"waits: {is_waiting}, says {said[:1]}; " + ended(child, "full")


def clock():
    """The worker's clock is four years ahead."""
    _, queue = server("store-clock")
    worker(queue, "ahead", before=["faketime", "-f", "+4y"])
    child = search(queue, "clock")
    time.sleep(8)
    shown = subprocess.run(
        [PROGRAM, "workers", *queue, "--json"], capture_output=True, cwd=PLACE, check=True
    )
    skew = json.loads(shown.stdout)["workers"][0]["clock_skew_ms"] / 1000 / 86400
    return f"`workers` shows {skew:.0f} days; " + ended(child, "clock")


def slow():
    """A worker stands still for longer than a lease, again and again; another one comes."""
    _, queue = server("store-slow")
    first = worker(queue, "slow")
    child = search(queue, "slow-run")
    n_stops = 0
    while child.poll() is None and n_stops < 4:
        time.sleep(2)
        first.send_signal(signal.SIGSTOP)
        n_stops += 1
        time.sleep(5)
        first.send_signal(signal.SIGCONT)
        if n_stops == 1:
            worker(queue, "second")
    return f"{n_stops} stops of 5 s; " + ended(child, "slow-run")


def compiler():
    """A worker with another compiler (OTHER_COMPILER) is refused, and both are named."""
    _, queue = server("store-compiler")
    worker(queue, "first")
    child = search(queue, "compiler")
    time.sleep(4)
    worker(queue, "other", more=["--compiler", os.environ["OTHER_COMPILER"]])
    said = ended(child, "compiler")
    found = [it for it in log("compiler.log").splitlines() if "worker other" in it]
    assert found, "nobody is refused: " + log("other.log")
    return f"{found[0]}; {said}"


def clean():
    for child in CHILDREN:
        if child.poll() is None:
            child.kill()
            child.wait()
    for name in (NEAR, FAR):
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
    subprocess.run(["umount", os.path.join(PLACE, "disk")], capture_output=True)
    CHILDREN.clear()


def main():
    here = ["optimize", PROBLEM, *SEARCH, "--run-dir", "here"]
    run(PROGRAM, *here)
    known = {it.__name__: it for it in (two_machines, partition, full_disk, clock, slow, compiler)}
    for name in sys.argv[3:] or known:
        try:
            print(f"{name}: {known[name]()}", flush=True)
        except (AssertionError, subprocess.SubprocessError) as error:
            print(f"{name}: FAILED: {error}", flush=True)
        finally:
            clean()
    print(f"logs in {PLACE}")


main()
