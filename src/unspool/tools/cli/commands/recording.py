"""`unspool record` and `replay`: an input with its timing, to a file and back, or to the clients of a provider."""

from __future__ import annotations

import math
from contextlib import suppress
from io import FileIO
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final, final

import typer

from ...viewer.playback import pieces_of, wire_of
from ...viewer.recordings import HEADER, RecordingError, RecordingWriter
from ..arrivals import STANDARD_INPUT, Clock, Input, arrivals, paced
from ..options import Cut, File, Format
from ..terminal import (
    EmptyError,
    Outlet,
    UsageError,
    complain,
    discard_output,
    guarded,
    is_ascii_only,
    playing_progress,
    recording_progress,
    standard_output,
    write_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...viewer.recordings import Arrival

__all__ = ["record", "replay"]

STANDARD_OUTPUT: Final = Path("-")
PANEL: Final = "With --serve"
MAX_READ_TWICE: Final = 16 * 1024 * 1024  # bytes: reading them takes a moment

Output = Annotated[
    Path,
    typer.Option("--output", "-o", allow_dash=True, help="Write the recording here, and the input to standard output."),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")]

Speed = Annotated[float, typer.Option("--speed", min=0.0, help="Speed factor; 0 plays everything at once.")]
DropAfter = Annotated[
    int | None,
    typer.Option("--drop-after", min=0, metavar="N", help="Stop after N pieces, and drop the connection."),
]
Serve = Annotated[bool, typer.Option("--serve", help="Run a server for clients of the provider.")]
Host = Annotated[
    str | None, typer.Option("--host", help="Address to listen on (default: 127.0.0.1).", rich_help_panel=PANEL)
]
Port = Annotated[
    int | None,
    typer.Option("--port", min=0, max=65535, help="Port to listen on (default: any free port).", rich_help_panel=PANEL),
]
Once = Annotated[bool, typer.Option("--once", help="Stop after one request.", rich_help_panel=PANEL)]
Requests = Annotated[
    int | None,
    typer.Option("--requests", min=1, metavar="N", help="Stop after N requests.", rich_help_panel=PANEL),
]
AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote", help="Allow other machines to connect; all of them can read.", rich_help_panel=PANEL
    ),
]


# Record.


def record(file: File = STANDARD_INPUT, output: Output = STANDARD_OUTPUT, force: Force = False) -> None:
    """Record the input with its timing, for `unspool replay`.

    Without --output, the recording goes to standard output. With --output, the input passes through to standard output
    unchanged and without delay, so the command fits between two others. If the next command stops reading, recording
    continues.
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
    """Write each line at once, so that the recording is complete whenever the command ends."""
    recorder = RecordingWriter(ascii_only=ascii_only)
    begin = now = 0.0

    def write(line: str) -> None:
        data = line.encode()
        while data:
            data = data[recording.write(data) :]

    write(HEADER)
    try:
        source = Input(file)
        with recording_progress(source) as took:
            for block in filter(None, arrivals(source)):
                now = monotonic()
                begin = begin or now
                write(recorder.line(now - begin, block))
                if downstream is not None:
                    downstream.write(block)
                took(len(block))
    finally:
        write(recorder.close(now - begin))
        if downstream is not None:
            downstream.close()


@final
class _Downstream:
    """Standard output, until the next command stops reading."""

    __slots__ = ("_outlet",)

    def __init__(self) -> None:
        self._outlet: Outlet | None = Outlet()

    def write(self, data: bytes) -> None:
        try:
            if self._outlet is not None:
                self._outlet.write(data)
        except BrokenPipeError:
            self._outlet = None
            discard_output()  # the buffer may still hold some

    def close(self) -> None:
        if self._outlet is not None:
            self._outlet.close()


# Replay.


def replay(
    file: File = STANDARD_INPUT,
    speed: Speed = 1.0,
    cut: Cut = None,
    format: Format = None,
    drop_after: DropAfter = None,
    serve: Serve = False,
    host: Host = None,
    port: Port = None,
    once: Once = False,
    requests: Requests = None,
    allow_remote: AllowRemote = False,
) -> None:
    """Play a recording with its timing: to standard output, or as a server.

    Input without times plays at a steady rate. With --serve, the server answers any POST with the recording in the
    provider's wire format, so clients of OpenAI, Anthropic and others can connect to it.
    """
    with guarded(Input(file).name):
        if math.isnan(speed):
            raise UsageError("--speed must be a number")
        if not serve and (once or allow_remote or (host, port, requests) != (None, None, None)):
            raise UsageError("--host, --port, --once, --requests and --allow-remote are for --serve")
        source = Input(file)
        pieces = _pieces(source, cut)
        if serve:
            address = ("127.0.0.1" if host is None else host, port or 0)
            _serve(pieces, format, address, speed, drop_after, 1 if once else requests, allow_remote)
        else:
            with playing_progress(lambda: _duration(source, cut, drop_after)) as passed:
                _play(paced(islice(pieces, drop_after), speed, Clock(), passed))


def _play(pieces: Iterator[bytes]) -> None:
    outlet = Outlet()
    try:
        for data in pieces:
            outlet.write(data)
    finally:
        outlet.close()


def _duration(source: Input, cut: int | None, drop_after: int | None) -> float | None:
    """Return the duration of a recording, or None if it is live or too large to be read twice."""
    if source.size is None or source.is_live or source.size > MAX_READ_TWICE:
        return None
    last = 0.0
    with suppress(RecordingError):  # a broken recording plays up to its error
        for piece in islice(_pieces(source, cut), drop_after):
            last = piece.time
    return last


def _pieces(source: Input, cut: int | None) -> Iterator[Arrival]:
    return pieces_of(filter(None, arrivals(source)), cut=cut)


def _serve(
    pieces: Iterator[Arrival],
    format: str | None,
    address: tuple[str, int],
    speed: float,
    drop_after: int | None,
    times: int | None,
    allow_remote: bool,
) -> None:
    # These import http.server, which other commands do not need.
    from ..local_server import check_host
    from ..replay_server import ReplayServer, variables

    check_host(address[0], allow_remote=allow_remote)
    wire = wire_of(list(pieces), format)
    if not wire.frames:
        raise EmptyError
    with ReplayServer(wire, address, speed=speed, drop_after=drop_after, times=times, is_open=allow_remote) as server:
        readers = "everyone who can reach this address" if allow_remote else "every user of this machine"
        complain(f"this server has no token: {readers} can read the recording")
        write_text(f"replaying on {server.url}  {variables(wire.format, server.url)}\n")
        server.serve()
