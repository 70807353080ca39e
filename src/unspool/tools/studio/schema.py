"""What a text is worth for a JSON Schema, at any step: resolved from what the last look left behind."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, final

from ..._errors import OptionsError
from ...typed._iterate import partial
from ...typed._outcome import Missing
from .document import clipped, shown_path, spelled_out

if TYPE_CHECKING:
    from ..._state import ParserState
    from ...typed._iterate import Resolver
    from ...typed._resolve import Cache
    from ...typed._shape import Problem

__all__ = ["Typing"]

MOST_PROBLEMS: Final = 100
MOST_MISSING: Final = 100
LONGEST_VALUE: Final = 20_000
LONGEST_PROBLEM: Final = 1_000
MOST_CACHES: Final = 32


@final
class Typing:
    """A schema, or none. Raises `OptionsError` for one that cannot be used."""

    def __init__(self, schema: dict[str, Any] | bool | None) -> None:
        self._resolver: Resolver[Any] | None = None
        self._caches: OrderedDict[tuple[str, int], Cache] = OrderedDict()  # by track and step
        if schema is not None:
            try:
                self._resolver = partial(schema)
            except ImportError:
                raise OptionsError("this schema needs jsonschema-rs: pip install 'unspool[jsonschema]'") from None

    @property
    def is_on(self) -> bool:
        """Whether there is a schema."""
        return self._resolver is not None

    def seen(self, track: str, step: int, state: ParserState) -> dict[str, Any] | None:
        """What the state of a track at a step is worth; None without a schema."""
        if self._resolver is None:
            return None
        # What was resolved for an earlier step is good for a later one, and not the other way round.
        nearest = max([at for name, at in self._caches if name == track and at <= step], default=-1)
        resolution, cache = self._resolver.resolve(state, self._caches.get((track, nearest)))
        self._caches[track, step] = cache
        self._caches.move_to_end((track, step))
        if len(self._caches) > MOST_CACHES:
            self._caches.popitem(last=False)
        problems = resolution.problems[:MOST_PROBLEMS]
        return {
            "status": type(resolution).__name__.lower(),
            "value": "" if isinstance(resolution, Missing) else spelled_out(resolution.value, LONGEST_VALUE),
            "problems": [{"path": shown_path(one.path), "text": _problem(one)} for one in problems],
            "missing": [shown_path(path) for path in resolution.missing[:MOST_MISSING]],
        }


def _problem(problem: Problem) -> str:
    return clipped(f"{problem.code}: expected {problem.expected}", LONGEST_PROBLEM)
