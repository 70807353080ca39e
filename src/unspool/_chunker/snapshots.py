"""`SnapshotChunker`: it reads snapshots, applies the rules of `policy`, and returns the new text.

**Reading.** A snapshot is a complete text, so `json` reads it, several times faster than a reader that can stop
anywhere. Where `json` rejects a text, or lacks something that the options ask for, the project's own reader reads the
text and reports what is wrong, and where.

**Dumps** are plain JSON data: no pickle, no eval. A dump stores the last snapshot as text, so numbers keep their
spelling. The path of the innermost open value tells which values are open, and both tell how the writer continues.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# A loaded dump may contain anything; the code checks each piece of it before it uses it.

from __future__ import annotations

from json import JSONDecoder
from math import isinf
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, cast, final

from .._dumps import check, natural, text
from .._errors import LimitError, OptionsError, Reason, SnapshotError, StateError, UnspoolError
from .._grammar.writer import Writer
from .._missing import MISSING
from .._options import UNLIMITED_OPTIONS, Options, chosen_options
from .._parser import Intake, as_bytes
from .._path import ROOT, Path
from .policy import (
    Limits,
    Number,
    Open,
    Plan,
    SpelledValueSink,
    copied,
    is_growable,
    join_halves,
    same,
    text_of,
    writable,
)

if TYPE_CHECKING:
    from .policy import Contradiction

__all__ = ["SnapshotChunker"]

BYTES: Final = (bytes, bytearray, memoryview)
MAX_SPELLINGS: Final = 10_000  # numbers that the reader remembers, so that each spelling is one object
DUMP_VERSION: Final = 1
DUMP_FIELDS: Final = {
    *("version", "options", "on_conflict", "patience", "step", "is_complete"),
    *("snapshot", "open", "waiting", "conflicts", "disputes"),
}


@final
class SnapshotChunker:
    """A converter from snapshots of a growing document to the fragments of its text.

    >>> chunker = SnapshotChunker()
    >>> chunker.process({"name": "Mat"})
    '{"name":"Mat'
    >>> chunker.process({"name": "Mathew", "age": 32})
    'hew","age":32'
    >>> chunker.flush()
    '}'

    Each snapshot is JSON text (str or bytes) or a parsed value. It is complete and later than the one before; the order
    of its keys does not matter. All returned text, joined, is the last snapshot, and every prefix of it can be
    continued to valid JSON. This is exact for a document written from left to right, with a delay of at most one
    snapshot.

    A snapshot that contradicts the written text raises `SnapshotError` and changes nothing. With
    ``on_conflict="keep"`` the written text stays, the rest goes on, and `conflicts` lists the contradictions. With
    ``patience=N`` a waiting value must stay the same for N further snapshots before it counts as complete. The limits
    of `options` apply to each snapshot.
    """

    __slots__ = (
        "_conflicts",
        "_disputes",
        "_is_complete",
        "_is_strict",
        "_options",
        "_patience",
        "_reader",
        "_root",
        "_spine",
        "_step",
        "_writer",
    )

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
        self.reset()

    def reset(self) -> None:
        """Start a new document."""
        self._root: object = MISSING  # the last snapshot
        self._spine: list[Open] = []
        self._step = 0
        self._is_complete = False
        self._conflicts: list[SnapshotError] = []
        self._disputes: dict[Path, object] = {}  # what the last snapshot had where another value is written
        self._writer = Writer()

    @property
    def conflicts(self) -> tuple[SnapshotError, ...]:
        """The contradictions of all snapshots so far; one that stays the same is listed once."""
        return tuple(self._conflicts)

    @property
    def is_complete(self) -> bool:
        """Whether the document has been flushed."""
        return self._is_complete

    @property
    def open_path(self) -> Path | None:
        """The path of the innermost open value; None before the first snapshot and at the end."""
        return self._spine[-1].path if self._spine else None

    @property
    def waiting(self) -> tuple[str, ...]:
        """The keys of the innermost object whose values are not written yet: more than one of them may be growing."""
        return tuple(self._spine[-1].waiting) if self._spine else ()

    def process(self, snapshot: object) -> str:
        """Return the text that this snapshot adds: str or bytes are JSON text, anything else is a parsed value."""
        if self._is_complete:
            raise StateError("the document is flushed; call reset() to start another one")
        step = self._step + 1
        value = self._reader.read(snapshot, step)
        plan = self._plan(step)
        try:
            plan.take(value)
        except SnapshotError as error:
            if error.reason is Reason.LIMIT:
                self._reader.explain(snapshot, step)
            raise
        self._root, self._spine, self._step = plan.root, plan.spine, step
        if plan.contradictions or self._disputes:
            self._note(plan.contradictions)
        return self._writer.write(plan.events)

    def flush(self) -> str:
        """Return the rest of the text: the values that wait, and the closing quotes and brackets."""
        plan = self._plan(self._step)
        plan.finish()
        self._spine, self._is_complete = plan.spine, True
        return self._writer.write(plan.events)

    def dump(self) -> dict[str, object]:
        """Return the state of the chunker as plain JSON data."""
        innermost = self._spine[-1] if self._spine else None
        return {
            "version": DUMP_VERSION,
            "options": self._options.as_dict(),
            "on_conflict": "raise" if self._is_strict else "keep",
            "patience": self._patience,
            "step": self._step,
            "is_complete": self._is_complete,
            "snapshot": _dumped_value(self._root),
            "open": None if innermost is None else list(innermost.path.steps),
            "waiting": [] if innermost is None else [[key, count] for key, count in innermost.waiting.items()],
            "conflicts": [[list(one.path.steps), one.reason.value, one.step] for one in self._conflicts],
            "disputes": [[list(path.steps), _dumped_value(value)] for path, value in self._disputes.items()],
        }

    @classmethod
    def load(cls, data: object) -> SnapshotChunker:
        """Return a chunker that continues where the dumped one was. Raise `StateError` for invalid data."""
        try:
            return cls._load(data)
        except StateError:
            raise
        except OptionsError as error:
            raise StateError(f"invalid state dump: {error}") from None
        except (UnspoolError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
            raise StateError(f"invalid state dump: {type(error).__name__}") from None

    @classmethod
    def _load(cls, data: Any) -> SnapshotChunker:
        check(isinstance(data, dict) and data.keys() == DUMP_FIELDS, "unexpected fields")
        check(type(data["version"]) is int and data["version"] == DUMP_VERSION, "unknown version")
        check(isinstance(data["options"], dict), "invalid options")
        options = Options(**data["options"])
        chunker = cls(on_conflict=data["on_conflict"], patience=data["patience"], options=options)
        limits = chunker._reader.limits

        chunker._step = natural(data["step"])
        check(type(data["is_complete"]) is bool, "is_complete is not a boolean")
        chunker._is_complete = data["is_complete"]
        chunker._root = _loaded_value(data["snapshot"], limits)
        check((chunker._root is MISSING) == (chunker._step == 0), "the step does not match the snapshot")
        chunker._restore_spine(data["open"], data["waiting"])
        for steps, reason, step in data["conflicts"]:
            check(0 < natural(step) <= chunker._step, "invalid step of a conflict")
            chunker._conflicts.append(SnapshotError(_loaded_path(steps), Reason(reason), step))
        for steps, value_text in data["disputes"]:
            chunker._disputes[_loaded_path(steps)] = _loaded_value(value_text, limits)
        check(len(chunker._disputes) == len(data["disputes"]), "a path is disputed twice")
        chunker._restore_writer()
        return chunker

    def _restore_spine(self, steps: Any, waiting: Any) -> None:
        is_open = is_growable(self._root) and not self._is_complete
        check(is_open == (steps is not None), "the open path does not match the snapshot")
        if steps is None:
            check(waiting == [], "values wait in a closed document")
            return
        path, value = ROOT, self._root
        self._spine.append(Open(path, value))
        for step in _loaded_path(steps):
            if isinstance(value, dict):
                value = value[step]
            else:
                check(isinstance(value, list) and step == len(value) - 1, "only the last item can be open")
                value = cast("list[object]", value)[cast("int", step)]
            check(is_growable(value), "an open value must be able to grow")
            path = Path(path, step)
            self._spine.append(Open(path, value))
        if isinstance(value, list):
            check(not value or not is_growable(value[-1]), "the last item must be open")
        if waiting:
            counts = {text(key): natural(count + 1) - 1 for key, count in waiting}
            check(isinstance(value, dict) and all(is_growable(value[key]) for key in counts), "invalid waiting values")
            check(len(counts) == len(waiting) > 1, "a single value never waits, and no value waits twice")
            self._spine[-1] = Open(path, value, counts)

    def _restore_writer(self) -> None:
        levels = [isinstance(one.value, dict) for one in self._spine if not isinstance(one.value, str)]
        if not self._spine:
            self._writer = Writer.resumed(levels, self._root is not MISSING, -1)
            return
        innermost = self._spine[-1]
        if isinstance(innermost.value, str):
            self._writer = Writer.resumed(levels, True, len(writable(innermost.value)))
        else:
            written = len(cast("dict[str, object] | list[object]", innermost.value)) - len(innermost.waiting)
            self._writer = Writer.resumed(levels, written > 0, -1)

    def _plan(self, step: int) -> Plan:
        return Plan(self._root, self._spine, self._reader.limits, step, self._patience, self._is_strict)

    def _note(self, contradictions: list[Contradiction]) -> None:
        """List the contradictions that the snapshot before did not have."""
        disputes: dict[Path, object] = {}
        known = self._disputes
        for found in contradictions:
            if found.path not in known or not same(known[found.path], found.value):
                self._conflicts.append(SnapshotError(found.path, found.reason, self._step))
            disputes[found.path] = found.value
        self._disputes = disputes


# ---- reading -----------------------------------------------------------------------------------------


class Spellings(dict[str, Number]):
    """One `Number` per spelling, so that numbers that stay the same are found equal by identity."""

    __slots__ = ("_max_length", "_may_be_huge")

    def __init__(self, max_length: int | None, may_be_huge: bool) -> None:
        super().__init__()
        self._max_length = max_length
        self._may_be_huge = may_be_huge  # larger than any float

    def __missing__(self, raw: str) -> Number:
        if self._max_length is not None and len(raw) > self._max_length:
            raise ValueError
        if not self._may_be_huge and not raw.lstrip("-").isdigit() and isinf(float(raw)):
            raise ValueError
        if len(self) >= MAX_SPELLINGS:
            self.clear()
        number = self[raw] = Number(raw)
        return number


@final
class SnapshotReader:
    """The reader of one chunker: it turns snapshots into values as `policy` uses them."""

    def __init__(self, options: Options) -> None:
        if options.multiple or options.on_error == "skip":
            raise OptionsError("a snapshot is one complete value: it cannot have multiple=True or on_error='skip'")
        # The next snapshot may complete half a surrogate pair; a replacement character would contradict it.
        surrogates = "keep" if options.surrogates == "replace" else options.surrogates
        self.limits = Limits(options)
        self._options = options.replace(surrogates=surrogates)
        is_plain = options.duplicate_keys == "last" and options.trailing == "error" and surrogates == "keep"
        self._reads_as_json_does = is_plain and not options.trailing_commas
        number = Spellings(options.max_number, options.floats == "decimal").__getitem__
        self._decode = JSONDecoder(parse_int=number, parse_float=number, parse_constant=_reject_constant).decode

    def read(self, snapshot: object, step: int) -> object:
        """Return the value of a snapshot: str and bytes are JSON text, everything else is a parsed value."""
        json_text = _json_text(snapshot)
        if json_text is None:
            return copied(snapshot, self._options.max_depth, step)
        if self._reads_as_json_does:
            try:
                decoded = join_halves(json_text) if isinstance(json_text, str) else json_text.decode()
                if self._options.max_chars is None or len(decoded) <= self._options.max_chars:
                    return self._decode(decoded)
            except (ValueError, RecursionError):
                pass
        return self._parse(json_text, step)

    def explain(self, snapshot: object, step: int) -> None:
        """Raise the `SnapshotError` of a text that exceeds a limit, with the position as its cause."""
        json_text = _json_text(snapshot)
        if json_text is not None:
            self._parse(json_text, step)

    def _parse(self, json_text: str | bytes, step: int) -> object:
        intake, sink = Intake.create(self._options, False), SpelledValueSink()
        intake.feed(json_text, sink)
        intake.finish(sink)
        if sink.errors:
            error = sink.errors[-1]
            reason = Reason.LIMIT if isinstance(error, LimitError) else Reason.NOT_JSON
            raise SnapshotError(error.path, reason, step) from error
        return sink.value()


def _json_text(snapshot: object) -> str | bytes | None:
    if isinstance(snapshot, str):
        return snapshot
    if type(snapshot) in BYTES:
        return as_bytes(snapshot)
    return None


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(constant)


# ---- pieces of a dump --------------------------------------------------------------------------------

DUMP_READER: Final = SnapshotReader(UNLIMITED_OPTIONS.replace(floats="decimal"))


def _dumped_value(value: object) -> str | None:
    return None if value is MISSING else text_of(value)


def _loaded_value(value_text: object, limits: Limits) -> object:
    """Read a dumped value: without the limits on its text, since the value may never have been a text."""
    if value_text is None:
        return MISSING
    value = DUMP_READER.read(text(value_text), 0)
    limits.check(ROOT, value, 0, 0)
    return value


def _loaded_path(steps: Any) -> Path:
    check(isinstance(steps, list) and all(type(step) in (str, int) for step in steps), "invalid path")
    return Path.of(*steps)
