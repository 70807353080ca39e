"""`unspool replay`: a recording as it came, to standard output, or to the clients of a provider."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...viewer.playback import pieces_of, wire_of
from ...viewer.recordings import RecordingError
from ..options import Cut, File, Format
from ..pacing import Clock, paced
from ..progress import playing
from ..reading import STANDARD_INPUT, Input, arrivals
from ..server.providers import variables
from ..terminal import Outlet, UsageError, guarded, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...viewer.recordings import Arrival

__all__ = ["replay"]

PANEL: Final = "With --serve"
MOST_READ_TWICE: Final = 16 * 1024 * 1024  # bytes: a moment

Speed = Annotated[float, typer.Option("--speed", min=0.0, help="So many times as fast; 0 is at once.")]
DropAfter = Annotated[
    int | None, typer.Option("--drop-after", min=0, help="Stop after so many pieces; drop the connection.")
]
Serve = Annotated[bool, typer.Option("--serve", help="Be a server that a client of the provider can talk to.")]
Host = Annotated[str | None, typer.Option("--host", help="Listen there.", rich_help_panel=PANEL)]
Port = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, help="Listen there; 0 is any.", rich_help_panel=PANEL)
]
Once = Annotated[bool, typer.Option("--once", help="Serve one request, then stop.", rich_help_panel=PANEL)]
Requests = Annotated[
    int | None, typer.Option("--requests", min=1, help="Serve so many requests.", rich_help_panel=PANEL)
]
AllowRemote = Annotated[
    bool, typer.Option("--allow-remote", help="Let other machines in; everybody can read.", rich_help_panel=PANEL)
]


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
    """Play a recording again, with its timing: to standard output, or as a server.

    Whatever has no times comes at a steady rate. With --serve, any POST is answered with the recording as the provider
    would send it, so that a client of OpenAI, Anthropic and others can be pointed here.
    """
    with guarded(Input(file).name):
        if math.isnan(speed):
            raise UsageError("--speed is a number")
        if not serve and (once or allow_remote or (host, port, requests) != (None, None, None)):
            raise UsageError("--host, --port, --once, --requests and --allow-remote are for --serve")
        source = Input(file)
        pieces = _pieces(source, cut)
        if serve:
            address = ("127.0.0.1" if host is None else host, port or 0)
            _serve(pieces, format, address, speed, drop_after, 1 if once else requests, allow_remote)
        else:
            with playing(lambda: _duration(source, cut, drop_after)) as passed:
                _play(paced(islice(pieces, drop_after), speed, Clock(), passed))


def _play(pieces: Iterator[bytes]) -> None:
    outlet = Outlet()
    try:
        for data in pieces:
            outlet.write(data)
    finally:
        outlet.close()


def _duration(source: Input, cut: int | None, drop_after: int | None) -> float | None:
    """How long it takes to play, in the time of the recording: what is not too large is read twice for that."""
    if source.size is None or source.is_live or source.size > MOST_READ_TWICE:
        return None
    last = 0.0
    with suppress(RecordingError):  # it is played up to there
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
    from ..server.serving import ReplayServer, is_loopback  # what only a server needs, no other command has to wait for

    if not allow_remote and not is_loopback(address[0]):
        raise UsageError(f"{address[0]} is no address of this machine alone: --allow-remote lets others in")
    wire = wire_of(list(pieces), format)
    if not wire.frames:
        raise RecordingError("there is nothing to replay")
    with ReplayServer(wire, address, speed=speed, drop_after=drop_after, times=times, is_open=allow_remote) as server:
        write_text(f"replaying on {server.url}  {variables(wire.format, server.url)}\n")
        server.serve()
