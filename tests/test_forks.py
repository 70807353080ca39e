"""Processes that fork while other threads read states: a child never waits for a lock of a thread that it lacks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FORKS = """
import os, sys, threading, time
from unspool import create_state, parse_chunk
from unspool._tree.fold import SHOWING

text = '{"rows": [' + ", ".join('{"id": %d, "name": "x"}' % n for n in range(200)) + "]}"
stop = threading.Event()

def read():
    while not stop.is_set():
        state = create_state()
        for start in range(0, len(text), 97):
            state = parse_chunk(state, text[start : start + 97])
            state.value, state.root

threads = [threading.Thread(target=read, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()

def child():
    state = parse_chunk(create_state(), '{"a": [1, 2], "b": "x')
    ok = state.value == {"a": [1, 2], "b": "x"} and state.root is not None
    os._exit(0 if ok else 1)

failed = 0
for number in range(40):
    pid = os.fork()
    if pid == 0:
        child()
    deadline = time.monotonic() + 20
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            failed += status != 0
            break
        if time.monotonic() > deadline:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            failed += 1
            break
        time.sleep(0.001)

# A thread that holds the lock at the time of the fork: the fork waits for it, and the child finds it free.
held = threading.Event()

def hold():
    with SHOWING:
        held.set()
        time.sleep(0.2)

threading.Thread(target=hold, daemon=True).start()
held.wait()
pid = os.fork()
if pid == 0:
    child()
failed += os.waitpid(pid, 0)[1] != 0
stop.set()
print("failed:", failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_never_waits() -> None:
    """Forked again and again while threads read states, every child reads its own state and ends."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, timeout=120, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "failed: 0\n", "")
