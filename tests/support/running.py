"""The `unspool` command, run: in this process, which is quick, or as one of its own, where that matters.

In this process it has files for its three streams, so that it can be told from a real one by nothing but pipes and
signals.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from unittest import mock

import pytest
from typer.main import get_command

from unspool.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND: Final = get_command(app)
PATIENCE: Final = 20.0  # seconds that anything may take, on a busy machine


class Outcome(NamedTuple):
    """What a command did."""

    status: int
    stdout: bytes
    stderr: str


def run(*args: object, data: bytes = b"", **env: str) -> Outcome:
    """Run the command in this process."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(data)
        files[0].seek(0)
        for name, file, mode in zip(("stdin", "stdout", "stderr"), files, "rww", strict=True):
            stream = open(os.dup(file.fileno()), mode, encoding="utf-8")  # noqa: PTH123, SIM115 - a descriptor
            stack.enter_context(mock.patch.object(sys, name, stack.enter_context(stream)))
        stack.enter_context(mock.patch.dict(os.environ, {**env, "NO_COLOR": "1"}))
        with pytest.raises(SystemExit) as left:
            COMMAND(list(map(str, args)), prog_name="unspool")
        sys.stdout.flush()
        sys.stderr.flush()
        for file in files:
            file.seek(0)
        assert isinstance(left.value.code, int)
        return Outcome(left.value.code, files[1].read(), files[2].read().decode())


@contextmanager
def started(*args: object, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process with pipes, which does not outlive the test."""
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    with subprocess.Popen([sys.executable, "-m", "unspool", *map(str, args)], **given) as process:
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write to its standard input, at once."""
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()


def hear(stream: IO[bytes] | None, size: int) -> bytes:
    """So many bytes of a pipe, as they come."""
    assert stream is not None
    heard, end = b"", time.monotonic() + PATIENCE
    while len(heard) < size:
        assert select.select([stream], [], [], max(end - time.monotonic(), 0))[0], heard
        piece = os.read(stream.fileno(), size - len(heard))
        assert piece, heard
        heard += piece
    return heard


def hear_line(stream: IO[bytes] | None) -> str:
    """One line of a pipe."""
    line = b""
    while not line.endswith(b"\n"):
        line += hear(stream, 1)
    return line.decode()
