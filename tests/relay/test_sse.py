"""`Relay.sse`: the responses, the limits, and the faults of the catalogue that pages meet."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route

from tests.support.asgi import Response, asked
from unspool import OptionsError
from unspool.llm import Encoder, SSEDecoder
from unspool.patch import apply
from unspool.relay import CancelError, Cursor, Document, End, JSONText, Messages, Relay
from unspool.relay.web import SSESettings, browser_client

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response as HTTPResponse

    from unspool.llm import SSEEvent

CHUNKS: Final[list[dict[str, Any]]] = [
    {"message": {"role": "assistant", "content": "Hel"}, "done": False},
    {"message": {"content": "lo, "}, "done": False},
    {"message": {"content": "world"}, "done": True, "done_reason": "stop"},
]
TEXT: Final[JSONText[Any]] = JSONText()
FAST: Final = SSESettings(keep_alive=0.05, stall=0.2, wait=0.05)


def everybody(request: Request, name: str) -> bool:
    return True


def app_of(relay: Relay, authorize: Any = everybody, **options: Any) -> Starlette:
    """An application with one endpoint."""

    async def stream(request: Request) -> HTTPResponse:
        return relay.sse(request.path_params["name"], request, authorize=authorize, **options)

    return Starlette(routes=[Route("/streams/{name:path}", stream, methods=["GET", "POST"])])


def running(test: Callable[[Relay], Awaitable[None]], **settings: Any) -> None:
    """Run a test with a relay of its own, which must be left clean."""

    async def run() -> None:
        async with asyncio.timeout(180), Relay(linger=0, **settings) as relay:
            await test(relay)

    asyncio.run(run())


async def published(relay: Relay, name: str = "chat") -> None:
    """A stream that has ended."""
    async with relay.publish(name) as out:
        for chunk in CHUNKS:
            await out.send(chunk)
            await out.flush()


def document_of(events: list[SSEEvent]) -> Any:
    """The document that a page has after these events."""
    document: Any = None
    for event in events:
        if event.event == "snapshot":
            document = json.loads(event.data)["document"]
        elif event.event == "patch":
            document = apply(document, json.loads(event.data))
    return document


def decoded(text: str) -> list[SSEEvent]:
    return list(SSEDecoder().feed(text.encode()))


def text_of(document: Any) -> str:
    return "".join([part["text"] for part in document["parts"] if part["type"] == "text"])


# ---- the wire ------------------------------------------------------------------------------------------


def test_a_page_follows_from_the_first_entry_to_the_end() -> None:
    """A snapshot, patches and the end, each with an id; and the headers that proxies need."""

    async def test(relay: Relay) -> None:
        app = app_of(relay)
        out = await relay.publish("chat").__aenter__()
        await out.send(CHUNKS[0])
        await out.flush()
        async with asked(app, "/streams/chat") as response:
            events = [await response.event()]
            assert (response.status, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
            assert response.headers["cache-control"] == "no-store"
            assert response.headers["x-accel-buffering"] == "no"
            assert text_of(document_of(events)) == "Hel"
            for chunk in CHUNKS[1:]:
                await out.send(chunk)
                await out.flush()
                events.append(await response.event())
            assert [event.event for event in events] == ["snapshot", "patch", "patch"]
            assert all(Cursor.parse(event.id) for event in events)
            await out.__aexit__(None, None, None)
            events += await response.events()
            assert events[-1].event == "end"
            assert json.loads(events[-1].data) == {"status": "done"}
            document = document_of(events)
            assert (text_of(document), document["is_complete"]) == ("Hello, world", True)
            assert response.is_whole

    running(test)


def test_a_page_that_resumes_gets_what_it_lacks() -> None:
    """`Last-Event-ID` or `?after=`: the entries after it, and no snapshot."""

    async def test(relay: Relay) -> None:
        await published(relay)
        app = app_of(relay)
        async with asked(app, "/streams/chat") as response:
            whole = await response.events()
        assert text_of(document_of(whole)) == "Hello, world"
        first = await relay.log.read("chat", Cursor(0, 0), 9)
        for entry in first[:-1]:
            for headers, query in (({"last-event-id": str(entry.cursor)}, ""), ({}, f"?after={entry.cursor}")):
                async with asked(app, f"/streams/chat{query}", headers) as response:
                    events = await response.events()
                assert "snapshot" not in [event.event for event in events]
                assert events[-1].event == "end"

    running(test)


@pytest.mark.parametrize("cursor", ["-1", "0", "abc", "999-1", "1-", "$", "9" * 500 + "-1", "\u0661-\u0661"])
def test_fault_11_an_invalid_cursor_is_none(cursor: str) -> None:
    """F11: a place that cannot be gets a snapshot, once; nothing is replayed onto what the page has."""

    async def test(relay: Relay) -> None:
        await published(relay)
        headers = {"last-event-id": cursor} if cursor.isascii() else {}
        async with asked(app_of(relay), "/streams/chat", headers) as response:
            events = await response.events()
        assert [event.event for event in events] == ["snapshot", "end"]
        assert text_of(document_of(events)) == "Hello, world"

    running(test)


def test_a_page_that_has_the_end_gets_204() -> None:
    """An EventSource that reconnects with the id of the end stops for good."""

    async def test(relay: Relay) -> None:
        await published(relay)
        app = app_of(relay)
        async with asked(app, "/streams/chat") as response:
            last = (await response.events())[-1].id
        async with asked(app, "/streams/chat", {"last-event-id": str(last)}) as response:
            await response.events()
            assert (response.status, response.body) == (204, b"")

    running(test)


@pytest.mark.parametrize("is_late", [False, True])
def test_fault_7_a_page_that_loses_its_connection_before_the_end_is_told_the_end(is_late: bool) -> None:
    """F7: an id says what a page has. Only the event "end" has the one that is answered with 204."""

    async def test(relay: Relay) -> None:
        app = app_of(relay)
        if is_late:
            await published(relay)
        async with asked(app, "/streams/chat") as response:
            if not is_late:
                await published(relay)
            whole = await response.events()
        frames = [frame for frame in response.body.decode().split("\n\n") if "id: " in frame]
        ids = [frame.partition("id: ")[2].partition("\n")[0] for frame in frames]
        assert whole[-1].event == "end"
        assert ids[-1] not in ids[:-1]
        for number, place in enumerate(ids):
            async with asked(app, "/streams/chat", {"last-event-id": place}) as response:
                rest = await response.events()
            if number == len(ids) - 1:
                assert response.status == 204
                continue
            assert rest[-1].event == "end"
            kept = decoded("\n\n".join(frames[: number + 1]) + "\n\n")
            assert document_of([*kept, *rest]) == document_of(whole)

    running(test)


FOLDS: Final[list[tuple[Any, list[Any], Any]]] = [
    (Messages(), CHUNKS, "Hello, world"),
    (TEXT, ['{"a": "x', "y", '"}'], {"a": "xy"}),
    (
        Document(),
        [
            [{"op": "add", "path": "", "value": {"a": ""}}],
            *[[{"op": "append", "path": "/a", "value": x}] for x in "xy"],
        ],
        {"a": "xy"},
    ),
]


@pytest.mark.parametrize(("fold", "pieces", "expected"), FOLDS)
def test_fault_17_a_reload_just_after_the_end_doubles_nothing(fold: Any, pieces: list[Any], expected: Any) -> None:
    """F17: the last entry has items of its own. A page that joins behind it has them from the snapshot already."""

    async def test(relay: Relay) -> None:
        app = app_of(relay)

        def shown(events: list[SSEEvent]) -> Any:
            document = document_of(events)
            return text_of(document) if isinstance(fold, Messages) else document

        async with asked(app, "/streams/chat") as live:
            async with relay.publish("chat", fold, linger=60) as out:
                await out.send(pieces[0])
                await out.flush()
                events = [await live.event()]
                for piece in pieces[1:]:
                    await out.send(piece)
            events += await live.events()
            assert [event.event for event in events] == ["snapshot", "patch", "end"]
            assert shown(events) == expected
        for _ in range(2):
            async with asked(app, "/streams/chat") as late:
                events = await late.events()
            assert [event.event for event in events] == ["snapshot", "end"]
            assert shown(events) == expected
        assert relay.metrics["hubs"] == 1
        *_, last = [news async for news in relay.follow("chat")]
        assert isinstance(last, End)
        assert (last.items, last.before is last.state) == ([], True)

    running(test)


def test_what_is_gone_gets_410() -> None:
    """A stream that was never there, or is no more, is gone; a page does not come back for it."""

    async def test(relay: Relay) -> None:
        await published(relay)
        app = app_of(relay, settings=FAST)
        async with asked(app, "/streams/other") as response:
            await response.events()
            assert response.status == 410
        await relay.drop("chat")
        async with asked(app, "/streams/chat", {"last-event-id": "2-1"}) as response:
            await response.events()
            assert response.status == 410

    running(test, hub_idle=0)


def test_fault_20_a_page_may_come_before_the_first_entry() -> None:
    """F20: a stream that begins while the page waits is followed from its beginning."""

    async def test(relay: Relay) -> None:
        async with asked(app_of(relay), "/streams/chat") as response:
            await asyncio.sleep(0.05)
            await published(relay)
            assert text_of(document_of(await response.events())) == "Hello, world"

    running(test)


def test_head_answers_without_a_body() -> None:
    """HEAD tells the type, and follows nothing."""

    async def test(relay: Relay) -> None:
        await relay.create("chat")
        async with asked(app_of(relay), "/streams/chat", method="HEAD") as response:
            await response.events()
            assert (response.status, response.body) == (200, b"")

    running(test)


def test_json_text_and_documents_have_views_of_their_own() -> None:
    """The wire shows every fold: the value of a text, or the document itself."""

    async def test(relay: Relay) -> None:
        app = app_of(relay)
        async with asked(app, "/streams/text") as text, asked(app, "/streams/document") as document:
            async with relay.publish("text", TEXT) as out:
                for piece in ('{"title": "Tr', "ip", '", "days": [1', ", 2]}"):
                    await out.send(piece)
                    await out.flush()
            async with relay.publish("document", Document()) as patches:
                await patches.send([{"op": "add", "path": "", "value": {"a": "x"}}])
                await patches.flush()
                await patches.send([{"op": "append", "path": "/a", "value": "y"}])
            assert document_of(await text.events()) == {"title": "Trip", "days": [1, 2]}
            assert document_of(await document.events()) == {"a": "xy"}

    running(test)


# ---- who may see it ------------------------------------------------------------------------------------


def test_authorize_is_required() -> None:
    """A name is not a secret: an endpoint without a check cannot be written by accident."""
    relay = Relay()
    with pytest.raises(TypeError, match="authorize"):
        relay.sse("chat", Request({"type": "http", "headers": []}))  # type: ignore[call-arg]


@pytest.mark.parametrize("answer", [False, None, 0, "yes", 1])
@pytest.mark.parametrize("wire", ["patch", "vercel-ui", "ag-ui", "openai-chat"])
def test_fault_24_an_unauthorised_client_sees_nothing(answer: Any, wire: str) -> None:
    """F24: no stream, no cursor and no status: a client that may not see it cannot tell whether there is one."""

    async def test(relay: Relay) -> None:
        await published(relay)
        seen: list[str] = []

        async def check(request: Request, name: str) -> Any:
            seen.append(name)
            await asyncio.sleep(0)
            return answer

        app = app_of(relay, check, wire=wire, settings=FAST)
        answers = []
        for name in ("chat", "other"):
            async with asked(app, f"/streams/{name}", {"last-event-id": "1-1"}) as response:
                await response.events()
                answers.append((response.status, response.body))
        assert answers[0] == answers[1]
        assert answers[0][0] == 403
        assert b"Hel" not in answers[0][1]
        assert seen == ["chat", "other"]
        assert relay.hubs == 0

    running(test)


def test_the_check_may_answer_itself() -> None:
    """An exception of the check becomes the answer of the framework."""

    async def test(relay: Relay) -> None:
        def check(request: Request, name: str) -> bool:
            raise HTTPException(401, "who are you?")

        async with asked(app_of(relay, check), "/streams/chat") as response:
            await response.events()
            assert (response.status, response.body) == (401, b"who are you?")

    running(test)


@pytest.mark.parametrize("name", ["a b", "a/b", "%00", "ä", "a" * 201, "..%2f"])
def test_names_are_checked(name: str) -> None:
    """A name that no stream can have is not looked for, and the check of the application never sees it."""

    async def test(relay: Relay) -> None:
        seen: list[str] = []

        def check(request: Request, name: str) -> bool:
            seen.append(name)
            return True

        async with asked(app_of(relay, check), f"/streams/{name}") as response:
            await response.events()
            assert response.status == 404
        assert seen == []

    running(test)


# ---- the connection ------------------------------------------------------------------------------------


def test_comments_keep_the_connection_alive() -> None:
    """A silent stream sends comments, and they are no events."""

    async def test(relay: Relay) -> None:
        async with relay.publish("chat") as out:
            await out.send(CHUNKS[0])
            await out.flush()
            async with asked(app_of(relay, settings=FAST), "/streams/chat") as response:
                await response.event()
                await response.until(lambda: response.body.count(b": still here\n\n") >= 2)
                assert response._events == []

    running(test)


def test_fault_23_the_first_frame_has_an_id() -> None:
    """F23: a page that resumes and loses the connection at once still has its place."""

    async def test(relay: Relay) -> None:
        async with relay.publish("chat") as out:
            await out.send(CHUNKS[0])
            await out.flush()
            app = app_of(relay)
            async with asked(app, "/streams/chat") as response:
                place = (await response.event()).id
            assert place is not None
            async with asked(app, "/streams/chat", {"last-event-id": place}) as response:
                await response.until(lambda: b"\n\n" in response.body)
                frame = response.body.decode().partition("\n\n")[0]
                assert f"id: {place}" in frame
                assert "data" not in frame

    running(test)


def test_fault_25_pages_come_back_at_different_times() -> None:
    """F25: `retry` is different for each response, so a restart is not followed by a herd."""

    async def test(relay: Relay) -> None:
        await relay.create("chat")
        app = app_of(relay, settings=SSESettings(retry=(1.0, 3.0)))
        times: set[int] = set()
        for _ in range(20):
            async with asked(app, "/streams/chat") as response:
                await response.until(lambda response=response: b"retry: " in response.body)
                times.add(int(response.body.partition(b"retry: ")[2].partition(b"\n")[0]))
        assert len(times) > 10
        assert all(1000 <= time <= 3000 for time in times)

    running(test)


def test_a_response_has_a_longest_duration() -> None:
    """Behind a server that cuts long responses, each ends by itself, and the page goes on with the next one."""

    async def test(relay: Relay) -> None:
        await relay.create("chat")
        settings = SSESettings(max_duration=0.1)
        async with asked(app_of(relay, settings=settings), "/streams/chat") as response:
            events = await response.events()
        assert [event.event for event in events] == ["snapshot"]
        assert response.is_whole

    running(test)


def test_fault_21_a_client_that_does_not_read_is_sent_away() -> None:
    """F21: it delays nobody, holds nothing, and goes on later where it was. Its connection can be reset."""
    aborted: list[str] = []

    async def test(relay: Relay) -> None:
        app = app_of(relay, settings=FAST, abort=lambda request: aborted.append(request.url.path))
        async with relay.publish("chat") as out:
            await out.send(CHUNKS[0])
            await out.flush()
            async with asked(app, "/streams/chat") as slow, asked(app, "/streams/chat") as other:
                place = (await slow.event()).id
                await other.event()
                slow.reads.clear()
                await out.send(CHUNKS[1])
                await out.flush()
                assert (await other.event()).event == "patch"
                assert slow.task is not None
                await asyncio.wait_for(slow.task, 60)
                assert not slow.is_whole
                assert (aborted, relay.metrics["evicted"]) == (["/streams/chat"], 1)
                async with asked(app, "/streams/chat", {"last-event-id": str(place)}) as again:
                    assert (await again.event()).event == "patch"

    running(test)


def test_a_relay_that_is_closed_lets_its_pages_go() -> None:
    """Their responses end without the event "end": pages come back, to this process or to the next one."""

    async def test(relay: Relay) -> None:
        app = app_of(relay)
        async with relay.publish("chat") as out:
            async with asked(app, "/streams/chat") as response:
                await response.event()
                assert (relay.followers("chat"), relay.followers("other"), relay.followers()) == (1, 0, 1)
                await relay.aclose()
                assert await response.events() == []
                assert response.is_whole
            assert relay.followers() == 0
            await out.send(CHUNKS[0])

    running(test)


def test_fault_19_leaving_cancels_nothing() -> None:
    """F19: a page that leaves is a page that leaves; `cancel` is another thing, and reaches the writer."""

    async def test(relay: Relay) -> None:
        app = app_of(relay)
        async with relay.publish("chat") as out:
            await out.send(CHUNKS[0])
            await out.flush()
            async with asked(app, "/streams/chat") as response:
                await response.event()
            assert not out.cancel_requested
            await out.send(CHUNKS[1])
            await out.flush()
            await out.send(CHUNKS[2])
        assert (await relay.status("chat")).status == "done"

    running(test)


def test_a_cancelled_stream_ends_for_its_pages() -> None:
    """The end tells the status, and the reason that the application gave."""

    async def test(relay: Relay) -> None:
        async with asked(app_of(relay), "/streams/chat") as response:
            await relay.create("chat")
            await response.event()
            await relay.cancel("chat", "stop was pressed", now=True)
            assert json.loads((await response.events())[-1].data) == {
                "status": "cancelled",
                "reason": "stop was pressed",
            }

    running(test)


def test_limits_per_stream_and_client() -> None:
    """One client or one stream cannot take all connections: 429, with a time to come back."""

    async def test(relay: Relay) -> None:
        for name in ("a", "b", "c"):
            await relay.create(name)
        settings = SSESettings(followers=3, per_stream=2, per_client=2)
        apps = {user: app_of(relay, client=user, settings=settings) for user in ("ann", "bob", "")}

        async def begun(user: str, name: str) -> Any:
            context = asked(apps[user], f"/streams/{name}")
            return context, await (await context.__aenter__()).begun()

        async def status(user: str, name: str) -> int:
            context, response = await begun(user, name)
            if response.status == 429:
                assert int(response.headers["retry-after"]) >= 1
            await context.__aexit__(None, None, None)
            found: int = response.status
            return found

        first, _ = await begun("ann", "a")
        second, _ = await begun("ann", "b")
        assert await status("ann", "c") == 429  # of one client
        assert await status("bob", "c") == 200
        third, _ = await begun("bob", "a")
        assert await status("", "c") == 429  # of the process
        await second.__aexit__(None, None, None)
        assert await status("", "a") == 429  # of one stream
        assert await status("", "c") == 200
        for context in (first, third):
            await context.__aexit__(None, None, None)
        assert await status("ann", "a") == 200

    running(test)


def test_invalid_settings_are_errors() -> None:
    """A mistake in the program is an exception, not a response."""
    for wrong in ({"retry": (3.0, 1.0)}, {"keep_alive": 0}, {"stall": -1.0}, {"per_stream": 0}, {"wait": -1.0}):
        with pytest.raises(OptionsError):
            SSESettings(**wrong)

    async def test(relay: Relay) -> None:
        with pytest.raises(OptionsError, match="'ag-ui'"):
            relay.sse("chat", Request({"type": "http", "headers": []}), authorize=everybody, wire="soap")

    running(test)


def test_data_of_the_log_is_not_trusted() -> None:
    """An invalid entry ends the response unfinished, or is 503; nothing of it is shown."""

    async def test(relay: Relay) -> None:
        cursor = await relay.create("chat")
        app = app_of(relay)
        async with asked(app, "/streams/chat") as response:
            await response.event()
            await relay.log.append("chat", Cursor(cursor.offset + 1, cursor.epoch), "d", b'{"x": "<script>"}')
            assert await response.events() == []
            assert not response.is_whole
        async with asked(app, "/streams/chat") as response:
            await response.events()
            assert response.status == 503
            assert b"script" not in response.body

    running(test)


# ---- the protocols of others ---------------------------------------------------------------------------


def chunks_in(events: list[SSEEvent]) -> list[Any]:
    return [json.loads(event.data) for event in events if event.data != "[DONE]"]


@pytest.mark.parametrize("wire", ["vercel-ui", "vercel-ui-7", "ag-ui", "openai-chat"])
def test_fault_18_a_late_client_gets_a_prelude(wire: str) -> None:
    """F18: no delta before its start. Whoever joins late reads what the others read."""

    async def test(relay: Relay) -> None:
        app = app_of(relay, wire=wire)
        async with relay.publish("chat") as out:
            await out.send(CHUNKS[0])
            await out.flush()
            early = asked(app, "/streams/chat", method="POST")
            first = await (await early.__aenter__()).begun()
            await out.send(CHUNKS[1])
            await out.flush()
            late = asked(app, "/streams/chat", {"last-event-id": "2-1"}, method="POST")
            second = await (await late.__aenter__()).begun()
            await out.send(CHUNKS[2])
        answers = [chunks_in(await response.events()) for response in (first, second)]
        for context in (early, late):
            await context.__aexit__(None, None, None)
        told = [json.dumps([chunk for chunk in chunks if "usage" not in chunk]) for chunks in answers]
        for words in told:
            assert "Hel" in words
            assert "lo, " in words
            assert "world" in words
        assert answers[0][0] == answers[1][0]
        assert answers[0][-1] == answers[1][-1]

    running(test)


def test_vercel_asks_with_get_for_something_to_resume() -> None:
    """`useChat` gets 204 for a message that has ended, or is gone; the answer to its own POST is always a stream."""

    async def test(relay: Relay) -> None:
        await published(relay)
        app = app_of(relay, wire="vercel-ui", settings=FAST)
        for name in ("chat", "other"):
            async with asked(app, f"/streams/{name}") as response:
                await response.events()
                assert response.status == 204
        async with asked(app, "/streams/chat", method="POST") as response:
            events = await response.events()
            assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
            assert events[-1].data == "[DONE]"

    running(test)


def test_a_cancelled_message_ends_with_an_error_in_every_protocol() -> None:
    """No protocol lets a message that was cut off look whole."""

    async def test(relay: Relay) -> None:
        contexts, responses = [], []
        async with relay.publish("other"):
            pass
        out = relay.publish("chat")
        await out.__aenter__()
        await out.send(CHUNKS[0])
        await out.flush()
        for wire in ("vercel-ui", "ag-ui", "openai-chat"):
            contexts.append(asked(app_of(relay, wire=wire), "/streams/chat"))
            responses.append(await (await contexts[-1].__aenter__()).begun())
        await relay.cancel("chat", now=True)
        for response in responses:
            last = chunks_in(await response.events())[-1]
            assert "error" in json.dumps(last).lower()
        for context in contexts:
            await context.__aexit__(None, None, None)
        with pytest.raises(CancelError):
            await out.__aexit__(None, None, None)

    running(test)


def test_a_wire_may_be_an_encoder_of_the_application() -> None:
    """Its settings are those of `Encoder`."""

    async def test(relay: Relay) -> None:
        await published(relay)
        app = app_of(relay, wire=lambda: Encoder("openai-chat", id="mine", created=7, include_usage=True))
        async with asked(app, "/streams/chat") as response:
            chunks = chunks_in(await response.events())
        assert {(chunk["id"], chunk["created"]) for chunk in chunks} == {("mine", 7)}

    running(test)


# ---- the browser client --------------------------------------------------------------------------------


def test_the_browser_client_is_served_with_a_tag() -> None:
    """It is a module, and a browser that has it gets 304."""

    async def client(request: Request) -> HTTPResponse:
        return browser_client(request)

    app = Starlette(routes=[Route("/relay.js", client)])

    async def test(relay: Relay) -> None:
        responses: list[Response] = []
        for tag in (None, "same", '"other"'):
            headers = {} if tag is None else {"if-none-match": responses[0].headers["etag"] if tag == "same" else tag}
            async with asked(app, "/relay.js", headers) as response:
                await response.events()
                responses.append(response)
        assert [response.status for response in responses] == [200, 304, 200]
        assert responses[0].headers["content-type"].startswith("text/javascript")
        assert b"export function follow(" in responses[0].body

    running(test)
