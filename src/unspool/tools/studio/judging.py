"""The type of a session: the typed value at every step, and the step at which each violation was first known.

A type is a JSON Schema, or a Python type that the command line names.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final

from ... import OptionsError
from ...typed import Missing, partial
from .document import clipped, shown_path, spelled_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ... import ParserState, Path
    from ...typed import Cache, Problem, Resolver
    from ..viewer.timeline import Timeline
    from ..viewer.tracks import Track

__all__ = ["Judge", "Violation", "problem_text"]

MAX_PROBLEMS: Final = 100
MAX_MISSING: Final = 100
MAX_CACHES: Final = 32
MAX_JUDGED: Final = 4_000  # steps of one track in one go; between them, a search finds the step
MAX_FACT: Final = 1_000
MAX_TYPED: Final = 20_000
MAX_DEPTH: Final = 100
BRACKETS: Final[dict[type, tuple[str, str]]] = {list: ("[", "]"), tuple: ("(", ")")}


class Violation(NamedTuple):
    """A problem of a typed value, and the step at which it was first known."""

    step: int
    track: str
    path: Path
    text: str


@final
class Judge:
    """A type, or none, and what it says of the texts of a timeline. Raises `OptionsError` for an unusable type."""

    def __init__(self, wanted: object = None, name: str | None = None) -> None:
        self.name = name
        """The name of the type for users; None for a JSON Schema from the page."""
        self.violations: list[Violation] = []
        """All violations so far, in the order of their steps."""
        self._resolver: Resolver[Any] | None = None
        self._is_schema = isinstance(wanted, (dict, bool))
        self._caches: OrderedDict[tuple[str, int], Cache] = OrderedDict()  # by track and step
        self._judged: dict[str, _Progress] = {}
        if wanted is not None:
            try:
                self._resolver = partial(cast("Any", wanted))
            except ImportError:
                raise OptionsError("this schema needs jsonschema-rs: pip install 'unspool[jsonschema]'") from None

    @property
    def is_on(self) -> bool:
        """Whether there is a type."""
        return self._resolver is not None

    def seen(self, track: str, step: int, state: ParserState) -> dict[str, Any] | None:
        """Return the typed value of a track at a step; None without a type."""
        if self._resolver is None:
            return None
        # The cache of an earlier step helps a later one, but not the other way round.
        nearest = max([at for name, at in self._caches if name == track and at <= step], default=-1)
        resolution, cache = self._resolver.resolve(state, self._caches.get((track, nearest)))
        self._caches[track, step] = cache
        self._caches.move_to_end((track, step))
        if len(self._caches) > MAX_CACHES:
            self._caches.popitem(last=False)
        problems = resolution.problems[:MAX_PROBLEMS]
        return {
            "status": type(resolution).__name__.lower(),
            "value": "" if isinstance(resolution, Missing) else self._spelled(resolution.value),
            "problems": [{"path": shown_path(one.path), "text": problem_text(one)} for one in problems],
            "missing": [shown_path(path) for path in resolution.missing[:MAX_MISSING]],
        }

    def _spelled(self, value: object) -> str:
        return spelled_out(value, MAX_TYPED) if self._is_schema else _in_python(value, MAX_TYPED)

    def advance(self, timeline: Timeline) -> None:
        """Judge the steps that came since the last call."""
        if self._resolver is None:
            return
        found: list[Violation] = []
        for track in timeline.tracks.values():
            if track.is_json:
                found += self._judge(track)
        self.violations = sorted([*self.violations, *found], key=lambda one: one.step)[:MAX_PROBLEMS]

    def _judge(self, track: Track) -> Iterator[Violation]:
        resolver = self._resolver
        assert resolver is not None
        progress = self._judged.setdefault(track.name, _Progress())
        steps = track.steps_after(progress.step)
        stride = max(1, -(-len(steps) // MAX_JUDGED))
        for index in range(stride - 1, len(steps) + stride - 1, stride):
            last = min(index, len(steps) - 1)
            resolution, cache = resolver.resolve(track.state_at(steps[last]), progress.cache)
            for problem in resolution.problems[:MAX_PROBLEMS]:
                key = (str(problem.path), problem.code)
                if key not in progress.known:
                    progress.known.add(key)
                    low, high = max(index - stride + 1, 0), last
                    while low < high:  # the first step that has it; once there, a problem stays
                        middle = (low + high) // 2
                        earlier, _ = resolver.resolve(track.state_at(steps[middle]), progress.cache)
                        if any((str(one.path), one.code) == key for one in earlier.problems):
                            high = middle
                        else:
                            low = middle + 1
                    yield Violation(steps[high], track.name, problem.path, problem_text(problem))
            progress.step, progress.cache = steps[last], cache


@final
class _Progress:
    """How far a track is judged, and the problems that it is known to have."""

    def __init__(self) -> None:
        self.step = 0
        self.cache: Cache | None = None
        self.known: set[tuple[str, str]] = set()


def problem_text(problem: Problem) -> str:
    """Return a problem in words, without its path."""
    return clipped(f"{problem.code}: expected {problem.expected}", MAX_FACT)


def _in_python(value: object, most: int) -> str:
    """Return a typed value as Python would spell it, indented; spelling stops after `most` characters."""
    pieces: list[str] = []
    size = 0
    for piece in _pieces(value, 0):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            break
    return clipped("".join(pieces), most)


def _pieces(value: object, depth: int) -> Iterator[str]:
    """Yield the spelling of a value piece by piece. The text of a field that has not begun is ``None``."""
    fields = _fields(value)
    if fields is not None:
        yield from _block(f"{type(value).__name__}(", ")", fields, "=", depth)
    elif isinstance(value, dict):
        members = cast("dict[object, object]", value).items()
        yield from _block("{", "}", [(repr(key), item) for key, item in members], ": ", depth)
    elif isinstance(value, (list, tuple, set, frozenset)):
        items = cast("list[object]", value)
        begin, end = BRACKETS.get(type(items), ("{", "}"))
        yield from _block(begin, end, [("", item) for item in items], "", depth)
    else:
        yield repr(value)


def _block(begin: str, end: str, items: list[tuple[str, object]], sign: str, depth: int) -> Iterator[str]:
    if not items or depth >= MAX_DEPTH:
        yield begin + ("..." if items else "") + end
        return
    yield begin + "\n"
    for name, item in items:
        yield "  " * (depth + 1) + name + sign
        yield from _pieces(item, depth + 1)
        yield ",\n"
    yield "  " * depth + end


def _fields(value: object) -> list[tuple[str, object]] | None:
    """Return the fields of an instance of a class with named fields; None for other values."""
    kind: type[object] = type(value)
    holder: Any = value
    names: Any = getattr(kind, "__struct_fields__", None)  # msgspec
    if names is None:
        names = getattr(kind, "model_fields", None) or getattr(kind, "__dataclass_fields__", None)
    if names is None and isinstance(value, tuple):
        names = getattr(kind, "_fields", None)
    return None if names is None else [(str(name), getattr(holder, name, None)) for name in names]
