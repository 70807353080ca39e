"""`unspool record`: what passes through, with the time at which it came."""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from time import monotonic
from typing import Annotated, Final, final

import typer

from ...viewer.recordings import HEADER, Recorder
from ..options import File
from ..progress import recording as counted
from ..reading import STANDARD_INPUT, Input, arrivals
from ..terminal import Outlet, UsageError, discard_output, guarded, is_ascii_only, standard_output

__all__ = ["record"]

STANDARD_OUTPUT: Final = Path("-")

Output = Annotated[
    Path,
    typer.Option(
        "--output", "-o", allow_dash=True, help="Write the recording there, and pass the input on to standard output."
    ),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite the file that is there.")]


def record(file: File = STANDARD_INPUT, output: Output = STANDARD_OUTPUT, force: Force = False) -> None:
    """Note down what comes, and when; `unspool replay` plays it again.

    Without --output, the recording goes to standard output. With it, standard output gets what came, unchanged and at
    once: put this command between two others. Should the one behind it stop reading, the recording goes on.
    """
    with guarded(), _opened(file, output, force) as recording:
        if output == STANDARD_OUTPUT:
            _record(file, recording, None, ascii_only=is_ascii_only())
        else:
            _record(file, recording, _Downstream(), ascii_only=False)


def _opened(file: Path, output: Path, force: bool) -> FileIO:
    if output == STANDARD_OUTPUT:
        return standard_output()
    is_plain = output.is_file()
    if is_plain and file != STANDARD_INPUT and file.exists() and output.samefile(file):
        raise UsageError(f"{output} is the file to be recorded")
    try:
        return FileIO(output, "wb" if force or (output.exists() and not is_plain) else "xb")
    except FileExistsError:
        raise UsageError(f"{output} exists: --force overwrites it") from None
    except OSError as error:
        raise UsageError(f"{output}: {error.strerror}") from None


def _record(file: Path, recording: FileIO, downstream: _Downstream | None, *, ascii_only: bool) -> None:
    """Line by line, each as soon as there is something for it: whatever ends this, what came is in the recording."""
    recorder = Recorder(ascii_only=ascii_only)
    begin = now = 0.0

    def note(line: str) -> None:
        data = line.encode()
        while data:
            data = data[recording.write(data) :]

    note(HEADER)
    try:
        source = Input(file)
        with counted(source) as took:
            for block in filter(None, arrivals(source)):
                now = monotonic()
                begin = begin or now
                note(recorder.line(now - begin, block))
                if downstream is not None:
                    downstream.write(block)
                took(len(block))
    finally:
        note(recorder.close(now - begin))
        if downstream is not None:
            downstream.close()


@final
class _Downstream:
    """Standard output, as long as somebody reads it."""

    __slots__ = ("_outlet",)

    def __init__(self) -> None:
        self._outlet: Outlet | None = Outlet()

    def write(self, data: bytes) -> None:
        try:
            if self._outlet is not None:
                self._outlet.write(data)
        except BrokenPipeError:
            self._outlet = None
            discard_output()  # what is left to flush

    def close(self) -> None:
        if self._outlet is not None:
            self._outlet.close()
