r"""Recordings: bytes with the times of their arrival; and the samples, invented recordings that ship with unspool.

A recording is one JSON object per line. The first line is the header.

    {"unspool_recording": 1}
    {"t": 0.0, "text": "data: {\"choices\"..."}
    {"t": 0.0132, "text": "..."}
    {"t": 0.02, "base64": "/w=="}

`t` is in seconds since the first arrival. Text is cut as it arrived, except that a character is never cut in two: its
first bytes go with the rest of it. Bytes that are not UTF-8 are kept as base64, so a recording always gives back the
exact bytes. Lines with invisible characters, or with control characters of a terminal, are written in ASCII.
"""

from __future__ import annotations

import codecs
import json
import sys
from base64 import b64decode, b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final

from ... import UnspoolError
from ...llm._wire import LineSplitter
from .escaping import visible

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = [
    "HEADER",
    "MAX_LINE",
    "SAMPLES",
    "Arrival",
    "RecordingError",
    "RecordingReader",
    "RecordingWriter",
    "SampleError",
    "find_sample",
    "is_header",
    "may_be_header",
    "read_sample",
]

VERSION: Final = 1
NAME: Final = "unspool_recording"
HEADER: Final = json.dumps({NAME: VERSION}) + "\n"
DIGITS: Final = 6  # of a time: microseconds
LATEST: Final = sys.float_info.max
MAX_LINE: Final = 64 * 1024 * 1024


class RecordingError(UnspoolError, ValueError):
    """A line that is not valid in a recording."""


class Arrival(NamedTuple):
    """Some bytes, and the time of their arrival in seconds."""

    time: float
    data: bytes


def is_header(value: object) -> bool:
    """Whether the JSON value of a line is the header of a recording."""
    return isinstance(value, dict) and NAME in value


def may_be_header(head: bytes) -> bool:
    """Whether an input that begins with these bytes may be a recording."""
    sign = f'{{"{NAME}"'.encode()
    begin = b"".join(head.split())[: len(sign)]
    return sign.startswith(begin)


@final
class RecordingWriter:
    """Arrivals in, lines out. The caller writes `HEADER` first."""

    __slots__ = ("_ascii_only", "_decoder", "_held")

    def __init__(self, *, ascii_only: bool = False) -> None:
        self._ascii_only = ascii_only
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._held = b""  # the bytes that the decoder buffers

    def line(self, time: float, data: bytes) -> str:
        """Return the line for these bytes; empty while they are only the start of a character."""
        return self._line(time, data, final=False)

    def close(self, time: float) -> str:
        """Return the line for the remaining bytes of a cut character, if any."""
        return self._line(time, b"", final=True)

    def _line(self, time: float, data: bytes, *, final: bool) -> str:
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError:
            self._decoder.reset()
            data, self._held = self._held + data, b""
            return self._json(time, base64=b64encode(data).decode("ascii"))
        self._held = self._decoder.getstate()[0]
        return self._json(time, text=text) if text else ""

    def _json(self, time: float, **what: str) -> str:
        fields = {"t": round(time, DIGITS), **what}
        line = json.dumps(fields, ensure_ascii=False)
        if visible(line, ascii_only=self._ascii_only) != line:
            line = json.dumps(fields)
        return line + "\n"


@final
class RecordingReader:
    """Lines in, cut anywhere; arrivals out. Raises `RecordingError` with the number of the line.

    Arrivals before an error are delivered first. The call that meets the error raises it if it has no arrivals to
    return; otherwise the next call raises it, and every call after that.
    """

    __slots__ = ("_begun", "_error", "_last", "_splitter")

    def __init__(self) -> None:
        self._splitter = LineSplitter(MAX_LINE, lone_cr=False)
        self._begun = False
        self._last = 0.0
        self._error: RecordingError | None = None

    @property
    def fault(self) -> RecordingError | None:
        """The error that stopped the reader, if any."""
        return self._error

    def feed(self, data: bytes | str) -> list[Arrival]:
        """Return the arrivals on the lines that end in this data."""
        self._raise_error()
        lines = self._splitter.feed(data)
        return self._read(lines, self._splitter.count - len(lines) + 1)

    def close(self) -> list[Arrival]:
        """Return the arrival on a last line without a line end."""
        self._raise_error()
        return self._read([self._splitter.close()], self._splitter.count + 1, is_cut=True)

    def _read(self, lines: list[str], number: int, *, is_cut: bool = False) -> list[Arrival]:
        arrivals: list[Arrival] = []
        try:
            for line in lines:
                if line.strip():
                    arrivals += self._arrivals(line, is_cut)
                number += 1
            if self._splitter.error is not None:
                raise RecordingError("too long")
        except RecordingError as error:
            self._error = RecordingError(f"line {number} of the recording: {error}")
        if not arrivals:
            self._raise_error()
        return arrivals

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error.with_traceback(None)

    def _arrivals(self, line: str, is_cut: bool) -> list[Arrival]:
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError):
            raise RecordingError("it ends here, in the middle" if is_cut else "not JSON") from None
        if not self._begun:
            if not is_header(value):
                raise RecordingError("a recording begins with its header")
            if value[NAME] != VERSION:
                raise RecordingError(f"version {VERSION} is the one that can be read")
            self._begun = True
            return []
        fields = cast("dict[str, Any]", value if isinstance(value, dict) else {})
        return [Arrival(self._time(fields.get("t")), _data(fields))]

    def _time(self, time: Any) -> float:
        if type(time) not in (int, float) or not self._last <= time <= LATEST:
            raise RecordingError("its time is missing, or earlier than the one before")
        self._last = float(time)
        return self._last


def _data(fields: dict[str, Any]) -> bytes:
    text, coded = fields.get("text"), fields.get("base64")
    try:
        if isinstance(text, str):
            return text.encode()
        if isinstance(coded, str):
            return b64decode(coded, validate=True)
    except ValueError:
        pass
    raise RecordingError("neither text nor base64")


# Samples.

SAMPLES: Final = {
    "trip": "OpenAI chat: a structured answer with 100 fields, in six seconds",
    "weather-tools": "Anthropic: thinking, a sentence, then two tool calls",
    "gemini-leaves": "Gemini: the arguments of a call, leaf by leaf",
    "snapshots": "whole values, each later than the one before; some fields have to wait",
    "broken": "JSON that breaks in its seventh line",
    "cut-off": "OpenAI chat: the answer is cut off, it was too long",
    "unordered-a": "OpenAI chat: a verdict at the end of its reasons",
    "unordered-b": "the same with the verdict first, to compare",
}
"""The samples by name, with a description of each."""


class SampleError(UnspoolError, ValueError):
    """A name that is not the name of a sample."""


def find_sample(name: str) -> Traversable:
    """Return the file of a sample. Raises `SampleError` with the available names."""
    if name not in SAMPLES:
        raise SampleError(f"there is no sample {name!r}; there are {', '.join(SAMPLES)}")
    return files("unspool.tools.viewer") / "samples" / f"{name}.jsonl"


def read_sample(name: str) -> bytes:
    """Return the bytes of a sample, which is a recording.

    >>> read_sample("trip").startswith(b'{"unspool_recording": 1}')
    True
    """
    return find_sample(name).read_bytes()
