"""The chunks of a stream as text, on lines of their own or in server-sent events, each with the number of its line."""

from __future__ import annotations

from typing import Final, NamedTuple, final

from ...llm._wire import LineSplitter, SSEDecoder, StreamError

__all__ = ["LONGEST_LINE", "Payload", "Payloads"]

LONGEST_LINE: Final = 64 * 1024 * 1024


class Payload(NamedTuple):
    """The text of a chunk, and the number of the line on which it begins."""

    line: int
    text: str


@final
class Payloads:
    """Bytes in; the chunks on their lines, or in their events, out. What came before an error is delivered first."""

    def __init__(self, *, is_sse: bool) -> None:
        self._lines = LineSplitter(LONGEST_LINE, lone_cr=is_sse)
        self._events = SSEDecoder(max_line=LONGEST_LINE, max_event=LONGEST_LINE) if is_sse else None
        self._begin: int | None = None  # where the data of the event that is read begins
        self._error: StreamError | None = None

    def feed(self, data: bytes) -> list[Payload]:
        """What these bytes complete."""
        lines = self._lines.feed(data)
        return self._delivered(self._read(lines, self._lines.count - len(lines) + 1))

    def close(self) -> list[Payload]:
        """What the end completes."""
        number = self._lines.count + 1
        return self._delivered(self._read([self._lines.close()], number, is_end=True))

    def _read(self, lines: list[str], number: int, *, is_end: bool = False) -> list[Payload]:
        payloads: list[Payload] = []
        for line in lines:
            try:
                payloads += [payload for payload in self._ended_by(line, number, is_end) if payload.text.strip()]
            except StreamError as error:
                self._error = error
                break
            number += 1
        return payloads

    def _ended_by(self, line: str, number: int, is_end: bool) -> list[Payload]:
        if self._events is None:
            return [Payload(number, line)]
        if self._begin is None and line.startswith("data"):
            self._begin = number
        events = self._events.feed(line) + self._events.close() if is_end else self._events.feed(line + "\n")
        begin = self._begin or number
        if events:
            self._begin = None
        return [Payload(begin, event.data) for event in events]

    def _delivered(self, payloads: list[Payload]) -> list[Payload]:
        error = self._error or self._lines.error
        if error is not None and not payloads:
            raise error.with_traceback(None)
        return payloads
