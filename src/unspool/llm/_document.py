"""JSON that a message holds while it is being written: the structured output, or the arguments of a call.

It is the pure parser, and the type that the value is to have, if there is one. It never changes; more text makes
another one, which shares what did not change. The text itself is kept by whoever the document belongs to.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from .._chunker.values import same
from .._missing import MISSING
from .._options import Options
from .._path import ROOT
from .._state import create_state, finalize, parse_chunk
from ..typed._outcome import InvalidError, Missing
from ._faults import Fault, MessageError
from ._quirks import Quirk

if TYPE_CHECKING:
    from typing import Any

    from .._errors import UnspoolError
    from .._path import Path
    from .._state import ParserState
    from ..typed._iterate import Resolver
    from ..typed._outcome import Resolution
    from ..typed._resolve import Cache

__all__ = ["Document"]

WHITE_SPACE: Final = " \t\n\r"
REPEATS: Final = Options(multiple=True)
STRANGE: Final = parse_chunk(create_state(), "]")  # a text that has failed: nothing more is read


@final
class Document:
    """A value that is being written, and what it is worth for its type."""

    __slots__ = ("_beyond", "_cache", "_is_extracted", "fault", "parser", "resolution", "resolver")

    def __init__(
        self,
        parser: ParserState,
        resolver: Resolver[Any] | None,
        is_extracted: bool = False,
        *,
        known: Document | None = None,
        beyond: ParserState | None = None,
    ) -> None:
        self.parser: Final = parser
        self.resolver: Final = resolver
        self._is_extracted: Final = is_extracted
        self._beyond: Final = beyond  # what follows the value, read as more values; stopped when it is none of ours
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
    def begin(options: Options, resolver: Resolver[Any] | None, *, extract: bool = False) -> Document:
        """The document before any text."""
        return Document(create_state(options, extract=extract), resolver, extract)

    def typed(self, resolver: Resolver[Any]) -> Document:
        """The same text, for a type that is known only now."""
        return Document(self.parser, resolver, self._is_extracted, beyond=self._beyond)

    def feed(self, fragment: str, quirks: list[Quirk]) -> Document:
        """The document after one more fragment. What is odd about it is added to `quirks`."""
        parser = self.parser
        if parser.is_complete:
            return self._go_beyond(fragment, quirks)
        after = parse_chunk(parser, fragment)
        if after is parser:
            return self
        document = Document(after, self.resolver, self._is_extracted, known=self)
        if after.is_complete:
            return document._go_beyond(fragment[after.index - parser.index :], quirks)
        return document

    def _go_beyond(self, fragment: str, quirks: list[Quirk]) -> Document:
        """What follows the value is that value once more, or it means nothing."""
        beyond = self._beyond
        if self._is_extracted or (beyond is None and not fragment.strip(WHITE_SPACE)):
            return self
        beyond = parse_chunk(create_state(REPEATS) if beyond is None else beyond, fragment)
        if beyond is self._beyond:
            return self
        if not all(same(value, self.parser.value) for value in beyond.finished):
            beyond = STRANGE
        if beyond.error is not None:
            quirks.append(Quirk.EXTRA_TEXT)
        elif beyond.finished:
            quirks.append(Quirk.ARGUMENTS_REPEATED)
        return Document(self.parser, self.resolver, self._is_extracted, known=self, beyond=beyond)

    def end(self, quirks: list[Quirk]) -> Document:
        """The document if the text ends here: a number is whole then. If more was expected it stays what it is."""
        if self._beyond is not None and self._beyond.error is None and not self._beyond.is_complete:
            quirks.append(Quirk.EXTRA_TEXT)
        final = finalize(self.parser)
        if final is self.parser or not final.is_complete:
            return self
        return Document(final, self.resolver, self._is_extracted, known=self)

    @property
    def is_valid(self) -> bool:
        """The value is closed, and one of its type."""
        return self.parser.is_complete and self.fault is None

    @property
    def value(self) -> object:
        """The typed value as it stands; without a type, the value once it is closed; `MISSING` where there is none."""
        resolution = self.resolution
        if resolution is None:
            return self.parser.result
        return MISSING if isinstance(resolution, Missing) else resolution.value

    @property
    def open_paths(self) -> tuple[Path, ...]:
        """Of what is not closed: from the root to what is being written, or is expected."""
        if self.parser.is_complete:
            return ()
        paths = [ROOT]
        for step in self.parser.open_path:
            paths.append(paths[-1] / step)
        return tuple(paths)

    def error(self, call: int | None, known: MessageError | None) -> MessageError | None:
        """What is wrong, as an error of the message: the known one, if it is still that."""
        fault = self.fault
        if fault is None or (known is not None and known.reason is fault):
            return None if fault is None else known
        return MessageError(Fault.INVALID if isinstance(fault, InvalidError) else Fault.SYNTAX, call=call, reason=fault)

    def cut_off(self, fault: Fault, call: int | None) -> MessageError:
        """The error of a document whose text has ended too early."""
        reason = finalize(self.parser).error if fault is Fault.INCOMPLETE else None
        return MessageError(fault, call=call, paths=self.open_paths, reason=reason)
