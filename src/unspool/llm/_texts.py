"""Texts of a message while they grow: plain text in versions, the text of many parts, and JSON documents.

All of them are immutable: more text makes a new object, which shares the old pieces. `TextVersion` joins its pieces
once, when a caller asks: adding to one string again and again would copy all of it each time.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from .._chunker.policy import same
from .._missing import MISSING
from .._native import mypyc_attr
from .._options import Options
from .._path import ROOT
from .._sharing import appended
from .._state import create_state, finalize, parse_chunk
from .._tree.nodes import ContainerNode
from ..typed._outcome import InvalidError, Missing
from ._diagnostics import Fault, MessageError, Quirk

if TYPE_CHECKING:
    from typing import Any

    from .._errors import UnspoolError
    from .._path import Path
    from .._state import ParserState
    from ..typed._iterate import Resolver
    from ..typed._outcome import Resolution
    from ..typed._resolve import Cache

__all__ = ["NO_FOLD", "NO_TEXT", "JSONDocument", "TextFold", "TextVersion"]

WHITE_SPACE: Final = " \t\n\r"
REPEATS: Final = Options(multiple=True)
UNREADABLE: Final = parse_chunk(create_state(), "]")  # a parser that has failed and reads no more


# ---- text --------------------------------------------------------------------------------------------


@final
@mypyc_attr(free_list_len=1)
class TextVersion:
    """The first pieces of a list of pieces that later versions share. `str(text)` is the whole text."""

    __slots__ = ("_joined", "_pieces", "_size", "length", "origin")

    def __init__(self, pieces: list[str], size: int, length: int, origin: object) -> None:
        self._pieces = pieces
        self._size = size
        self._joined: str | None = None
        self.length: Final = length
        """In characters."""
        self.origin: Final = origin
        """The same object in all versions of one text. A text with another origin replaced the earlier one."""

    def add(self, piece: str) -> TextVersion:
        """Return the text with one more piece."""
        if not piece:
            return self
        pieces, size = self._pieces, self._size
        if size == 0:
            return TextVersion([piece], 1, len(piece), object())
        if self._joined is not None and size > 1:
            pieces, size = [self._joined, piece], 1  # so that no later version joins the same pieces again
        else:
            pieces = appended(pieces, size, piece)
        return TextVersion(pieces, size + 1, self.length + len(piece), self.origin)

    def become(self, text: str) -> TextVersion:
        """Return a version with this whole text: the same one if it is equal, and a new text if it is not longer."""
        known = str(self)
        if text == known:
            return self
        return self.add(text[len(known) :]) if text.startswith(known) else NO_TEXT.add(text)

    def compacted(self) -> TextVersion:
        """Return the same text in one piece, for a text that has ended."""
        if self._size < 2:
            return self
        whole = TextVersion([str(self)], 1, self.length, self.origin)
        self._joined = None  # the pieces of the open text are enough to make it again
        return whole

    def since(self, length: int) -> str:
        """Return the text after the first `length` characters. The cost depends only on the size of the result."""
        found: list[str] = []
        missing = self.length - length
        at = self._size
        while missing > 0:
            at -= 1
            piece = self._pieces[at]
            found.append(piece[-missing:])
            missing -= len(piece)
        return "".join(reversed(found))

    def __str__(self) -> str:
        joined = self._joined
        if joined is None:
            pieces = self._pieces
            joined = self._joined = "".join(pieces if len(pieces) == self._size else pieces[: self._size])
        return joined


NO_TEXT: Final = TextVersion([], 0, 0, None)


@final
class TextFold:
    """The texts of all parts of one kind as one text: the parts before the last one, and the number of the last one.

    A change in a part before the last one sets `before` to None: then only the parts themselves have the text.
    """

    __slots__ = ("before", "last")

    def __init__(self, before: TextVersion | None, last: int) -> None:
        self.before: Final = before
        self.last: Final = last


NO_FOLD: Final = TextFold(NO_TEXT, -1)


# ---- JSON --------------------------------------------------------------------------------------------


@final
@mypyc_attr(free_list_len=1)
class JSONDocument:
    """JSON inside a message: the structured output, or the arguments of a call.

    It holds the pure parser and, if there is a type, the typed value. The owner of the document keeps the text.
    """

    __slots__ = ("_beyond", "_cache", "_is_extracted", "fault", "parser", "resolution", "resolver")

    def __init__(
        self,
        parser: ParserState,
        resolver: Resolver[Any] | None,
        is_extracted: bool = False,
        *,
        known: JSONDocument | None = None,
        beyond: ParserState | None = None,
    ) -> None:
        self.parser: Final = parser
        self.resolver: Final = resolver
        self._is_extracted: Final = is_extracted
        self._beyond: Final = beyond  # reads the text after the value as more values, until it is not the same value
        self.resolution: Resolution[Any] | None = None
        self.fault: UnspoolError | None = parser.error
        """Why no continuation can make this a value of the type."""
        self._cache: Cache | None = None
        if resolver is not None:
            self.resolution, self._cache = resolver.resolve(parser, None if known is None else known._cache)
            invalid = self.resolution.invalid
            if invalid is not None:
                fault = None if known is None else known.fault
                is_same = isinstance(fault, InvalidError) and fault.problems == invalid.problems
                self.fault = fault if is_same else InvalidError(invalid)

    @staticmethod
    def begin(options: Options, resolver: Resolver[Any] | None, *, extract: bool = False) -> JSONDocument:
        """Return the document before any text."""
        return JSONDocument(create_state(options, extract=extract), resolver, extract)

    def typed(self, resolver: Resolver[Any]) -> JSONDocument:
        """Return the same document for a type that became known later."""
        return JSONDocument(self.parser, resolver, self._is_extracted, beyond=self._beyond)

    def feed(self, fragment: str, quirks: list[Quirk]) -> JSONDocument:
        """Return the document after one more fragment. Append its oddities to `quirks`."""
        parser = self.parser
        if parser.is_complete:
            return self._go_beyond(fragment, quirks)
        after = parse_chunk(parser, fragment)
        if after is parser:
            return self
        document = JSONDocument(after, self.resolver, self._is_extracted, known=self)
        if after.is_complete:
            return document._go_beyond(fragment[after.index - parser.index :], quirks)
        return document

    def _go_beyond(self, fragment: str, quirks: list[Quirk]) -> JSONDocument:
        """Read text after the value. The same value again is accepted; other text means nothing."""
        beyond = self._beyond
        if self._is_extracted or (beyond is None and not fragment.strip(WHITE_SPACE)):
            return self
        beyond = parse_chunk(create_state(REPEATS) if beyond is None else beyond, fragment)
        if beyond is self._beyond:
            return self
        if not all(same(value, self.parser.value) for value in beyond.finished):
            beyond = UNREADABLE
        if beyond.error is not None:
            quirks.append(Quirk.EXTRA_TEXT)
        elif beyond.finished:
            quirks.append(Quirk.ARGUMENTS_REPEATED)
        return JSONDocument(self.parser, self.resolver, self._is_extracted, known=self, beyond=beyond)

    def end(self, quirks: list[Quirk]) -> JSONDocument:
        """Return the document at the end of its text, which completes a number. An incomplete one stays the same."""
        if self._beyond is not None and self._beyond.error is None and not self._beyond.is_complete:
            quirks.append(Quirk.EXTRA_TEXT)
        final = finalize(self.parser)
        if final is self.parser or not final.is_complete:
            return self
        return JSONDocument(final, self.resolver, self._is_extracted, known=self)

    @property
    def is_valid(self) -> bool:
        """The value is closed and fits its type."""
        return self.parser.is_complete and self.fault is None

    @property
    def is_prose(self) -> bool:
        """The text cannot be the value, and did not even begin as an object or an array."""
        return self.fault is not None and not isinstance(self.parser.root, ContainerNode)

    @property
    def value(self) -> object:
        """The typed value so far; without a type, the closed value; `MISSING` if there is none."""
        resolution = self.resolution
        if resolution is None:
            return self.parser.result
        return MISSING if isinstance(resolution, Missing) else resolution.value

    @property
    def open_paths(self) -> tuple[Path, ...]:
        """The paths of all open values, from the root to the value that is being written or expected."""
        if self.parser.is_complete:
            return ()
        paths = [ROOT]
        for step in self.parser.open_path:
            paths.append(paths[-1] / step)
        return tuple(paths)

    def error(self, call: int | None, known: MessageError | None) -> MessageError | None:
        """Return the fault as an error of the message: the known error if the fault is still the same."""
        fault = self.fault
        if fault is None or (known is not None and known.reason is fault):
            return None if fault is None else known
        return MessageError(Fault.INVALID if isinstance(fault, InvalidError) else Fault.SYNTAX, call=call, reason=fault)

    def cut_off(self, fault: Fault, call: int | None) -> MessageError:
        """Return the error of a document whose text ended too early."""
        reason = finalize(self.parser).error if fault is Fault.INCOMPLETE else None
        return MessageError(fault, call=call, paths=self.open_paths, reason=reason)
