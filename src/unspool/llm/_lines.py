r"""Lines out of a stream that is cut anywhere; and NDJSON, which is nothing but lines.

What ends a line is a matter of the format, and never one of `str.splitlines`, which knows six more characters that do::

    server-sent events    CR, LF, CR LF
    NDJSON                LF, CR LF

The stream is UTF-8. One byte order mark at its very start is no part of it, and bytes that are not UTF-8 are read as
U+FFFD each, as the Encoding standard says. Nothing that is seen depends on where the stream is cut.

>>> decoder = NDJSONDecoder()
>>> decoder.feed(b'{"done": false}\n\n{"do')
['{"done": false}']
>>> decoder.feed(b'ne": true}'), decoder.close()
([], ['{"done": true}'])
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from codecs import getincrementaldecoder
from io import StringIO
from typing import TYPE_CHECKING, Final, Generic, TypeVar, final

from .._errors import OptionsError, StateError, UnspoolError
from .._parser import as_bytes
from .._streams import aiterate, iterate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable

    from .._parser import Fragment

__all__ = ["LineDecoder", "LineSplitter", "NDJSONDecoder", "StreamError", "aiter_lines", "iter_lines"]

LONGEST: Final = 16 * 1024 * 1024
"""The preset limits, in characters: as long as the longest text that `Options` takes."""
BYTE_ORDER_MARK: Final = "\ufeff"
JSON_WHITE_SPACE: Final = " \t\r"  # as far as it can be in a line

Item = TypeVar("Item")


class StreamError(UnspoolError, ValueError):
    """A stream that goes over a limit, at `line`, counted from 1; or an event that no stream can hold: `line` is None.

    The message never quotes the stream.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason, line)
        self.reason = reason
        self.line = line

    def __str__(self) -> str:
        return self.reason if self.line is None else f"{self.reason}: line {self.line}"


def limit(name: str, value: int | None) -> int:
    """`value` if it is a limit, and for None one that nothing reaches."""
    if value is None:
        return sys.maxsize
    if type(value) is not int or value < 0:
        raise OptionsError(f"{name} must be a whole number from 0 up, or None")
    return value


@final
class LineSplitter:
    """Fragments in, the lines that ended out; with `lone_cr`, a CR without a LF ends a line too.

    It holds the line that has not ended, which is never longer than `max_line`, and up to three bytes of a character.
    At a line that is too long it has an `error`, gives the lines before it, and reads no more.
    """

    __slots__ = ("_after_cr", "_decoder", "_is_at_start", "_lone_cr", "_max_line", "_open", "count", "error")

    def __init__(self, max_line: int | None, *, lone_cr: bool) -> None:
        self._max_line = limit("max_line", max_line)
        self._lone_cr = lone_cr
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._open = StringIO()  # a list of pieces of one character would be many times their size
        self._is_at_start = True
        self._after_cr = False  # that CR has ended its line: nothing waits for the LF that may follow
        self.count = 0
        """How many lines have ended."""
        self.error: StreamError | None = None

    def feed(self, fragment: Fragment) -> list[str]:
        """Read one fragment, cut anywhere."""
        if isinstance(fragment, str):
            # A character whose bytes were cut stays cut when text follows, but not when nothing does.
            text = self._decoder.decode(b"", final=True) + fragment if fragment else ""
        else:
            text = self._decoder.decode(as_bytes(fragment))
        return self._split(text)

    def close(self) -> str:
        """The stream has ended: the line that has not."""
        self._split(self._decoder.decode(b"", final=True))
        return self._open.getvalue().removesuffix("\r")

    def _split(self, text: str) -> list[str]:
        if not text or self.error is not None:
            return []
        if self._is_at_start:
            self._is_at_start = False
            text = text.removeprefix(BYTE_ORDER_MARK)
        if self._after_cr:
            text = text.removeprefix("\n")
        if self._lone_cr:
            self._after_cr = text.endswith("\r")
            if "\r" in text:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        self._open.write(lines[0])
        if len(lines) > 1:
            lines[0] = self._open.getvalue()
            self._open = StringIO()
            self._open.write(lines[-1])
        del lines[-1]
        return self._within_the_limit(lines)

    def _within_the_limit(self, lines: list[str]) -> list[str]:
        for index, line in enumerate(lines):
            lines[index] = line = line.removesuffix("\r")  # where a CR alone ends no line, one is still there
            if len(line) > self._max_line:
                self._fail()
                return lines[:index]
            self.count += 1
        if self._open.tell() > self._max_line and len(self._open.getvalue().removesuffix("\r")) > self._max_line:
            self._fail()
        return lines

    def _fail(self) -> None:
        self._open = StringIO()
        self.error = StreamError("a line longer than max_line", self.count + 1)


class LineDecoder(ABC, Generic[Item]):
    """Fragments in, whatever a format makes of lines out. How an error is told is the same for all of them.

    What came before it is delivered first: it is raised at once if the same call has nothing to give, and otherwise by
    the next one, as by every call after it.
    """

    __slots__ = ("_is_closed", "_splitter")

    def __init__(self, splitter: LineSplitter) -> None:
        self._splitter = splitter
        self._is_closed = False

    @abstractmethod
    def _read(self, lines: list[str]) -> list[Item]:
        """What ends with these lines."""

    @abstractmethod
    def _finish(self, line: str) -> list[Item]:
        """What is left when the stream ends in this line, or, if it is empty, behind one."""

    def feed(self, fragment: Fragment) -> list[Item]:
        """Read one fragment, cut anywhere, and give what ends with it."""
        if self._is_closed:
            raise StateError("the decoder is closed")
        self.raise_fault()
        return self._deliver(self._read(self._splitter.feed(fragment)))

    def close(self) -> list[Item]:
        """The stream has ended: give what is left."""
        self.raise_fault()
        if self._is_closed:
            return []
        self._is_closed = True
        return self._deliver(self._finish(self._splitter.close()))

    @property
    def error(self) -> StreamError | None:
        """What ended the reading, if anything did."""
        return self._splitter.error

    def raise_fault(self) -> None:
        """Raise the error, if there is one."""
        if self._splitter.error is not None:
            raise self._splitter.error.with_traceback(None)  # raised each time anew, not longer each time

    def _deliver(self, items: list[Item]) -> list[Item]:
        if not items:
            self.raise_fault()
        return items


@final
class NDJSONDecoder(LineDecoder[str]):
    """Fragments in, lines out: one JSON text a line. Blank lines are skipped; the last line need not have an end.

    A line of more than `max_line` characters is a `StreamError`.
    """

    __slots__ = ()

    def __init__(self, *, max_line: int | None = LONGEST) -> None:
        super().__init__(LineSplitter(max_line, lone_cr=False))

    def _read(self, lines: list[str]) -> list[str]:
        return [line for line in lines if line.strip(JSON_WHITE_SPACE)]

    def _finish(self, line: str) -> list[str]:
        return self._read([line])


def iter_lines(chunks: Iterable[Fragment], decoder: NDJSONDecoder | None = None) -> Generator[str, None, None]:
    """The lines of a stream that comes in chunks. A generator that is its source is closed together with it."""
    return iterate(chunks, decoder or NDJSONDecoder())


def aiter_lines(chunks: AsyncIterable[Fragment], decoder: NDJSONDecoder | None = None) -> AsyncGenerator[str, None]:
    """As `iter_lines`, for a source that is awaited."""
    return aiterate(chunks, decoder or NDJSONDecoder())
