"""One process of openai-python: it resumes a response from a loopback server that numbers its events, as OpenAI's does.

``wire`` says how: "stream" is the helper, `responses.stream`, "retrieve" the plain request, `responses.retrieve`. Both
are told the number of the last event that the page has.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from .process import order, say, word

if TYPE_CHECKING:
    from collections.abc import Iterator

RESPONSE: Final = {
    "id": "resp_1",
    "object": "response",
    "created_at": 0,
    "model": "model",
    "output": [],
    "parallel_tool_calls": False,
    "status": "in_progress",
    "tool_choice": "auto",
    "tools": [],
}
PART: Final = {"type": "output_text", "text": "", "annotations": []}
ITEM: Final = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
OPENING: Final[tuple[dict[str, Any], ...]] = (
    {"type": "response.created", "response": RESPONSE},
    {"type": "response.in_progress", "response": RESPONSE},
    {"type": "response.output_item.added", "output_index": 0, "item": ITEM},
    {"type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": PART},
)
PLACE: Final = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": []}


def frames(words: int) -> Iterator[bytes]:
    """Yield the events of a message that is not finished."""
    deltas = ({"type": "response.output_text.delta", **PLACE, "delta": word(number)} for number in range(words))
    for number, event in enumerate([*OPENING, *deltas]):
        data = json.dumps({**event, "sequence_number": number}, separators=(",", ":"))
        yield f"event: {event['type']}\ndata: {data}\n\n".encode()


class Server(ThreadingHTTPServer):
    """It has sent `sent` in its last answer."""

    sent = b""

    def __init__(self, words: int) -> None:
        self.frames: Final = list(frames(words))
        super().__init__(("127.0.0.1", 0), Answer)


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        after = parse_qs(urlsplit(self.path).query).get("starting_after", ["-1"])[0]
        self.server.sent = b"".join(self.server.frames[int(after) + 1 :])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(self.server.sent)))
        self.end_headers()
        self.wfile.write(self.server.sent)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def join(order: dict[str, Any]) -> None:
    """Resume, and tell when the last word is there, and how many bytes that took."""
    from openai import OpenAI  # the other process has no use for it

    with Server(order["count"]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = OpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1", max_retries=0)
        say(ready=True)
        input()
        started, after = time.perf_counter(), int(order["after"])
        if order["wire"] == "stream":
            with client.responses.stream(response_id="resp_1", starting_after=after) as events:
                until_complete(events, order["count"])
        else:
            with client.responses.retrieve("resp_1", stream=True, starting_after=after) as events:
                until_complete(events, order["count"])
        took = time.perf_counter() - started
        news = server.sent.find(word(order["mark"]).encode())
        say(ms=took * 1000, bytes=len(server.sent), before_news=news)
        server.shutdown()


def until_complete(events: Any, words: int) -> None:
    last = word(words - 1)
    for event in events:
        if event.type == "response.output_text.delta" and event.delta == last:
            return
    raise RuntimeError("the last word is not there")


def main() -> None:
    orders = order()
    if orders["role"] == "join":
        join(orders)
    else:  # "write_words": the message is there already
        say(mark=str(len(OPENING) + orders["mark"] - 1))
        input()


if __name__ == "__main__":
    main()
