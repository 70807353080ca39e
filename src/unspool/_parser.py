"""The parsers: objects that are fed fragments and hold the result.

`Intake` prepares a fragment for the reader: it decodes bytes, finds JSON inside other text, and repairs it.
`FragmentParser` and `ValueParser` are an intake and a sink; the sink decides what the parser shows. `TreeParser` is the
same for typed values, which read the tree of nodes once per fragment.
"""

# Compiled with mypyc.
from __future__ import annotations

from ._errors import Code, OptionsError, StateError
from ._grammar.reader import SKIP_LINE, STRING, Dialect, Reader
from ._grammar.sink import EventList
from ._native import TYPE_CHECKING, expect, final, mypyc_attr
from ._options import chosen_options
from ._text.utf8 import decode
from ._tree.fold import TreeFold
from ._tree.values import ValueSink

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ._errors import JSONSyntaxError
    from ._events import Event
    from ._grammar.sink import Sink
    from ._options import Options
    from ._repairs import Repair
    from ._text.extract import Extractor, Piece, Skipped
    from ._text.repair import Repairer
    from ._tree.fold import OpenText
    from ._tree.nodes import Node

__all__ = ["Fragment", "FragmentParser", "Intake", "TreeParser", "ValueParser", "as_bytes"]

FIRST_WINDOW = 64  # bytes
CLOSED = "the parser is closed; call reset() to start again"
NOT_COPIED = "a parser cannot be copied or pickled; a ParserState can"

Fragment = str | bytes | bytearray | memoryview
"""A piece of JSON text. Bytes are UTF-8 and may be cut inside a character."""


def as_bytes(fragment: object) -> bytes:
    """Return the bytes of a fragment that is not text."""
    if isinstance(fragment, (bytes, bytearray, memoryview)):
        return bytes(fragment)  # pyright: ignore[reportUnknownArgumentType]
    raise TypeError(f"a fragment must be str or bytes, not {type(fragment).__name__}")


@final
@mypyc_attr(free_list_len=1)
class Intake:
    """A reader, the first bytes of a character that was cut, and the stages that the options ask for.

    The extractor finds JSON inside other text, and the repairer reads broken JSON.
    """

    __slots__ = ("extractor", "is_plain", "reader", "repairer", "rest")

    def __init__(self, reader: Reader, extract: bool) -> None:
        self.reader = reader
        self.rest = b""
        self.extractor: Extractor | None = None
        if extract:
            from ._text.extract import Extractor  # most parsers do not need it

            if reader.dialect.lines:
                raise OptionsError("extract=True finds every value by itself: use multiple=True, not multiple='lines'")
            self.extractor = Extractor(reader.dialect.multiple, reader.dialect.mends)
        self.repairer: Repairer | None = None
        if reader.dialect.repairs:
            from ._text.repair import Repairer  # most parsers do not need it

            self.repairer = Repairer(reader)
            self.repairer.stops_at_root = extract
        # Text goes straight to the reader: nothing to extract, to repair and to split, and no bytes so far.
        self.is_plain = not extract and not reader.dialect.repairs and not reader.dialect.lines

    @staticmethod
    def create(options: Options | None, extract: bool) -> Intake:
        """Return an intake that has read nothing."""
        return Intake(Reader(Dialect(chosen_options(options))), extract)

    def fork(self) -> Intake:
        """Return an intake that goes on from here on its own."""
        other = Intake(self.reader.fork(), False)
        other.rest = self.rest
        other.is_plain = self.is_plain
        if self.extractor is not None:
            other.extractor = self.extractor.fork()
        if self.repairer is not None:
            other.repairer = self.repairer.fork(other.reader)
        return other

    def restart(self) -> Intake:
        """Return an intake with the same options that has read nothing."""
        return Intake(Reader(self.reader.dialect), self.extractor is not None)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The text that was not JSON, with its place and the reason."""
        return () if self.extractor is None else tuple(self.extractor.skipped)

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs so far."""
        return () if self.repairer is None else tuple(self.repairer.repairs)

    @property
    def is_complete(self) -> bool:
        """The root value is closed, no token is in flight, and no error ended the reading."""
        return self.reader.is_complete and (len(self.rest) == 0 or self.extractor is not None)

    def feed(self, fragment: Fragment, sink: Sink) -> None:
        """Read one fragment."""
        if isinstance(fragment, str):
            if type(fragment) is not str:
                fragment = "".join([fragment])  # subclasses may override anything: use the plain text
            if len(self.rest) > 0 and fragment:
                self._break_off(sink)
            if self.extractor is None:
                if self.reader.dialect.lines:
                    self._feed_lines(fragment, sink)
                else:
                    self._read(fragment, sink)
            elif self.extractor.is_tolerant:
                self.extractor.add(fragment)
                self._read_lines(False, sink)
            elif not self.reader.is_over:
                self._read_pieces(self.extractor.feed(fragment), sink)
        else:
            self._feed_bytes(as_bytes(fragment), sink)

    def finish(self, sink: Sink) -> None:
        """Read the end of the text."""
        if len(self.rest) > 0 and self.reader.dialect.closes_truncated:
            self.rest = b""
        if len(self.rest) > 0 and not self.reader.takes_any_text:
            self._break_off(sink)
        if self.extractor is not None and self.extractor.is_tolerant:
            self._read_lines(True, sink)
        elif self.extractor is not None and not self.reader.is_over:
            self._read_pieces(self.extractor.close(), sink)
        if self.repairer is not None:
            self.repairer.finish(sink)
        self.reader.finish(sink)

    def _feed_lines(self, text: str, sink: Sink) -> None:
        """Read text in which each line is a document. A carriage return ends a line, too: CRLF leaves an empty one."""
        is_first = True
        for line in text.split("\n"):
            if not is_first:
                self._end_line(True, sink)
            is_first = False
            *ended, rest = line.split("\r")
            for part in ended:
                self._read(part, sink)
                self._end_line(False, sink)
            self._read(rest, sink)

    def _end_line(self, is_counted: bool, sink: Sink) -> None:
        if self.repairer is not None:
            self.repairer.end_line(sink)
        self.reader.end_line(is_counted, sink)

    def _read(self, text: str, sink: Sink) -> None:
        if self.repairer is None:
            self.reader.feed(text, sink)
        else:
            self.repairer.feed(text, sink)

    def _read_pieces(self, pieces: list[Piece], sink: Sink) -> None:
        for piece in pieces:
            if piece.is_skipped:
                self.reader.skip(piece.text, sink)
            else:
                self._read(piece.text, sink)
        if self.extractor is not None and self.reader.is_over:
            self.extractor = self.extractor.ended_at(self.reader.offset)

    def _read_lines(self, is_last: bool, sink: Sink) -> None:
        """Read pieces one by one: the repairer knows where a broken value ends, and the extractor goes on there."""
        extractor, repairer, reader = self.extractor, self.repairer, self.reader
        assert extractor is not None
        assert repairer is not None
        while not reader.is_over:
            extractor.is_in_string = reader.mode == STRING and not repairer.is_waiting
            piece = extractor.next_piece(is_last)
            if piece is None:
                break
            if piece.is_skipped:
                repairer.pause(sink)
                reader.skip(piece.text, sink)
            else:
                repairer.feed(piece.text, sink)
                if repairer.has_ended:
                    extractor.value_ended(repairer.unused)
        if reader.is_over:
            self.extractor = extractor.ended_at(reader.offset)

    def _feed_bytes(self, data: bytes, sink: Sink) -> None:
        reader = self.reader
        data = self.rest + data
        rest = self.rest = b""
        self.is_plain = False
        start = 0
        size = len(data)
        window = size
        texts: list[str] = []
        while start < size and not reader.is_over:
            piece = data[start : start + window]
            text, rest, is_broken = decode(piece)
            texts.append(text)
            start += len(piece) - len(rest)
            if is_broken:
                self.feed("".join(texts), sink)
                self._feed_broken_character(sink)
                texts = []
                window = FIRST_WINDOW  # the codec copies its whole input for each error, so the input has to be short
            elif start + len(rest) == size:
                break
            else:
                window *= 2
        self.feed("".join(texts), sink)
        self.rest = b"" if reader.is_over else rest
        is_ascii_only = self.extractor is None and self.repairer is None and not reader.takes_any_text
        is_read = reader.mode != SKIP_LINE  # the rest of the line is not ignored
        if len(self.rest) > 0 and is_ascii_only and is_read and not reader.dialect.skips_errors:
            self._break_off(sink)  # an error whatever the rest of the character is

    def _break_off(self, sink: Sink) -> None:
        """Read the first bytes of a character whose other bytes will not come."""
        self.rest = b""
        self._feed_broken_character(sink)

    def _feed_broken_character(self, sink: Sink) -> None:
        if self.repairer is not None and (self.extractor is None or self.reader._frame is not None):
            self.repairer.give_up(sink)
        if self.reader.takes_any_text:
            self.reader.fail(Code.INVALID_UTF8, sink)
        self.feed("\N{REPLACEMENT CHARACTER}", sink)


@final
class FragmentParser:
    """A parser that returns events. With the default options its memory is O(depth + the open token).

    >>> parser = FragmentParser()
    >>> for event in parser.feed('{"name": "Ma'):
    ...     print(event.kind, event.path, event.value)
    start_object $ None
    start_string $.name None
    partial_string $.name Ma

    Errors are events too. The error is the last event of an invalid text, and later fragments return no events. With
    ``extract=True`` the JSON may be inside other text, such as a Markdown block with prose around it.
    """

    __slots__ = ("_intake", "_is_closed", "_sink")

    def __init__(self, options: Options | None = None, *, extract: bool = False) -> None:
        expect(extract, bool, "bool")
        self._intake = Intake.create(options, extract)
        self._sink = EventList()
        self._is_closed = False

    def feed(self, fragment: Fragment) -> list[Event]:
        """Read one fragment, cut anywhere, and return the new events."""
        if self._is_closed:
            raise StateError(CLOSED)
        sink = self._sink
        intake = self._intake
        if intake.is_plain and type(fragment) is str:
            intake.reader.feed(fragment, sink)
        else:
            intake.feed(fragment, sink)
        events = sink.events
        sink.events = []
        return events

    def close(self) -> list[Event]:
        """End the text, and return the last events: a number at the root, or an error if the text is incomplete."""
        if not self._is_closed:
            self._intake.finish(self._sink)
            self._is_closed = True
        return self._sink.take()

    def reset(self) -> None:
        """Start again with the same options."""
        self._intake = self._intake.restart()
        self._sink = EventList()
        self._is_closed = False

    @property
    def is_complete(self) -> bool:
        """The root value is closed, no token is in flight, and no error ended the reading."""
        return self._intake.is_complete

    @property
    def is_stopped(self) -> bool:
        """An error has stopped the parser: there will be no more events."""
        return self._intake.reader.is_failed

    @property
    def error(self) -> JSONSyntaxError | None:
        """The first error, if there was one."""
        return self._intake.reader.error

    @property
    def errors(self) -> tuple[JSONSyntaxError, ...]:
        """All errors so far: more than one only with ``Options(on_error="skip")``."""
        return tuple(self._sink.errors)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """With ``extract=True``: the text that was not JSON, with its place and the reason."""
        return self._intake.skipped

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """With ``Options(repair=...)``: the changes that made the text readable, in the order they were made."""
        return self._intake.repairs

    def __reduce__(self) -> NoReturn:
        raise TypeError(NOT_COPIED)


@final
class ValueParser:
    """A parser that shows the value parsed so far, at any moment.

    >>> parser = ValueParser()
    >>> parser.feed('{"days": [{"title": "Arri')
    >>> parser.value
    {'days': [{'title': 'Arri'}]}
    >>> parser.feed('val"}')
    >>> parser.value, parser.is_complete
    ({'days': [{'title': 'Arrival'}]}, False)

    A value that was handed out never changes; the next one shares every part with it that did not change, by identity.
    With ``live=True`` one value grows in place instead: cheaper, but values that were handed out change. With
    ``extract=True`` the JSON may be inside other text, such as a Markdown block with prose around it.
    """

    __slots__ = ("_intake", "_is_closed", "_is_live", "_sink")

    def __init__(self, options: Options | None = None, *, live: bool = False, extract: bool = False) -> None:
        expect(live, bool, "bool")
        expect(extract, bool, "bool")
        self._intake = Intake.create(options, extract)
        self._is_live = live
        self._sink = ValueSink(live)
        self._is_closed = False

    def feed(self, fragment: Fragment) -> None:
        """Read one fragment, cut anywhere. Raises `JSONSyntaxError` for invalid text, and again at each later call."""
        if self._is_closed:
            raise StateError(CLOSED)
        sink = self._sink
        if sink.finished:
            sink.finished = []
        intake = self._intake
        if intake.is_plain and type(fragment) is str:
            intake.reader.feed(fragment, sink)
        else:
            intake.feed(fragment, sink)
        if intake.reader.is_failed:
            raise_again(sink.errors[-1])

    def close(self) -> Any:
        """End the text, and return the final value. Raises `JSONSyntaxError` for invalid or incomplete text."""
        sink = self._sink
        if not self._is_closed:
            sink.finished = []
            self._intake.finish(sink)
            self._is_closed = True
        if self._intake.reader.is_failed:
            raise_again(sink.errors[-1])
        return sink.value()

    def reset(self) -> None:
        """Start again with the same options."""
        self._intake = self._intake.restart()
        self._sink = ValueSink(self._is_live)
        self._is_closed = False

    @property
    def value(self) -> Any:
        """The value so far; `MISSING` before there is one."""
        return self._sink.value()

    @property
    def finished(self) -> tuple[Any, ...]:
        """The values that the last fragment closed: with ``Options(multiple=True)`` there may be several."""
        return tuple(self._sink.finished)

    @property
    def is_complete(self) -> bool:
        """The root value is closed, no token is in flight, and no error ended the reading."""
        return self._intake.is_complete

    @property
    def error(self) -> JSONSyntaxError | None:
        """The first error, if there was one."""
        return self._intake.reader.error

    @property
    def errors(self) -> tuple[JSONSyntaxError, ...]:
        """All errors so far: more than one only with ``Options(on_error="skip")``."""
        return tuple(self._sink.errors)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """With ``extract=True``: the text that was not JSON, with its place and the reason."""
        return self._intake.skipped

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """With ``Options(repair=...)``: the changes that made the text readable, in the order they were made."""
        return self._intake.repairs

    def __enter__(self) -> ValueParser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(NOT_COPIED)


@final
class TreeParser:
    """A parser that shows the tree of nodes so far, for code that reads it once per fragment.

    It is the internal handle of typed values. Use `create_state` and `parse_chunk` for trees to keep.
    """

    __slots__ = ("_intake", "_is_closed", "_sink")

    def __init__(self, options: Options | None = None, *, extract: bool = False) -> None:
        self._intake = Intake.create(options, extract)
        self._sink = TreeFold()
        self._is_closed = False

    def feed(self, fragment: Fragment) -> None:
        """Read one fragment, cut anywhere. Raises `JSONSyntaxError` for invalid text, and again at each later call."""
        if self._is_closed:
            raise StateError(CLOSED)
        self._sink.finished = None
        self._intake.feed(fragment, self._sink)
        self._raise_error()

    def close(self) -> None:
        """End the text. Raises `JSONSyntaxError` for invalid or incomplete text."""
        if not self._is_closed:
            self._sink.finished = None
            self._intake.finish(self._sink)
            self._is_closed = True
        self._raise_error()

    def glance(self) -> Node | None:
        """Return the tree so far, or None before there is one. Open containers have no plain value."""
        return self._sink.glance()

    @property
    def is_seen(self) -> bool:
        """Since the last glance, nothing has changed but the text of the open string."""
        return self._sink.is_seen

    def open_text(self) -> OpenText | None:
        """Return the text of the open string; None if no string is open. It is the same object until the text grows."""
        return self._sink.open_text()

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """With ``Options(repair=...)``: the changes that made the text readable, in the order they were made."""
        return self._intake.repairs

    @property
    def is_complete(self) -> bool:
        """The root value is closed, no token is in flight, and no error ended the reading."""
        return self._intake.is_complete

    def _raise_error(self) -> None:
        if self._intake.reader.is_failed:
            raise_again(self._sink.errors[-1])


def raise_again(error: JSONSyntaxError) -> NoReturn:
    """Raise a copy of the error: a parser that lives long must not keep the frames of its callers alive."""
    raise type(error)(*error.args)
