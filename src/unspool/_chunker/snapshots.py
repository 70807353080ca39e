"""`SnapshotChunker`: complete snapshots in, fragments of text out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, final

from .._errors import OptionsError, Reason, SnapshotError, StateError
from .._grammar.writer import Writer
from .._options import chosen_options
from .policy import Plan
from .reading import SnapshotReader
from .state import ChunkerState, dump, load
from .values import same

if TYPE_CHECKING:
    from .._options import Options
    from .._path import Path
    from .diff import Contradiction

__all__ = ["SnapshotChunker"]


@final
class SnapshotChunker:
    """Turns snapshots of a document that is being written into the fragments of its text.

    >>> chunker = SnapshotChunker()
    >>> chunker.process({"name": "Mat"})
    '{"name":"Mat'
    >>> chunker.process({"name": "Mathew", "age": 32})
    'hew","age":32'
    >>> chunker.flush()
    '}'

    Each snapshot is JSON text (str or bytes) or a parsed value, whole, and later than the one before; the order of the
    keys means nothing. Everything that was returned, joined, is the last snapshot; every prefix of it can be continued
    to valid JSON. That is exact for a document written from left to right, with a delay of at most one snapshot.

    A snapshot that contradicts what is already written raises `SnapshotError`, and everything stays as it was. With
    ``on_conflict="keep"`` what is written stays, the rest goes on, and `conflicts` tells what could not be. With
    ``patience=N`` a value that waits must stay the same for N further snapshots before it counts as complete. The
    limits of `options` hold for each snapshot.
    """

    __slots__ = ("_is_strict", "_options", "_patience", "_reader", "_state", "_writer")

    def __init__(
        self, *, on_conflict: Literal["raise", "keep"] = "raise", patience: int = 0, options: Options | None = None
    ) -> None:
        if on_conflict not in ("raise", "keep"):
            raise OptionsError("on_conflict must be 'raise' or 'keep'")
        if type(patience) is not int or patience < 0:
            raise OptionsError("patience must be a whole number from 0 up")
        self._is_strict = on_conflict == "raise"
        self._patience = patience
        self._options = chosen_options(options)
        self._reader = SnapshotReader(self._options)
        self._state = ChunkerState()
        self._writer = Writer()

    @property
    def conflicts(self) -> tuple[SnapshotError, ...]:
        """What snapshots had where something else was written; each is listed once as long as it stays the same."""
        return tuple(self._state.conflicts)

    @property
    def is_complete(self) -> bool:
        """The document has been flushed."""
        return self._state.is_complete

    @property
    def open_path(self) -> Path | None:
        """Where the innermost value is that is still open; None before the first snapshot and at the end."""
        spine = self._state.spine
        return spine[-1].path if spine else None

    @property
    def waiting(self) -> tuple[str, ...]:
        """The keys in there whose values are known, and are not written yet: more than one of them may be growing."""
        spine = self._state.spine
        return tuple(spine[-1].waiting) if spine else ()

    def process(self, snapshot: object) -> str:
        """The text that this snapshot adds: str or bytes are JSON text, anything else is a parsed value."""
        state = self._state
        if state.is_complete:
            raise StateError("the document is flushed; reset() starts another one")
        step = state.step + 1
        value = self._reader.read(snapshot, step)
        plan = self._plan(step)
        try:
            plan.take(value)
        except SnapshotError as error:
            if error.reason is Reason.LIMIT:
                self._reader.explain(snapshot, step)
            raise
        state.root, state.spine, state.step = plan.root, plan.spine, step
        if plan.contradictions or state.disputes:
            self._note(plan.contradictions, step)
        return self._writer.write(plan.events)

    def flush(self) -> str:
        """The text that is missing to the end: what waits, and the closing quotes and brackets."""
        state = self._state
        plan = self._plan(state.step)
        plan.finish()
        state.spine, state.is_complete = plan.spine, True
        return self._writer.write(plan.events)

    def reset(self) -> None:
        """Start a new document."""
        self._state = ChunkerState()
        self._writer = Writer()

    def dump(self) -> dict[str, object]:
        """Where the chunker stands, as plain JSON data."""
        return dump(self._state, self._options, "raise" if self._is_strict else "keep", self._patience)

    @classmethod
    def load(cls, data: object) -> SnapshotChunker:
        """A chunker that goes on where the one that was dumped stood. Raises `StateError` if that is no dump."""
        state, writer, made_with = load(data)
        try:
            chunker = cls(**made_with)
        except OptionsError as error:
            raise StateError(f"this is no dump of a chunker: {error}") from None
        chunker._state, chunker._writer = state, writer
        return chunker

    def _plan(self, step: int) -> Plan:
        state = self._state
        return Plan(state.root, state.spine, self._reader.limits, step, self._patience, self._is_strict)

    def _note(self, contradictions: list[Contradiction], step: int) -> None:
        """A contradiction that was there in the snapshot before is not listed again."""
        disputes: dict[Path, object] = {}
        known = self._state.disputes
        for path, reason, value in contradictions:
            if path not in known or not same(known[path], value):
                self._state.conflicts.append(SnapshotError(path, reason, step))
            disputes[path] = value
        self._state.disputes = disputes
