"""examples/chat_app: two workers and a Redis; a worker is killed in the middle of an answer, and the page goes on."""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.support.redis_server import needs_redis
from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.either
APP: Final = PROJECT / "examples" / "chat_app"
PATIENCE: Final = 180.0  # seconds, on a busy machine
DONE: Final = "() => window.turns.at?.(-1)?.stream.view.status === 'done'"
OPEN: Final = "() => window.turns.at?.(-1)?.stream.view.status === 'open'"
PART: Final = "([at, field]) => window.turns.at?.(-1)?.stream.view.document.parts[at]?.[field]"


@contextmanager
def running(*options: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str], list[str]]]:
    """The example, its address, and what it says before that. It stops at the end, with everything that it started."""
    process = subprocess.Popen(
        [sys.executable, str(APP), "--port", "0", "--pause", "0.02", *options],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        env={**os.environ, **environment},
    )
    said: list[str] = []
    try:
        assert process.stdout is not None
        while not (said and said[-1].startswith("open ")):
            said.append(process.stdout.readline().strip())
            assert process.poll() is None, said
        url = said.pop().removeprefix("open ")
        # A browser can open the address as soon as it is printed.
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), PATIENCE).close()
        until(lambda: asked(f"{url}/static/chat.js", b"follow") is not None, "the server")
        yield url, process, said
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        finally:
            assert process.stdout is not None
            process.stdout.close()


def until(is_so: Any, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)


def asked(url: str, part: bytes = b"") -> bytes | None:
    try:
        found: bytes = urllib.request.urlopen(url, timeout=PATIENCE).read()
    except OSError:
        return None
    return found if part in found else None


def parent_of(pid: int) -> int:
    """The parent of a process, so that no test kills a process of a stranger."""
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])


def children_of(pid: int) -> set[int]:
    found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return {each for each in found if Path(f"/proc/{each}/stat").exists() and parent_of(each) == pid}


def expected() -> dict[str, Any]:
    """What the recorded answer says."""
    return runpy.run_path(str(APP / "answers.py"))


def status_of(page: Page) -> dict[str, Any]:
    """Who writes the first answer of a chat."""
    found: list[bytes] = []

    def is_told() -> bool:
        found.extend(filter(None, [asked(f"{page.url}/turns/0")]))
        return bool(found)

    until(is_told, "the status")
    told: dict[str, Any] = json.loads(found[-1])
    return told


def epoch_of(page: Page) -> str:
    """The claim that the page has seen last; each writer has its own."""
    found: str = page.evaluate("() => window.turns.at(-1).stream.view.cursor.split('-')[1]")
    return found


@needs_redis
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
def test_a_killed_worker_is_replaced_in_the_middle_of_an_answer(browser: Browser) -> None:
    """The page that follows goes on with the very next character; a second device sees the same."""
    # On a slow machine an answer may end before its worker is killed. Then the next one takes longer.
    assert any(is_replaced(browser, pause) for pause in ("0.05", "0.3", "2"))


def is_replaced(browser: Browser, pause: str) -> bool:
    """Kill the worker that writes an answer. Return False if the answer had ended before."""
    with running("--pause", pause) as (url, process, said):
        assert said == []
        started = children_of(process.pid)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(PATIENCE * 1000)
        complaints: list[str] = []
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url)
        page.fill("#prompt", "A walk through Porto")
        page.press("#prompt", "Enter")
        page.wait_for_function("() => window.turns.at?.(-1)?.stream.view.document?.parts[1]?.text.length > 60")
        other = context.new_page()
        other.goto(page.url)
        told: dict[str, Any] = {"status": "open", "writer": None}
        while told["status"] == "open" and told["writer"] is None:
            told = status_of(page)
        if told["status"] != "open":
            context.close()
            return False
        pid = int(told["writer"].removeprefix("worker-"))
        assert parent_of(pid) == process.pid
        before, epoch = page.evaluate(PART, [1, "text"]), epoch_of(page)
        os.kill(pid, signal.SIGKILL)
        until(lambda: not Path(f"/proc/{pid}").exists() or pid not in children_of(process.pid), "the end of the worker")
        for each in (page, other):
            each.wait_for_function(DONE)
            assert each.evaluate(PART, [1, "text"]) == expected()["ANSWER"]
            assert each.evaluate(PART, [0, "text"]) == expected()["THOUGHT"]
            assert each.evaluate(PART, [2, "value"])["stops"] == expected()["STOPS"]
        assert expected()["ANSWER"].startswith(before)
        assert "São Bento" in page.inner_text(".call")
        assert complaints == []
        has_other_writer = epoch_of(page) != epoch
        page.reload()  # the answer is kept for a while
        page.wait_for_function(DONE)
        context.close()
        started |= children_of(process.pid)
    assert not [each for each in started if Path(f"/proc/{each}").exists() and parent_of(each) == process.pid]
    return has_other_writer


def test_without_redis_it_runs_in_one_process_and_says_so(browser: Browser, tmp_path: Path) -> None:
    """The same page; stopping an answer ends it for all devices, also while the model is silent."""
    with running("--pause", "3600", PATH=str(tmp_path)) as (url, _, said):  # it does not end before it is stopped
        assert "one process" in said[0]
        context = browser.new_context(viewport={"width": 390, "height": 844}, device_scale_factor=2)
        context.set_default_timeout(PATIENCE * 1000)
        page, other = context.new_page(), context.new_page()
        page.goto(url)
        page.fill("#prompt", "A walk <b>through</b> Porto")
        page.click("#send")
        page.wait_for_function(OPEN)
        other.goto(page.url)
        other.wait_for_function(OPEN)
        assert page.inner_text(".question") == "A walk <b>through</b> Porto"
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")  # nothing is cut off
        refused: list[str] = []

        def lose(route: Route) -> None:  # the first two requests to stop it are lost
            if len(refused) < 2:
                refused.append(route.request.url)
                route.abort()
            else:
                route.continue_()

        other.route("**/cancel", lose)
        other.click(".stop")
        for each in (page, other):
            each.wait_for_function("() => window.turns.at?.(-1)?.stream.view.status === 'cancelled'")
        assert len(refused) == 2
        context.close()


def test_a_chat_is_shown_to_those_who_have_its_address(tmp_path: Path) -> None:
    """An answer that nobody asked for is refused, whatever the name."""
    with running(PATH=str(tmp_path)) as (url, _, _said):
        for path in ("/chats/guess/turns/0/events", "/chats/guess.0/turns/0", "/chats/a/turns/-1/events"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(url + path, timeout=PATIENCE)
            refused.value.close()
            assert refused.value.code in {403, 404}
