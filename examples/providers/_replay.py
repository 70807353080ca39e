"""A provider on this machine, for the examples without a key: it plays a recording.

`replayed` runs ``unspool replay RECORDING --serve`` until its one client has been served.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["replayed"]

RECORDINGS = Path(__file__).parents[1] / "recordings"
READY = "replaying on "


@contextmanager
def replayed(recording: str, *options: str) -> Generator[str]:
    """Start the server, and yield its address. `recording` is a file of the examples or a sample of the command."""
    played = recording if recording.startswith("sample:") else str(RECORDINGS / recording)
    command = [sys.executable, "-m", "unspool", "replay", played, "--serve", "--once", *options]
    # Clients must not look for this machine behind a proxy.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    with subprocess.Popen(  # noqa: S603 - this command and no other
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        said: list[str] = []
        try:
            for line in server.stdout:
                said.append(line)
                if line.startswith(READY):
                    yield line.removeprefix(READY).split()[0]
                    return
            sys.exit("".join(said) or "the replay server did not start")
        finally:
            server.terminate()
