"""A typed stream in a FastAPI endpoint: patches over Server-Sent Events, and a page that shows them.

``POST /trips`` starts an answer, and ``GET /trips/{id}/events`` streams it. The example replays a recorded answer and
needs no key: to ask a real model, replace `ask_a_model`. `aiter_changes` reads each fragment as a part of a `Trip` and
yields a patch, which gets a number. A browser that loses the connection sends the last number that it has seen in
``Last-Event-ID``, and gets the patches after it.

Needs FastAPI, uvicorn and pydantic: ``pip install fastapi uvicorn "unspool[pydantic]"``. Then
``python examples/fastapi_sse.py``, and open the address that it prints.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Literal, cast

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Query
from fastapi.responses import FileResponse, StreamingResponse
from pydantic import BaseModel

from unspool import UnspoolError
from unspool.llm import SSEEvent, encode_sse
from unspool.typed import aiter_changes

FOLDER = Path(__file__).parent
RECORDED = (FOLDER / "itinerary.json").read_text(encoding="utf-8")
SIZE = 12  # characters in a fragment
MOST_DIGITS = 10  # of the number of an event
MOST_ANSWERS = 16  # that are kept; the oldest finished one goes first
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; connect-src 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
}


class Activity(BaseModel):
    """Something to do."""

    time: datetime.time
    name: str
    type: Literal["walk", "ride", "food", "sight", "tasting"]
    hours: float
    booked: bool | None


class Day(BaseModel):
    """What is done on one day."""

    title: str
    note: str
    activities: list[Activity]


class Trip(BaseModel):
    """The whole answer. Other keys in the text are ignored."""

    title: str
    travellers: int
    days: list[Day]


async def ask_a_model(pause: float) -> AsyncIterator[str]:
    """The fragments of the answer. In a program, the text that a provider's library streams."""
    for start in range(0, len(RECORDED), SIZE):
        yield RECORDED[start : start + SIZE]
        await asyncio.sleep(pause)


class Answer:
    """An answer while it comes: its events so far, kept for whoever comes back, and a bell for those who wait.

    The log cannot grow without bound, since the text cannot: its length is limited by the options of the parser.
    """

    def __init__(self) -> None:
        self.log: list[bytes] = []
        self.is_finished = False
        self._news = asyncio.Event()

    async def run(self, fragments: AsyncIterator[str]) -> None:
        """Read the answer to its end, or to the first fragment after which it can no longer be a trip."""
        try:
            async for changes in aiter_changes(Trip, fragments):
                if changes.patch:
                    self._tell("patch", changes.patch)
            self._tell("done", None)
        except UnspoolError as error:  # its message names the place, and never quotes the text
            self._tell("failed", str(error))
        finally:
            self.is_finished = True
            self._news.set()

    def _tell(self, name: str, data: object) -> None:
        self.log.append(encode_sse(SSEEvent(json.dumps(data), name, id=str(len(self.log)))))
        self._news.set()
        self._news = asyncio.Event()  # the next news has a bell of its own

    async def events(self, start: int) -> AsyncIterator[bytes]:
        """The events from `start` on, those that are there and those that come."""
        while True:
            while start < len(self.log):
                yield self.log[start]
                start += 1
            if self.is_finished:
                return
            await self._news.wait()


ANSWERS: dict[str, Answer] = {}
TASKS: set[asyncio.Task[None]] = set()  # the loop itself holds on to none of them

app = FastAPI(title="A typed stream")


@app.get("/")
async def page() -> FileResponse:
    """The page."""
    return FileResponse(FOLDER / "fastapi_sse.html", headers=HEADERS)


@app.get("/fastapi_sse.js")
async def script() -> FileResponse:
    """The script of the page."""
    return FileResponse(FOLDER / "fastapi_sse.js", headers=HEADERS)


@app.get("/fastapi_sse.css")
async def style() -> FileResponse:
    """The look of the page."""
    return FileResponse(FOLDER / "fastapi_sse.css", headers=HEADERS)


@app.post("/trips", status_code=201)
async def start_answer(pause: Annotated[float, Query(ge=0, le=1)] = 0.02) -> dict[str, str]:
    """Start an answer. It goes on whether anybody listens or not."""
    make_room()
    name = secrets.token_urlsafe(8)
    answer = ANSWERS[name] = Answer()
    task = asyncio.create_task(answer.run(ask_a_model(pause)))
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)
    return {"id": name, "events": f"/trips/{name}/events"}


def make_room() -> None:
    """Forget the oldest finished answer when there are too many; refuse when none is finished."""
    if len(ANSWERS) >= MOST_ANSWERS:
        finished = next((name for name, answer in ANSWERS.items() if answer.is_finished), None)
        if finished is None:
            raise HTTPException(503, "too many answers at once")
        del ANSWERS[finished]


@app.get("/trips/{name}/events")
async def events(name: str, last_event_id: Annotated[str | None, Header()] = None) -> StreamingResponse:
    """The events of an answer: from the start, or after the one that the browser had last."""
    answer = ANSWERS.get(name)
    if answer is None:
        raise HTTPException(404, "no such answer")
    had = last_event_id or ""
    start = int(had) + 1 if had.isdecimal() and len(had) < MOST_DIGITS else 0
    return StreamingResponse(
        answer.events(start), media_type="text/event-stream", headers={**HEADERS, "Cache-Control": "no-store"}
    )


def main() -> None:
    """Serve on this machine alone."""
    options = argparse.ArgumentParser(description="A typed stream in a FastAPI endpoint.")
    options.add_argument("--port", type=int, default=8000, help="0 takes any that is free")
    uvicorn.run(app, host="127.0.0.1", port=cast("int", options.parse_args().port), timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
