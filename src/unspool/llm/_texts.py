"""Texts of a message while they grow: plain text in versions, the text of many parts, and JSON documents.

All of them are immutable: more text makes a new object, which shares the old pieces. `TextVersion` joins its pieces
once, when a caller asks: adding to one string again and again would copy all of it each time.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from .._chunker.values import same
from .._missing import MISSING
from .._native import mypyc_attr
from .._options import Options
from .._path import ROOT
from .._sharing import appended
from .._state import create_state, finalize, parse_chunk
from .._tree.nodes import ContainerNode
from ..typed._outcome import InvalidError, Missing
from ._diagnostics import Fault, MessageError, Quirk
from ._encoded import EncodedText, may_hold_object, wants_object

if TYPE_CHECKING:
    from typing import Any

    from .._errors import UnspoolError
    from .._path import Path
    from .._repairs import Repair
    from .._state import ParserState
    from ..typed._iterate import Resolver
    from ..typed._outcome import Resolution
    from ..typed._resolve import Cache

__all__ = ["NO_FOLD", "NO_TEXT", "RAW_TEXT", "JSONDocument", "TextFold", "TextVersion"]

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
WHITE_SPACE: Final = " \t\n\r"
REPEATS: Final = Options(multiple=True)
UNREADABLE: Final = parse_chunk(create_state(), "]")  # a parser that has failed and reads no more


# ---- text --------------------------------------------------------------------------------------------


@final
@mypyc_attr(free_list_len=1)
class TextVersion:
    """The first pieces of a list of pieces that later versions share. `str(text)` is the whole text.

    A provider that counts UTF-16 units may cut a surrogate pair in two. The first half waits in `half` for the second
    one, and is not part of the text. A half that stays alone becomes U+FFFD, so the text can be encoded. The text of
    JSON keeps it if the options of its parser do not say "replace".
    """

    __slots__ = ("_joined", "_keeps_halves", "_pieces", "_size", "half", "length", "origin")

    def __init__(
        self, pieces: list[str], size: int, length: int, origin: object, half: str = "", keeps_halves: bool = False
    ) -> None:
        self._pieces = pieces
        self._size = size
        self._joined: str | None = None
        self.length: Final = length
        """In characters."""
        self.origin: Final = origin
        """The same object in all versions of one text. A text with another origin replaced the earlier one."""
        self.half: Final = half
        self._keeps_halves: Final = keeps_halves

    def add(self, piece: str) -> TextVersion:
        """Return the text with one more piece."""
        if not piece:
            return self
        half = ""
        if self.half or not piece.isascii():
            piece, half = joined_halves(self.half + piece, self._keeps_halves)
        return self._grown(piece, half)

    def _grown(self, piece: str, half: str) -> TextVersion:
        pieces, size = self._pieces, self._size
        if not piece:
            return TextVersion(pieces, size, self.length, self.origin, half, self._keeps_halves)
        if size == 0:
            return TextVersion([piece], 1, len(piece), object(), half, self._keeps_halves)
        if self._joined is not None and size > 1:
            pieces, size = [self._joined, piece], 1  # so that no later version joins the same pieces again
        else:
            pieces = appended(pieces, size, piece)
        return TextVersion(pieces, size + 1, self.length + len(piece), self.origin, half, self._keeps_halves)

    def become(self, text: str) -> TextVersion:
        """Return a version with this whole text: the same one if it is equal, and a new text if it is not longer."""
        known = str(self)
        text, half = joined_halves(text, self._keeps_halves)
        if text == known and half == self.half:
            return self
        if not text.startswith(known):
            return NO_TEXT.add(text + half)
        return self._without_half().add(text[len(known) :] + half)

    def compacted(self) -> TextVersion:
        """Return the same text in one piece, for a text that has ended. A half that still waits stays alone."""
        if self.half:
            return self.settled().compacted()
        if self._size < 2:
            return self
        whole = TextVersion([str(self)], 1, self.length, self.origin, "", self._keeps_halves)
        self._joined = None  # the pieces of the open text are enough to make it again
        return whole

    def settled(self) -> TextVersion:
        """Return the text if nothing can follow the half that waits: that half stays alone."""
        return self._grown(self.half if self._keeps_halves else REPLACEMENT, "") if self.half else self

    def _without_half(self) -> TextVersion:
        return TextVersion(self._pieces, self._size, self.length, self.origin, "", self._keeps_halves)

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

    @property
    def dumped(self) -> str:
        """The text with the half that waits: added to an empty text, it gives this text again."""
        return str(self) + self.half

    def __str__(self) -> str:
        joined = self._joined
        if joined is None:
            pieces = self._pieces
            joined = self._joined = "".join(pieces if len(pieces) == self._size else pieces[: self._size])
        return joined


NO_TEXT: Final = TextVersion([], 0, 0, None)


RAW_TEXT: Final = TextVersion([], 0, 0, None, "", keeps_halves=True)


def joined_halves(text: str, keeps_halves: bool) -> tuple[str, str]:
    """Return a text with its surrogate pairs joined, and the half at its end that waits.

    Other halves are alone: they become U+FFFD, or stay as they are.
    """
    if text.isascii():
        return text, ""
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        return text, ""
    half = ""
    if 0xD800 <= ord(text[-1]) <= 0xDBFF:
        text, half = text[:-1], text[-1]
    lone = "surrogatepass" if keeps_halves else "replace"
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", lone), half


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

    It holds the pure parser and, if there is a type, the typed value. The owner of the document keeps the text. With
    `unwraps`, a string that holds the object is unwrapped, if the type wants an object: then `parser` reads the text of
    the string, and `encoded` reads the string.
    """

    __slots__ = (
        "_beyond",
        "_cache",
        "_fed",
        "_held",
        "_is_extracted",
        "_is_repaired",
        "encoded",
        "fault",
        "is_ended",
        "parser",
        "resolution",
        "resolver",
        "unwraps",
    )

    def __init__(
        self,
        parser: ParserState,
        resolver: Resolver[Any] | None,
        is_extracted: bool = False,
        *,
        known: JSONDocument | None = None,
        beyond: ParserState | None = None,
        unwraps: bool = False,
        encoded: EncodedText | None = None,
        held: str = "",
        fed: int = 0,
        is_ended: bool = False,
    ) -> None:
        self.parser: Final = parser
        self.resolver: Final = resolver
        self._is_extracted: Final = is_extracted
        self._beyond: Final = beyond  # reads the text after the value as more values, until it is not the same value
        self.unwraps: Final = unwraps
        self.encoded: Final = encoded
        self._held: Final = held  # the text as it came, until it is clear what the string holds
        self._fed: Final = fed  # characters that the parser got; it may hold some of them back
        self.is_ended: Final = is_ended
        """The end of the text completed the value."""
        self._is_repaired: bool = False if known is None else known._is_repaired  # a quirk tells of repairs
        self.resolution: Resolution[Any] | None = None
        fault: UnspoolError | None = parser.error
        if fault is None and encoded is not None:
            fault = encoded.error
        self.fault = fault
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
    def begin(
        options: Options, resolver: Resolver[Any] | None, *, extract: bool = False, unwraps: bool = False
    ) -> JSONDocument:
        """Return the document before any text."""
        unwraps = unwraps and resolver is not None and wants_object(resolver.shape)
        return JSONDocument(create_state(options, extract=extract), resolver, extract, unwraps=unwraps)

    def typed(self, resolver: Resolver[Any]) -> JSONDocument:
        """Return the same document for a type that became known later."""
        document = JSONDocument(self.parser, resolver, self._is_extracted, beyond=self._beyond, fed=self._fed)
        document._is_repaired = self._is_repaired
        return document

    def _next(
        self,
        parser: ParserState,
        beyond: ParserState | None,
        encoded: EncodedText | None,
        fed: int,
        is_ended: bool = False,
    ) -> JSONDocument:
        """Return the document with another parser."""
        return JSONDocument(
            parser,
            self.resolver,
            self._is_extracted,
            known=self,
            beyond=beyond,
            unwraps=self.unwraps,
            encoded=encoded,
            fed=fed,
            is_ended=is_ended,
        )

    def feed(self, fragment: str, quirks: list[Quirk]) -> JSONDocument:
        """Return the document after one more fragment. Append its oddities to `quirks`."""
        if self.encoded is not None:
            return self._unwrap(self.encoded.feed(fragment), fragment, quirks)
        if self.unwraps and self._begins_string(fragment):
            return self._unwrap(EncodedText.begin(_strict(self.parser.options)).feed(fragment), fragment, quirks)
        return self._read(fragment, None, quirks)

    def _begins_string(self, fragment: str) -> bool:
        root = self.parser.root
        return root is None and fragment.lstrip(WHITE_SPACE)[:1] == '"'

    def _read(self, fragment: str, encoded: EncodedText | None, quirks: list[Quirk]) -> JSONDocument:
        """Read more text of the value, which comes from a string if there is an encoded text."""
        parser = self.parser
        if parser.is_complete:
            return self._go_beyond(fragment, encoded, quirks)
        after = parse_chunk(parser, fragment)
        if after is parser and encoded is self.encoded:
            return self
        document = self._next(after, None, encoded, self._fed + len(fragment))
        document._notice_repairs(quirks)
        if after.is_complete:
            return document._go_beyond(fragment[max(after.index - self._fed, 0) :], encoded, quirks)
        return document

    def _notice_repairs(self, quirks: list[Quirk]) -> None:
        if self._is_repaired:
            return
        repairs = self.parser.repairs
        if len(repairs) > 0:
            self._is_repaired = True
            quirks.append(Quirk.ARGUMENTS_REPAIRED)

    def _unwrap(self, encoded: EncodedText, fragment: str, quirks: list[Quirk]) -> JSONDocument:
        """Read more text of a string that may hold the value."""
        if self.encoded is not None and not self._held:
            if encoded.has_extra and not self.encoded.has_extra:
                quirks.append(Quirk.EXTRA_TEXT)
            return self._read(encoded.piece, encoded, quirks)
        held = self._held + fragment
        whole = "" if self.encoded is None else self.encoded.piece
        whole += encoded.piece  # blanks up to here, so there are few
        error = encoded.error
        holds = may_hold_object(whole, encoded.is_closed or error is not None)
        if holds is None:
            begun = EncodedText(encoded.intake, whole, False, "", False)
            return JSONDocument(self.parser, self.resolver, unwraps=True, encoded=begun, held=held, fed=self._fed)
        if not holds:
            return JSONDocument(self.parser, self.resolver, fed=self._fed)._read(held, None, quirks)
        quirks.append(Quirk.ARGUMENTS_ENCODED_TWICE)
        if encoded.has_extra:
            quirks.append(Quirk.EXTRA_TEXT)
        return JSONDocument(create_state(self.parser.options), self.resolver, unwraps=True)._read(
            whole, encoded, quirks
        )

    def _go_beyond(self, fragment: str, encoded: EncodedText | None, quirks: list[Quirk]) -> JSONDocument:
        """Read text after the value. The same value again is accepted; other text means nothing."""
        beyond = self._beyond
        is_blank = self._is_extracted or (beyond is None and not fragment.strip(WHITE_SPACE))
        if not is_blank:
            beyond = self._read_beyond(fragment, quirks)
        if beyond is self._beyond and encoded is self.encoded:
            return self
        return self._next(self.parser, beyond, encoded, self._fed, self.is_ended)

    def _read_beyond(self, fragment: str, quirks: list[Quirk]) -> ParserState:
        beyond = parse_chunk(create_state(REPEATS) if self._beyond is None else self._beyond, fragment)
        if beyond is self._beyond:
            return beyond
        if not all(same(value, self.parser.value) for value in beyond.finished):
            beyond = UNREADABLE
        if beyond.error is not None:
            quirks.append(Quirk.EXTRA_TEXT)
        elif beyond.finished:
            quirks.append(Quirk.ARGUMENTS_REPEATED)
        return beyond

    def end(self, quirks: list[Quirk], *, closes: bool = True) -> JSONDocument:
        """Return the document at the end of its text, which completes a number. An incomplete one stays the same.

        With `closes`, the end may be repaired: brackets that are missing. Only a text that ended well may be closed.
        """
        if self._beyond is not None and self._beyond.error is None and not self._beyond.is_complete:
            quirks.append(Quirk.EXTRA_TEXT)
        final = finalize(self.parser)
        if final is self.parser or not final.is_complete:
            return self
        if self.encoded is not None and not self.encoded.is_closed:
            return self
        known, found = self.parser.repairs, final.repairs
        if not closes and len(found) > len(known):
            return self
        document = self._next(final, None, self.encoded, self._fed, True)
        document._notice_repairs(quirks)
        return document

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs of the text; of a string that holds the value, those of its text."""
        return self.parser.repairs

    @property
    def is_closed(self) -> bool:
        """The value is closed, and so is the string that holds it, if there is one."""
        return self.parser.is_complete and (self.encoded is None or self.encoded.is_closed)

    @property
    def is_valid(self) -> bool:
        """The value is closed and fits its type."""
        return self.is_closed and self.fault is None

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


def _strict(options: Options) -> Options:
    """Return the options without repair: the string around the arguments is not repaired."""
    return options.replace(repair="none", truncated="error", latex=False)
