"""`unspool relay`: publish a stream, follow it from elsewhere, look at it, cancel it."""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from contextlib import closing, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...._errors import OptionsError
from ....llm._sources import read_chunk
from ...viewer.timeline import EMPTY
from ..arrivals import STANDARD_INPUT, Clock, Input, ticking
from ..help import SubgroupWithExamples
from ..options import File, Format, Kind
from ..terminal import BROKEN, UsageError, complain, guarded, write_line, write_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator

    from ....relay import Fold, Publisher, RedisLog, Relay
    from ...viewer.inputs import InputDecoder, TimedItem

__all__ = ["relay"]

relay = typer.Typer(
    cls=SubgroupWithExamples,
    help="Publish streams, follow them from anywhere, and cancel them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the stream.")]
Redis = Annotated[
    str | None,
    typer.Option("--redis", metavar="URL", envvar="UNSPOOL_REDIS", help="Redis with the streams: redis://host:port/0."),
]
KEEP: Final = 600.0  # seconds


@relay.command(short_help="Publish the input as a stream.")
def publish(
    name: Name,
    file: File = STANDARD_INPUT,
    redis: Redis = None,
    speed: Annotated[
        float, typer.Option("--speed", min=0.0, help="Speed factor of a recording; 0 plays it at once.")
    ] = 1.0,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on without Redis; 0 is any free port.")
    ] = 0,
    keep: Annotated[
        float, typer.Option("--keep", min=0.0, metavar="SECONDS", help="Without Redis, serve this long after the end.")
    ] = KEEP,
    kind: Kind = None,
    format: Format = None,
) -> None:
    """Publish a pipe, a file or a recording: a provider's stream as a message, other input as JSON text.

    Without Redis, the stream lives in this process, and followers read it from a local address.
    """
    source = Input(file, kind, format)
    with guarded(source.name), _explained():
        from ....relay._log import check_name

        check_name(name)
        if redis is None:
            _need("starlette", "uvicorn")
            _run(_serve(name, source, speed, port, keep))
        else:
            _run(_publish_to_redis(name, source, speed, redis))


@relay.command(short_help="Follow a stream.")
def follow(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the stream, or the URL that serves it.")],
    redis: Redis = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print snapshots, patches and the end as JSON lines.")
    ] = False,
    after: Annotated[
        str | None, typer.Option("--after", metavar="CURSOR", help="Go on after this line of an earlier --json.")
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", min=0.0, metavar="SECONDS", help="Wait so long for the stream to begin.")
    ] = 5.0,
) -> None:
    """Follow a stream to its end: the text of a message as it grows, and of other streams the last document.

    The exit status is 0 if the stream ends as "done".
    """
    is_address = name.startswith(("http://", "https://"))
    with guarded(name if is_address else ""), _explained():
        from ..relay_follow import followed, from_relay, from_server

        if is_address:
            events = from_server(name, after)
        else:
            _need("redis")
            events = from_relay(_log_at(_url(redis)), name, after, wait)
        with closing(events):
            status = followed(events, as_json=as_json)
        if status != "done":
            complain(f"the stream ended: {status}")
            raise typer.Exit(BROKEN)


@relay.command(short_help="Show the state of a stream.")
def status(name: Name, redis: Redis = None) -> None:
    """Print the state of a stream as a JSON line: its status, its cursor, its writer, and whether that is alive."""
    with guarded(), _explained():

        async def show(relay: Relay) -> None:
            found = await relay.status(name)
            write_line(
                {
                    "name": found.name,
                    "status": found.status,
                    "cursor": str(found.cursor),
                    "owner": found.owner,
                    "lease_left": round(found.lease_left, 3),
                    "cancel": found.cancel,
                }
            )

        _run(_with_relay(_url(redis), show))


@relay.command(short_help="Cancel a stream.")
def cancel(
    name: Name,
    redis: Redis = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; followers see it at the end.")] = "",
    now: Annotated[bool, typer.Option("--now", help="Do not wait for the writer.")] = False,
) -> None:
    """Ask the writer of a stream to stop. Without a writer, the stream ends at once."""
    with guarded(), _explained():
        _run(_with_relay(_url(redis), lambda relay: relay.cancel(name, reason, now=now)))


# ---- publishing ----


async def _publish_to_redis(name: str, source: Input, speed: float, url: str) -> None:
    from ....relay import Relay

    _need("redis")
    async with Relay(_log_at(url)) as relay:
        await _publish(relay, name, source, speed)


async def _publish(relay: Relay, name: str, source: Input, speed: float) -> None:
    """Publish the input. Ctrl-C cancels the stream."""
    opening = source.opening(snapshots=True)
    items = ticking(source, opening, speed, Clock())
    first = await _next_item(items)
    fold = _fold_of(opening)
    try:
        async with relay.publish(name, fold) as out:
            await _send(out, opening, first, items)
    except asyncio.CancelledError:
        await relay.finish(name, "cancelled", reason="the publisher was interrupted", force=True)
        raise
    found = await relay.status(name)
    if found.status != "done":
        complain(f"{source.name}: {EMPTY}" if source.head.is_blank else f"the stream ended: {found.status}")
        raise typer.Exit(BROKEN)


async def _send(
    out: Publisher[Any], opening: InputDecoder, first: TimedItem | None, items: Iterator[TimedItem | None]
) -> None:
    assert opening.found is not None
    is_message = opening.found.is_message
    text = getincrementaldecoder("utf-8")("replace")
    timed = first
    while timed is not None:
        if not is_message:
            for piece in timed.item.pieces:
                fragment = piece.fragment
                await out.send(text.decode(fragment) if isinstance(fragment, bytes) else fragment)
        elif isinstance(chunk := read_chunk(timed.item.raw), dict):
            await out.send(chunk)
        elif timed.item.problem:
            complain(timed.item.problem)
        timed = await _next_item(items)
    if not is_message:
        await out.send(text.decode(b"", final=True))


async def _next_item(items: Iterator[TimedItem | None]) -> TimedItem | None:
    """Return the next item; None at the end. Each wait of the iterator is short, so that Ctrl-C is not missed."""
    end = object()
    while True:
        found = await asyncio.to_thread(next, items, end)
        if found is end:
            return None
        if found is not None:
            return found  # type: ignore[return-value]


def _fold_of(opening: InputDecoder) -> Fold[Any]:
    from ....relay import JSONText, Messages

    found = opening.found
    assert found is not None
    text: JSONText[Any] = JSONText(options=found.options)
    return Messages(format=found.format) if found.is_message else text


async def _serve(name: str, source: Input, speed: float, port: int, keep: float) -> None:
    """Publish the input in this process, and serve it on this machine."""
    from ....relay import Relay
    from ..relay_server import RelayServer

    async with Relay(retention=max(keep, 1.0)) as relay:
        server = RelayServer(relay, port)
        serving = asyncio.create_task(server.serve())
        publishing = asyncio.create_task(_publish(relay, name, source, speed))
        try:
            write_text(f"{server.url}/streams/{name}\n")
            await asyncio.wait((publishing, serving), return_when=asyncio.FIRST_COMPLETED)
            if publishing.done() and publishing.exception() is None:
                await asyncio.wait((serving,), timeout=keep)
        finally:
            publishing.cancel()
            server.should_exit = True
            await asyncio.wait((publishing, serving))
        await publishing


# ---- helpers ----


async def _with_relay(url: str, act: Callable[[Relay], Awaitable[None]]) -> None:
    from ....relay import Relay

    _need("redis")
    async with Relay(_log_at(url)) as relay:
        await act(relay)


def _log_at(url: str) -> RedisLog:
    from ....relay import RedisLog

    try:
        return RedisLog.from_url(url)
    except OptionsError as error:
        raise UsageError(f"--redis: {error}") from None  # without the URL, which may hold a password


def _url(redis: str | None) -> str:
    if redis is None:
        raise UsageError("name the Redis with the streams: --redis URL, or the variable UNSPOOL_REDIS")
    return redis


def _need(*names: str) -> None:
    lacking = [name for name in names if find_spec(name) is None]
    if lacking:
        extra = "redis" if "redis" in lacking else "studio"
        raise UsageError(f"this needs {' and '.join(lacking)}: pip install 'unspool[{extra}]'")


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


@contextmanager
def _explained() -> Generator[None]:
    """Say why a log did not answer: the message of `LogError` is for programs, which have its cause."""
    from ....relay import LogError

    try:
        yield
    except LogError as error:
        raise OSError(f"--redis: {error.__cause__ or error}") from None
