"""`unspool gateway`: the clients of OpenAI and Anthropic, in front of a recording or of any provider."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from ...viewer.playback import pieces_of, wire_of
from ...viewer.recordings import RecordingError
from ..arrivals import Input, arrivals
from ..options import Format, checked_file
from ..terminal import EmptyError, UsageError, complain, guarded, write_text

__all__ = ["gateway"]

Source = Annotated[
    str,
    typer.Argument(metavar="SOURCE", help="A recording, a sample, or the URL of a provider's streaming endpoint."),
]
Speed = Annotated[float, typer.Option("--speed", min=0.0, help="Speed factor of a recording; 0 plays it at once.")]
Host = Annotated[str, typer.Option("--host", help="Address to listen on.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 is any free port.")]
Requests = Annotated[int | None, typer.Option("--requests", min=1, metavar="N", help="Stop after N requests.")]
AllowRemote = Annotated[bool, typer.Option("--allow-remote", help="Allow other machines to connect.")]


def gateway(
    source: Source,
    format: Format = None,
    speed: Speed = 1.0,
    host: Host = "127.0.0.1",
    port: Port = 0,
    requests: Requests = None,
    allow_remote: AllowRemote = False,
) -> None:
    """Serve any provider's stream to clients of OpenAI and Anthropic.

    The gateway has the endpoints /v1/chat/completions, /v1/responses and /v1/messages. It answers each streaming
    request with the source, in the protocol of the endpoint. A URL gets the body of each request as it came, and its
    keys; the gateway translates the answer only.
    """
    with guarded(source):
        from ..gateway_server import GatewayServer, HTTPUpstream, RecordedUpstream
        from ..local_server import check_host

        if math.isnan(speed):
            raise UsageError("--speed must be a number")
        check_host(host, allow_remote=allow_remote)
        upstream: HTTPUpstream | RecordedUpstream
        if source.startswith(("http://", "https://")):
            upstream = HTTPUpstream(source, format)
        else:
            file = checked_file(Path(source))
            assert file is not None
            blocks = [block for block in arrivals(Input(file)) if block]
            if not any(block.strip() for block in blocks):
                raise EmptyError
            wire = wire_of(list(pieces_of(blocks)), format)
            if not wire.frames or wire.format is None:
                raise RecordingError("this is not the stream of a provider")
            upstream = RecordedUpstream(wire, speed)
        with GatewayServer(upstream, (host, port), times=requests, is_open=allow_remote) as server:
            if allow_remote:
                complain("this gateway has no token: everyone who can reach this address can use it")
            write_text(f"gateway on {server.url}  OPENAI_BASE_URL={server.url}/v1 ANTHROPIC_BASE_URL={server.url}\n")
            server.serve()
