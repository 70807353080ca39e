"""The arguments of one call: a text in pieces, a whole value, or leaves by their paths.

Whatever they come as, they are kept as text: as it came, or, where no text came, as it would be written. Leaves
become text through a chunker. That one is no part of a state: it can be had again from the leaves, so a state just
keeps the one that stands where it stands, for the first that asks.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from .._chunker.leaves import LeafChunker
from .._chunker.policy import append_whole, copied, same
from .._errors import PatternError, Reason, SnapshotError
from .._grammar.writer import Writer
from .._missing import MISSING
from .._path import ROOT
from .._sharing import appended
from ._faults import Fault, MessageError
from ._parts import Leaf
from ._quirks import Quirk
from ._texts import NO_TEXT

if TYPE_CHECKING:
    from .._events import Event
    from ._document import Document
    from ._texts import Text

__all__ = ["Arguments", "Leaves"]

DEEPEST: Final = 1000  # of a value that is written down; whether it is too deep is for the parser to say


@final
class Leaves:
    """The first `size` leaves of a list that later versions share."""

    __slots__ = ("_chunkers", "_leaves", "is_closed", "size")

    def __init__(self, leaves: list[Leaf], size: int, chunkers: list[LeafChunker], is_closed: bool = False) -> None:
        self._leaves = leaves
        self._chunkers = chunkers  # one, or none: taking it out is safe with threads
        self.size: Final = size
        self.is_closed: Final = is_closed
        """No more can come: what they make is written to its end."""

    def add(self, leaf: Leaf) -> tuple[Leaves, str]:
        """With one more leaf, and the text that it adds. Raises an error if it cannot stand there."""
        chunker = self._chunker()
        text = chunker.process(leaf.path, leaf.value, will_continue=leaf.will_continue)
        leaves = [leaf] if self.size == 0 else appended(self._leaves, self.size, leaf)
        return Leaves(leaves, self.size + 1, [chunker]), text

    def close(self) -> tuple[Leaves, str]:
        """With no more to come, and the text that closes what is open."""
        return Leaves(self._leaves, self.size, [], True), self._chunker().flush()

    def _chunker(self) -> LeafChunker:
        try:
            return self._chunkers.pop()
        except IndexError:
            chunker = LeafChunker()
            for leaf in self._leaves[: self.size]:
                chunker.process(leaf.path, leaf.value, will_continue=leaf.will_continue)
            return chunker

    def merged(self) -> list[Leaf]:
        """The leaves with the pieces of one string in one leaf, so that it cannot be seen how they came."""
        merged: list[Leaf] = []
        for leaf in self._leaves[: self.size]:
            last = merged[-1] if merged else None
            if last is None or not last.will_continue or last.path != leaf.path:
                merged.append(leaf)
            else:
                text = str(last.value) + ("" if leaf.value is MISSING else str(leaf.value))
                merged[-1] = Leaf(leaf.path, text, leaf.will_continue)
        return merged


NO_LEAVES: Final = Leaves([], 0, [])


@final
class Arguments:
    """What is known of the arguments. It never changes; each method gives another one, or the same.

    `document` is None where they are free text.
    """

    __slots__ = ("document", "leaves", "misplaced", "text")

    def __init__(
        self,
        text: Text,
        document: Document | None,
        leaves: Leaves | None = None,
        misplaced: SnapshotError | None = None,
    ) -> None:
        self.text: Final = text
        self.document: Final = document
        self.leaves: Final = leaves
        self.misplaced: Final = misplaced
        """Why they cannot be put together: a leaf that has no place, a value that is none."""

    def feed(self, piece: str, quirks: list[Quirk]) -> Arguments:
        """With one more piece of text."""
        if not piece:
            return self
        if self.leaves is not None:
            quirks.append(Quirk.ARGUMENTS_MIXED)
            return self
        return self._append(piece, quirks, None)

    def _append(self, piece: str, quirks: list[Quirk], leaves: Leaves | None) -> Arguments:
        document = self.document
        return Arguments(
            self.text.add(piece), None if document is None else document.feed(piece, quirks), leaves, self.misplaced
        )

    def add_leaves(self, leaves: tuple[Leaf, ...], quirks: list[Quirk]) -> Arguments:
        """With more leaves."""
        if self.text.length > 0 and self.leaves is None:
            quirks.append(Quirk.ARGUMENTS_MIXED)
            return self
        arguments = self
        for leaf in leaves:
            known = arguments.leaves or NO_LEAVES
            if arguments.misplaced is not None or known.is_closed:
                quirks.append(Quirk.EXTRA_TEXT)
                break
            try:
                known, text = known.add(leaf)
            except (SnapshotError, PatternError) as error:
                return arguments._misplace(error, known)
            arguments = arguments._append(text, quirks, known)
        return arguments

    def take_whole(self, value: object, is_usual: bool, blank: Document | None, quirks: list[Quirk]) -> Arguments:
        """With all of them as a whole, as text or as a value. If others came before, these are the right ones."""
        if isinstance(value, str):
            text = value
        else:
            if not is_usual:
                quirks.append(Quirk.ARGUMENTS_AS_OBJECT)
            try:
                text = written(value)
            except SnapshotError as error:
                return self._misplace(error, self.leaves)
        if self.text.length == 0 or not text:
            return self.feed(text, quirks)
        known = str(self.text)
        if text != known and self.leaves is None and text.startswith(known):
            return self.feed(text[len(known) :], quirks)
        fresh = Arguments(NO_TEXT, blank).feed(text, [])
        if text == known or self._is_same(fresh):
            if not is_usual:
                quirks.append(Quirk.ARGUMENTS_REPEATED)
            return self
        quirks.append(Quirk.ARGUMENTS_REPLACED)
        return fresh

    def _misplace(self, error: SnapshotError | PatternError, leaves: Leaves | None) -> Arguments:
        if isinstance(error, PatternError):  # the place is none
            error = SnapshotError(ROOT, Reason.OUT_OF_ORDER, 1 if leaves is None else leaves.size + 1)
        return Arguments(self.text, self.document, leaves, error.with_traceback(None))

    def _is_same(self, other: Arguments) -> bool:
        if self.document is None or other.document is None:
            return False
        mine, others = self.document.parser.result, other.document.parser.result
        return mine is not MISSING and same(mine, others)

    def end(self, quirks: list[Quirk]) -> Arguments:
        """If nothing more comes: what leaves have opened is closed, and a number is whole."""
        arguments = self
        if self.leaves is not None and not self.leaves.is_closed and self.misplaced is None:
            leaves, text = self.leaves.close()
            arguments = self._append(text, quirks, leaves)
        document = None if arguments.document is None else arguments.document.end(quirks)
        if document is arguments.document:
            return arguments
        return Arguments(arguments.text, document, arguments.leaves, arguments.misplaced)

    def typed(self, document: Document | None) -> Arguments:
        """The same text, read as another document."""
        return Arguments(self.text, document, self.leaves, self.misplaced)

    @property
    def is_blank(self) -> bool:
        """There is nothing but white space."""
        return self.misplaced is None and not str(self.text).strip()

    @property
    def is_valid(self) -> bool:
        """They are whole, and fit the type of the tool."""
        return self.misplaced is None and (self.document is None or self.document.is_valid)

    def error(self, call: int | None, known: MessageError | None) -> MessageError | None:
        """What is wrong with them: the known error, if it is still that."""
        if self.misplaced is not None:
            if known is not None and known.reason is self.misplaced:
                return known
            return MessageError(Fault.MISPLACED, call=call, reason=self.misplaced)
        return None if self.document is None else self.document.error(call, known)


def written(value: object) -> str:
    """A plain value as JSON text. Raises `SnapshotError` for what JSON does not have."""
    events: list[Event] = []
    append_whole(events, ROOT, copied(value, DEEPEST, 1))
    return Writer().write(events)
