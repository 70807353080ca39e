"""`SnapshotChunker`: it reads snapshots, applies the rules of `policy`, and returns the new text.

**Dumps** are plain JSON data: no pickle, no eval. A dump stores the last snapshot as text, so numbers keep their
spelling. The path of the innermost open value tells which values are open, and both tell how the writer continues.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# A loaded dump may contain anything; the code checks each piece of it before it uses it.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, cast, final

from .._dumps import check, natural, text
from .._errors import OptionsError, Reason, SnapshotError, StateError, UnspoolError, shown_path
from .._grammar.writer import Writer
from .._missing import MISSING
from .._options import Options, chosen_options, loaded_options
from .._path import ROOT, Path
from .notices import Conflict, Stall
from .policy import BLANK, NOT_CALLED, Open, Plan, Rules
from .reading import ANY_READER, SnapshotReader
from .values import Number, is_growable, is_zero, same, text_of, writable

if TYPE_CHECKING:
    from collections.abc import Callable

    from .policy import Contradiction
    from .values import Limits

    OnConflict = Literal["raise", "keep"] | Callable[[Conflict], Literal["raise", "keep"]]
    OnStall = Callable[[tuple[Stall, ...]], object]

__all__ = ["SnapshotChunker"]

DUMP_VERSION: Final = 2
DUMP_FIELDS: Final = {
    *("version", "options", "on_conflict", "patience", "empty", "step", "is_complete"),
    *("snapshot", "open", "levels", "conflicts", "disputes", "stalled", "emitted"),
}
OLD_FIELDS: Final = DUMP_FIELDS - {"empty", "levels", "stalled", "emitted"} | {"waiting"}  # of version 1
ANSWERS: Final = ("raise", "keep")
MOST_SHOWN: Final = 4  # waiting values in a repr
MOST_OF_A_KEY: Final = 24


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
    ``on_conflict="keep"`` the written text stays, the rest goes on, and `conflicts` lists the contradictions.
    `on_conflict` can also be a function: it gets a `Conflict` and returns "raise" or "keep".

    With ``patience=N`` a value must stay the same for N further snapshots before it counts as complete. With
    ``empty="wait"`` empty values and numbers may still be filled: choose it for dumps of half-filled models. With
    ``keep_text=True`` the property `emitted` has the whole text so far. The chunker calls `on_stall` with the value of
    `stalled` when more values grow together. The limits of `options` apply to each snapshot.
    """

    __slots__ = (
        "_conflicts",
        "_disputes",
        "_is_complete",
        "_on_conflict",
        "_on_stall",
        "_options",
        "_pieces",
        "_reader",
        "_root",
        "_rules",
        "_spine",
        "_stalled",
        "_step",
        "_writer",
    )

    def __init__(
        self,
        *,
        on_conflict: OnConflict = "raise",
        patience: int = 0,
        empty: Literal["write", "wait"] = "write",
        keep_text: bool = False,
        on_stall: OnStall | None = None,
        options: Options | None = None,
    ) -> None:
        if not callable(on_conflict) and on_conflict not in ANSWERS:
            raise OptionsError("on_conflict must be 'raise', 'keep' or a function")
        if type(patience) is not int or patience < 0:
            raise OptionsError("patience must be a whole number from 0 up")
        if empty not in ("write", "wait"):
            raise OptionsError("empty must be 'write' or 'wait'")
        if type(keep_text) is not bool:
            raise OptionsError("keep_text must be True or False")
        if on_stall is not None and not callable(on_stall):
            raise OptionsError("on_stall must be a function")
        self._on_conflict = on_conflict
        self._on_stall = on_stall
        self._options = chosen_options(options)
        self._reader = SnapshotReader(self._options)
        keeps = None if on_conflict == "raise" else _keep if on_conflict == "keep" else self._ask
        self._rules = Rules(self._reader.limits, patience, empty == "wait", keeps)
        self._pieces: list[str] | None = [] if keep_text else None
        self.reset()

    def reset(self) -> None:
        """Start a new document."""
        self._root: object = MISSING  # the last snapshot
        self._spine: list[Open] = []
        self._step = 0
        self._is_complete = False
        self._conflicts: list[SnapshotError] = []
        self._disputes: dict[Path, object] = {}  # what the last snapshot had where another value is written
        self._stalled: dict[Path, int] = {}
        self._writer = Writer()
        if self._pieces is not None:
            self._pieces = []

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

    @property
    def stalled(self) -> tuple[Stall, ...]:
        """The waiting values that grew together with another one: nothing of them is written until only one grows."""
        return tuple([Stall(path, since) for path, since in self._stalled.items()])

    @property
    def emitted(self) -> str:
        """The whole text so far. Only a chunker with ``keep_text=True`` keeps it."""
        if self._pieces is None:
            raise StateError("this chunker does not keep its text; create it with SnapshotChunker(keep_text=True)")
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

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
        if plan.together or self._stalled:
            self._note_stalls(plan, step)
        self._root, self._spine, self._step = plan.root, plan.spine, step
        if plan.contradictions or self._disputes:
            self._note(plan.contradictions)
        return self._write(plan)

    def flush(self) -> str:
        """Return the rest of the text: the values that wait, and the closing quotes and brackets."""
        if self._is_complete:
            return ""
        plan = self._plan(self._step)
        plan.finish()
        self._spine, self._stalled, self._is_complete = plan.spine, {}, True
        return self._write(plan)

    def dump(self) -> dict[str, object]:
        """Return the state of the chunker as plain JSON data. It does not hold functions."""
        return {
            "version": DUMP_VERSION,
            "options": self._options.as_dict(),
            "on_conflict": "call" if callable(self._on_conflict) else self._on_conflict,
            "patience": self._rules.patience,
            "empty": "wait" if self._rules.empty_waits else "write",
            "step": self._step,
            "is_complete": self._is_complete,
            "snapshot": _dumped_value(self._root),
            "open": list(self._spine[-1].path.steps) if self._spine else None,
            "levels": [
                [one.called, one.held, [[key, count] for key, count in one.waiting.items()]] for one in self._spine
            ],
            "conflicts": [[list(one.path.steps), one.reason.value, one.step] for one in self._conflicts],
            "disputes": [[list(path.steps), _dumped_value(value)] for path, value in self._disputes.items()],
            "stalled": [[list(path.steps), since] for path, since in self._stalled.items()],
            "emitted": None if self._pieces is None else self.emitted,
        }

    @classmethod
    def load(
        cls,
        data: object,
        *,
        on_conflict: OnConflict | None = None,
        on_stall: OnStall | None = None,
        max: Options | None = None,
    ) -> SnapshotChunker:
        """Return a chunker that continues where the dumped one was. Raise `StateError` for invalid data.

        A dump does not hold functions. If the dumped chunker had one as `on_conflict`, pass it again. A dump brings its
        own options. With `max`, a dump whose limits are larger than those of `max` is refused.
        """
        cap = None if max is None else chosen_options(max)
        try:
            return cls._load(data, on_conflict, on_stall, cap)
        except StateError:
            raise
        except OptionsError as error:
            raise StateError(f"invalid state dump: {error}") from None
        except (
            UnspoolError,
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            raise StateError(f"invalid state dump: {type(error).__name__}") from None

    @classmethod
    def _load(
        cls, data: Any, on_conflict: OnConflict | None, on_stall: OnStall | None, cap: Options | None
    ) -> SnapshotChunker:
        check(isinstance(data, dict), "expected an object")
        if data.keys() == OLD_FIELDS and type(data["version"]) is int and data["version"] == 1:
            data = _upgraded(data)
        check(data.keys() == DUMP_FIELDS, "unexpected fields")
        check(type(data["version"]) is int and data["version"] == DUMP_VERSION, "unknown version")
        has_function = isinstance(data["on_conflict"], str) and data["on_conflict"] == "call"
        check(
            on_conflict is not None or not has_function, "it needs the function that was on_conflict: pass it to load"
        )
        chunker = cls(
            on_conflict=data["on_conflict"] if on_conflict is None else on_conflict,
            patience=natural(data["patience"]),
            empty=data["empty"],
            keep_text=data["emitted"] is not None,
            on_stall=on_stall,
            options=loaded_options(data["options"], cap),
        )
        limits = chunker._reader.limits

        chunker._step = natural(data["step"])
        check(type(data["is_complete"]) is bool, "is_complete is not a boolean")
        chunker._is_complete = data["is_complete"]
        chunker._root = _loaded_value(data["snapshot"], limits)
        check((chunker._root is MISSING) == (chunker._step == 0), "the step does not match the snapshot")
        chunker._restore_spine(data["open"], data["levels"])
        for steps, reason, step in data["conflicts"]:
            check(0 < natural(step) <= chunker._step, "invalid step of a conflict")
            chunker._conflicts.append(SnapshotError(_loaded_path(steps), Reason(reason), step))
        for steps, value_text in data["disputes"]:
            chunker._disputes[_loaded_path(steps)] = _loaded_value(value_text, limits)
        check(len(chunker._disputes) == len(data["disputes"]), "a path is disputed twice")
        waiting = _waiting_paths(chunker._spine) if data["stalled"] else set()
        for steps, since in data["stalled"]:
            path = _loaded_path(steps)
            check(path in waiting and 0 < natural(since) <= chunker._step, "invalid stalled value")
            chunker._stalled[path] = since
        if data["emitted"] is not None:
            chunker._pieces = [text(data["emitted"])]
        chunker._restore_writer()
        return chunker

    def _restore_spine(self, steps: Any, levels: Any) -> None:
        check(isinstance(levels, list), "invalid levels")
        if steps is None:
            is_right = self._is_complete or not is_growable(self._root) or self._plan(0).holds_root()
            check(is_right and levels == [], "the open path does not match the snapshot")
            return
        check(is_growable(self._root) and not self._is_complete, "the open path does not match the snapshot")
        inner = [*_loaded_path(steps).steps, None]
        check(len(inner) == len(levels), "the open path does not match the levels")
        path, value = ROOT, self._root
        for step, level in zip(inner, levels, strict=True):
            check(is_growable(value), "an open value must be able to grow")
            one = self._loaded_level(path, value, level, step)
            self._spine.append(one)
            if step is None:
                break
            if isinstance(value, list):
                written = len(value) - one.held
                check(type(step) is int and step == written - 1, "only the last written item can be open")
                value = value[cast("int", step)]
            else:
                check(isinstance(value, dict) and step not in one.waiting, "an open value cannot wait")
                value = cast("dict[object, object]", value)[step]
            path = Path(path, step)

    def _loaded_level(self, path: Path, value: object, level: Any, inner: object) -> Open:
        called, held, waiting = level
        called, held = natural(called + 1) - 1, natural(held)
        counts = {text(key): natural(count + 2) - 2 for key, count in waiting}
        check(len(counts) == len(waiting), "a value waits twice")
        check(not counts or (isinstance(value, dict) and counts.keys() <= value.keys()), "invalid waiting values")
        check(held == 0 or (isinstance(value, list) and held <= len(value)), "invalid number of waiting items")
        if not self._rules.empty_waits:
            check(BLANK not in counts.values(), "empty values wait only with empty='wait'")
        if not self._rules.is_careful:
            check(called == NOT_CALLED and held == 0, "values wait only with patience or empty='wait'")
            check(all(count == NOT_CALLED for count in counts.values()), "invalid waiting values")
            check(not counts or (inner is None and len(counts) > 1), "a single value never waits")
            check(all(is_growable(cast("dict[str, object]", value)[key]) for key in counts), "invalid waiting values")
            if isinstance(value, list) and inner is None:
                check(not value or not is_growable(value[-1]), "the last item must be open")
        return Open(path, value, counts, held, called)

    def _restore_writer(self) -> None:
        levels = [isinstance(one.value, dict) for one in self._spine if not isinstance(one.value, str)]
        if not self._spine:
            is_written = self._root is not MISSING and (self._is_complete or not self._plan(0).holds_root())
            self._writer = Writer.resumed(levels, is_written, -1)
            return
        innermost = self._spine[-1]
        if isinstance(innermost.value, str):
            self._writer = Writer.resumed(levels, True, len(writable(innermost.value)))
        else:
            count = len(cast("dict[str, object] | list[object]", innermost.value))
            self._writer = Writer.resumed(levels, count > len(innermost.waiting) + innermost.held, -1)

    def _plan(self, step: int) -> Plan:
        return Plan(self._root, self._spine, step, self._rules)

    def _write(self, plan: Plan) -> str:
        fragment = self._writer.write(plan.events)
        if self._pieces is not None:
            self._pieces.append(fragment)
        return fragment

    def _ask(self, found: Contradiction) -> bool:
        """Ask the function about a contradiction. It has answered already if the last snapshot had the same one."""
        if found.path in self._disputes and same(self._disputes[found.path], found.value):
            return True
        answer = cast("Callable[[Conflict], object]", self._on_conflict)(Conflict(found, self._step + 1))
        if not isinstance(answer, str) or answer not in ANSWERS:
            raise TypeError(f"on_conflict must return 'raise' or 'keep', not {type(answer).__name__}")
        return answer == "keep"

    def _note_stalls(self, plan: Plan, step: int) -> None:
        """Update the stalled values. If there are more of them, tell the function, before anything else changes."""
        waiting = _waiting_paths(plan.spine)
        stalled = {path: since for path, since in self._stalled.items() if path in waiting}
        known = len(stalled)
        for path in plan.together:
            if path in waiting:
                stalled.setdefault(path, step)
        if self._on_stall is not None and len(stalled) > known:
            self._on_stall(tuple([Stall(path, since) for path, since in stalled.items()]))
        self._stalled = stalled

    def _note(self, contradictions: list[Contradiction]) -> None:
        """List the contradictions that the snapshot before did not have."""
        disputes: dict[Path, object] = {}
        known = self._disputes
        for found in contradictions:
            if found.path not in known or not same(known[found.path], found.value):
                self._conflicts.append(SnapshotError(found.path, found.reason, self._step))
            disputes[found.path] = found.value
        self._disputes = disputes

    def __reduce__(self) -> NoReturn:
        raise TypeError("a SnapshotChunker cannot be pickled or copied: use dump() and SnapshotChunker.load()")

    def __repr__(self) -> str:
        if self._is_complete:
            return f"SnapshotChunker(complete, step={self._step})"
        if not self._spine:
            held = ""
            if self._step > 0 and self._plan(0).holds_root():
                is_number = isinstance(self._root, Number) and not is_zero(self._root.text)
                why = "a number may get more digits" if is_number else "it is empty"
                held = f", the whole document waits: {why}"
            return f"SnapshotChunker(nothing open, step={self._step}{held})"
        shown = f"open at {shown_path(self._spine[-1].path)}, step={self._step}"
        waits: list[str] = []
        count = 0
        for one in reversed(self._spine):
            count += len(one.waiting) + one.held
            for key in one.waiting:
                if len(waits) == MOST_SHOWN:
                    break
                waits.append(f"{_shown_key(key)} ({self._why(one, key)})")
            if one.held and len(waits) < MOST_SHOWN:
                waits.append(f"{one.held} at the end of {shown_path(one.path)} (may be filled, or not their turn)")
                count -= one.held - 1
        if not waits:
            return f"SnapshotChunker({shown}, nothing waits)"
        more = f", and {count - len(waits)} more" if count > len(waits) else ""
        return f"SnapshotChunker({shown}, waiting: {', '.join(waits)}{more})"

    def _why(self, one: Open, key: str) -> str:
        """Return why a member waits."""
        count = one.waiting[key]
        if count == BLANK:
            return "empty"
        if Path(one.path, key) in self._stalled:
            return f"grows together with others since step {self._stalled[Path(one.path, key)]}"
        if count != NOT_CALLED:
            return f"complete if it stays the same for {max(self._rules.patience - count, 0)} more"
        value = cast("dict[str, object]", one.value)[key]
        if not is_growable(value) and one is self._spine[-1]:
            return "a number may get more digits"
        return "may be growing" if one is self._spine[-1] else "not its turn"


def _keep(_: Contradiction) -> bool:
    return True


def _waiting_paths(spine: list[Open]) -> set[Path]:
    return {Path(one.path, key) for one in spine for key in one.waiting}


def _shown_key(key: str) -> str:
    shown = ascii(key)
    return shown if len(shown) <= MOST_OF_A_KEY else shown[: MOST_OF_A_KEY - 3] + "..."


# ---- pieces of a dump --------------------------------------------------------------------------------


def _upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """Return a dump of version 1 as one of version 2. In version 1, values waited in the innermost object only."""
    check(data["open"] is None or isinstance(data["open"], list), "invalid path")
    levels: list[object] = [] if data["open"] is None else [[NOT_CALLED, 0, []] for _ in data["open"]]
    if data["open"] is not None:
        levels.append([NOT_CALLED, 0, data["waiting"]])
    check(bool(levels) or data["waiting"] == [], "values wait in a closed document")
    kept = {name: value for name, value in data.items() if name != "waiting"}
    return {**kept, "version": DUMP_VERSION, "empty": "write", "levels": levels, "stalled": [], "emitted": None}


def _dumped_value(value: object) -> str | None:
    return None if value is MISSING else text_of(value)


def _loaded_value(value_text: object, limits: Limits) -> object:
    """Read a dumped value: without the limits on its text, since the value may never have been a text."""
    if value_text is None:
        return MISSING
    value = ANY_READER.read(text(value_text), 0)
    limits.check(ROOT, value, 0, 0)
    return value


def _loaded_path(steps: Any) -> Path:
    check(isinstance(steps, list) and all(type(step) in (str, int) for step in steps), "invalid path")
    return Path.of(*steps)
