"""The `unspool` command, run: in this process, which is quick, or as one of its own, where that matters.

In this process it has files for its three streams, so that it can be told from a real one by nothing but pipes and
signals.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from unittest import mock

import pytest
from typer.main import get_command

from unspool.tools.cli.main import app

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


class Terminal:
    """The command in a terminal of a size: what it writes there, and whether it leaves it as it was."""

    def __init__(self, *arguments: object, columns: int = 80, rows: int = 24, **environment: str) -> None:
        hidden = ("COLUMNS", "LINES", "NO_COLOR", "UNSPOOL_ASCII")
        settings = {name: value for name, value in os.environ.items() if name not in hidden}
        self.controller, terminal = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(terminal)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "unspool", *map(str, arguments)],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**settings, "TERM": "xterm-256color", "UNSPOOL_ASCII": "0", **environment},
            start_new_session=True,
        )
        self.terminal = terminal
        self.output = b""

    def resize(self, columns: int, rows: int) -> None:
        """Give it another size."""
        fcntl.ioctl(self.controller, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, sign: bytes) -> None:
        """Read until something appears behind what was read before."""
        start = len(self.output)
        end = time.monotonic() + PATIENCE
        while sign not in self.output[start:]:
            self._read(0.2, end)

    def _read(self, patience: float, end: float) -> bool:
        if time.monotonic() > end:
            self.process.kill()
            raise AssertionError(self.output[-2000:])
        if not select.select([self.controller], [], [], patience)[0]:
            return False
        self.output += os.read(self.controller, 65536)
        return True

    def close(self) -> int:
        """Read all there is; the exit status."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self._read(0.05, end)
        while self._read(0, end):
            pass
        assert termios.tcgetattr(self.terminal) == self.before
        os.close(self.terminal)
        os.close(self.controller)
        return self.process.returncode
