"""Where a chunker stands, and the same as plain JSON data: never pickle, never eval.

The last snapshot is stored as text, so that numbers keep their spelling. Which values are open follows from the path
of the innermost one; what the writer has to know follows from both.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# What is loaded may be anything; each piece of it is checked where it is taken.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, final

from .._errors import Reason, SnapshotError, StateError, UnspoolError
from .._grammar.writer import Writer
from .._missing import MISSING
from .._options import UNLIMITED_OPTIONS, Options
from .._path import ROOT, Path
from .policy import Open
from .reading import SnapshotReader
from .values import append_whole, is_growable, shown

if TYPE_CHECKING:
    from .._events import Event
    from .values import Limits

__all__ = ["ChunkerState", "dump", "load"]

VERSION: Final = 1
FIELDS: Final = {
    *("version", "options", "on_conflict", "patience", "step", "is_complete"),
    *("snapshot", "open", "waiting", "conflicts", "disputes"),
}


AS_DUMPED: Final = SnapshotReader(UNLIMITED_OPTIONS.replace(floats="decimal"))


@final
class ChunkerState:
    """What is written and what waits. `disputes`: what the last snapshot had where something else is kept, by path."""

    __slots__ = ("conflicts", "disputes", "is_complete", "root", "spine", "step")

    def __init__(self) -> None:
        self.root: object = MISSING
        self.spine: list[Open] = []
        self.step = 0
        self.is_complete = False
        self.conflicts: list[SnapshotError] = []
        self.disputes: dict[Path, object] = {}


def dump(state: ChunkerState, options: Options, on_conflict: str, patience: int) -> dict[str, object]:
    """What there is to know, as plain JSON data."""
    innermost = state.spine[-1] if state.spine else None
    return {
        "version": VERSION,
        "options": options.as_dict(),
        "on_conflict": on_conflict,
        "patience": patience,
        "step": state.step,
        "is_complete": state.is_complete,
        "snapshot": _text(state.root),
        "open": None if innermost is None else list(innermost.path.steps),
        "waiting": [] if innermost is None else [[key, count] for key, count in innermost.waiting.items()],
        "conflicts": [[list(one.path.steps), one.reason.value, one.step] for one in state.conflicts],
        "disputes": [[list(path.steps), _text(value)] for path, value in state.disputes.items()],
    }


def _text(value: object) -> str | None:
    if value is MISSING:
        return None
    events: list[Event] = []
    append_whole(events, ROOT, value)
    return Writer().write(events)


def load(data: object) -> tuple[ChunkerState, Writer, dict[str, Any]]:
    """What `dump` wrote: the state, a writer that goes on, and how the chunker was made."""
    try:
        return _load(data)
    except StateError:
        raise
    except (UnspoolError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise StateError(f"this is no dump of a chunker: {type(error).__name__}") from None


def _load(data: Any) -> tuple[ChunkerState, Writer, dict[str, Any]]:
    _check(isinstance(data, dict) and data.keys() == FIELDS, "its fields")
    _check(type(data["version"]) is int and data["version"] == VERSION, "the version")
    _check(isinstance(data["options"], dict), "the options")
    made_with = {name: data[name] for name in ("on_conflict", "patience")}
    made_with["options"] = Options(**data["options"])
    limits = SnapshotReader(made_with["options"]).limits

    state = ChunkerState()
    state.step = _natural(data["step"])
    _check(type(data["is_complete"]) is bool, "is_complete")
    state.is_complete = data["is_complete"]
    state.root = _value(data["snapshot"], limits)
    _check((state.root is MISSING) == (state.step == 0), "the step")
    _restore_spine(state, data["open"], data["waiting"])
    for steps, reason, step in data["conflicts"]:
        _check(0 < _natural(step) <= state.step, "the step of a conflict")
        state.conflicts.append(SnapshotError(_path(steps), Reason(reason), step))
    for steps, text in data["disputes"]:
        state.disputes[_path(steps)] = _value(text, limits)
    _check(len(state.disputes) == len(data["disputes"]), "a path that is disputed twice")
    return state, _writer(state), made_with


def _restore_spine(state: ChunkerState, steps: Any, waiting: Any) -> None:
    is_open = is_growable(state.root) and not state.is_complete
    _check(is_open == (steps is not None), "what is open")
    if steps is None:
        _check(waiting == [], "what waits")
        return
    path, value = ROOT, state.root
    state.spine.append(Open(path, value))
    for step in _path(steps):
        if isinstance(value, dict):
            value = value[step]
        else:
            _check(isinstance(value, list) and step == len(value) - 1, "an item that is open")
            value = cast("list[object]", value)[cast("int", step)]
        _check(is_growable(value), "what is open")
        path = Path(path, step)
        state.spine.append(Open(path, value))
    if isinstance(value, list):
        _check(not value or not is_growable(value[-1]), "the last item, which is not open,")
    if waiting:
        counts = {_key(key): _natural(count + 1) - 1 for key, count in waiting}
        _check(isinstance(value, dict) and all(is_growable(value[key]) for key in counts), "what waits")
        _check(len(counts) == len(waiting) > 1, "the number of those that wait")
        state.spine[-1] = Open(path, value, counts)


def _writer(state: ChunkerState) -> Writer:
    containers = [one.value for one in state.spine if not isinstance(one.value, str)]
    levels = [isinstance(value, dict) for value in containers]
    has_items = state.root is not MISSING
    if not state.spine:
        return Writer.resumed(levels, has_items, -1)
    innermost = state.spine[-1]
    if isinstance(innermost.value, str):
        return Writer.resumed(levels, True, len(shown(innermost.value)))
    items = len(cast("dict[str, object] | list[object]", innermost.value)) - len(innermost.waiting)
    return Writer.resumed(levels, items > 0, -1)


def _value(text: object, limits: Limits) -> object:
    """What was taken once is taken again, whether it came as text or not."""
    if text is None:
        return MISSING
    value = AS_DUMPED.read(_key(text), 0)
    limits.check(ROOT, value, 0, 0)
    return value


def _path(steps: Any) -> Path:
    _check(isinstance(steps, list) and all(type(step) in (str, int) for step in steps), "a path")
    return Path.of(*steps)


def _key(text: object) -> str:
    _check(type(text) is str, "a text")
    return cast("str", text)


def _natural(number: object) -> int:
    _check(type(number) is int and number >= 0, "a number")
    return cast("int", number)


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise StateError(f"this is no dump of a chunker: {what} cannot be right")
