"""Work beside the event loop, with threads and without."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

pytest.importorskip("starlette")

import importlib

from build_tools.playground.bridge import Bridge
from unspool.tools.studio.app import Studio
from unspool.tools.studio.requests import SessionOptions, query_of
from unspool.tools.studio.sessions import Sessions
from unspool.tools.studio.settings import Settings

beside = importlib.import_module("unspool.tools.studio.aside")
pytestmark = pytest.mark.either


def refuse(_: threading.Thread) -> None:
    pytest.fail("a thread was started")


@pytest.mark.parametrize("has_threads", [True, False], ids=["threads", "no threads"])
def test_aside_takes_a_thread_where_there_are_threads(monkeypatch: pytest.MonkeyPatch, has_threads: bool) -> None:
    """The work runs in another thread exactly where there are threads; results and errors are those of the work."""
    monkeypatch.setattr(beside, "HAS_THREADS", has_threads)

    async def both() -> bool:
        with pytest.raises(ZeroDivisionError):
            await beside.aside(lambda: 1 // 0)
        thread: threading.Thread = await beside.aside(threading.current_thread)
        return thread is threading.current_thread()

    assert asyncio.run(both()) is not has_threads


def test_sessions_work_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is loaded, viewed and dropped without a single thread."""
    monkeypatch.setattr(beside, "HAS_THREADS", False)
    monkeypatch.setattr(threading.Thread, "start", refuse)

    async def whole() -> str:
        sessions = Sessions(Settings())
        entry = await sessions.load("a text", b'{"title": "Fuji"}', SessionOptions())
        view = entry.session.view(query_of({}))
        assert await sessions.delete(entry.session.id)
        return str(view["text"]["chars"])

    assert asyncio.run(whole()) == '{"title": "Fuji"}'


def test_refusals_need_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are answered with their status, and no thread is started for that either."""
    monkeypatch.setattr(beside, "HAS_THREADS", False)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    sent: list[tuple[int, str, Any]] = []

    def post(number: int, kind: str, value: Any) -> None:
        sent.append((number, kind, value))

    async def refused() -> None:
        bridge = Bridge(Studio(None).app, post)
        json_type = {"Content-Type": "application/json"}
        bridge.send(1, "GET", "/api/sessions/absent/view?step=1", {}, b"")
        bridge.send(2, "POST", "/api/sessions", json_type, b"[]")
        bridge.send(3, "POST", "/api/sessions", {}, b"")
        bridge.send(4, "GET", "/absent", {}, b"")
        while [kind for _, kind, _ in sent].count("end") < 4:
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(refused(), 10))
    assert {number: value for number, kind, value in sent if kind == "status"} == {1: 404, 2: 422, 3: 415, 4: 404}
    assert {value for _, kind, value in sent if kind == "type"} == {"application/json"}
    assert b"no such session" in b"".join([value for number, kind, value in sent if (number, kind) == (1, "piece")])
