"""What stands between a fragment as it comes and the reader: bytes become text, and JSON is found in other text."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, final

from ._errors import Code
from ._grammar.reader import Reader
from ._text.extract import Extractor
from ._text.utf8 import decode

if TYPE_CHECKING:
    from ._grammar.dialect import Dialect
    from ._grammar.sink import Sink
    from ._text.extract import Piece, Skipped

__all__ = ["Fragment", "Intake"]

Fragment = str | bytes | bytearray | memoryview
"""A piece of JSON text; bytes are UTF-8 and may be cut inside a character."""


def as_bytes(fragment: object) -> bytes:
    """The bytes of a fragment that is not text."""
    if isinstance(fragment, (bytes, bytearray, memoryview)):
        return bytes(fragment)  # pyright: ignore[reportUnknownArgumentType]
    raise TypeError(f"a fragment is str or bytes, not {type(fragment).__name__}")


@final
class Intake:
    """A reader, the first bytes of a character that was cut, and what finds the JSON, if that is wanted."""

    __slots__ = ("extractor", "is_plain", "reader", "rest")

    def __init__(self, dialect: Dialect, extract: bool) -> None:
        self.reader = Reader(dialect)
        self.rest = b""
        self.extractor = Extractor(dialect.multiple) if extract else None
        self.is_plain = not extract  # text goes to the reader as it is: nothing to extract, no bytes were seen

    def fork(self) -> Intake:
        """An intake that goes on from here on its own."""
        other = Intake(self.reader.dialect, False)
        self.reader.copy_to(other.reader)
        other.rest = self.rest
        other.is_plain = self.is_plain
        if self.extractor is not None:
            other.extractor = self.extractor.fork()
        return other

    def fresh(self) -> Intake:
        """An intake with the same options that has read nothing."""
        return Intake(self.reader.dialect, self.extractor is not None)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was not JSON, where, and why."""
        return () if self.extractor is None else tuple(self.extractor.skipped)

    @property
    def is_complete(self) -> bool:
        """The root value is closed, no token is in flight, and no error ended the reading."""
        return self.reader.is_complete and (len(self.rest) == 0 or self.extractor is not None)

    def feed(self, fragment: Fragment, sink: Sink) -> None:
        """Read one fragment."""
        if isinstance(fragment, str):
            if type(fragment) is not str:
                fragment = "".join([fragment])  # what a subclass adds or changes is none of our business
            if len(self.rest) > 0 and fragment:
                self._break_off(sink)
            if self.extractor is None:
                self.reader.feed(fragment, sink)
            elif not self.reader.is_stopped:
                self._read_pieces(self.extractor.feed(fragment), sink)
        else:
            self._feed_bytes(as_bytes(fragment), sink)

    def finish(self, sink: Sink) -> None:
        """The text has ended."""
        if len(self.rest) > 0 and not self.reader.takes_any_text:
            self._break_off(sink)
        if self.extractor is not None and not self.reader.is_stopped:
            self._read_pieces(self.extractor.close(), sink)
        self.reader.finish(sink)

    def _read_pieces(self, pieces: list[Piece], sink: Sink) -> None:
        for piece in pieces:
            if piece.is_skipped:
                self.reader.skip(piece.text, sink)
            else:
                self.reader.feed(piece.text, sink)
        if self.extractor is not None and self.reader.is_stopped:
            self.extractor = self.extractor.ended_at(self.reader.offset)

    def _feed_bytes(self, data: bytes, sink: Sink) -> None:
        reader = self.reader
        rest = self.rest + data
        self.rest = b""
        self.is_plain = False
        is_broken = True
        while is_broken:
            text, rest, is_broken = decode(rest)
            self.feed(text, sink)
            if is_broken:
                self._feed_broken_character(sink)
        self.rest = b"" if reader.is_stopped else rest
        is_ascii_only = self.extractor is None and not reader.takes_any_text
        if len(self.rest) > 0 and is_ascii_only and not reader.dialect.skips_errors:
            self._break_off(sink)  # no need to wait for the whole character

    def _break_off(self, sink: Sink) -> None:
        """A character that was cut stays cut."""
        self.rest = b""
        self._feed_broken_character(sink)

    def _feed_broken_character(self, sink: Sink) -> None:
        if self.reader.takes_any_text:
            self.reader.fail(Code.INVALID_UTF8, sink)
        self.feed("\N{REPLACEMENT CHARACTER}", sink)
