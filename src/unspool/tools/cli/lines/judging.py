"""Does it fit the schema? Asked of a text while it comes, or of a timeline as it stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, final

from ...._errors import Position
from ...._state import create_state, finalize, parse_chunk
from ....typed._outcome import Invalid, InvalidError
from ...viewer.tracks import CONTENT, DOCUMENT

if TYPE_CHECKING:
    from ...._errors import JSONSyntaxError
    from ...._options import Options
    from ...._path import Path
    from ...._state import ParserState
    from ....typed._partials import Resolver
    from ....typed._resolve import Cache
    from ....typed._shape import Problem
    from ...viewer.timeline import Timeline
    from ...viewer.tracks import Track

__all__ = ["Judge", "Judged"]


@final
class Judge:
    """Fragments in; raises `InvalidError` as soon as no continuation can be valid. Broken text is for others to tell.

    Where there are several documents, each is judged on its own.
    """

    def __init__(self, resolver: Resolver[Any], options: Options, *, extract: bool = False) -> None:
        self._resolver = resolver
        self._options = options
        self._state = create_state(options, extract=extract)
        self._cache: Cache | None = None
        self.error: JSONSyntaxError | None = None
        """What is wrong with the text as such, whether it was refused or not."""

    def feed(self, fragment: str | bytes) -> None:
        """Read one more fragment."""
        self._go_on(parse_chunk(self._state, fragment))

    def close(self) -> None:
        """The text has ended."""
        self._go_on(finalize(self._state))

    def place_in(self, fragment: str | bytes) -> Position:
        """Where in the fragment that was refused is the first character that nothing can repair."""
        good, bad = 0, len(fragment)
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._is_valid(parse_chunk(self._state, fragment[:middle])):
                good = middle
            else:
                bad = middle
        state = parse_chunk(self._state, fragment[:good])
        return Position(state.index, state.line, state.column)

    def _go_on(self, state: ParserState) -> None:
        """Take this state, unless something is wrong in it."""
        self.error = state.error
        cache = self._judged(state)
        self._state, self._cache = state, None if state.is_complete and self._options.multiple else cache

    def _is_valid(self, state: ParserState) -> bool:
        try:
            self._judged(state)
        except InvalidError:
            return False
        return True

    def _judged(self, state: ParserState) -> Cache:
        cache = self._cache
        if self._options.multiple:
            # The tree of a state is that of the last document: those that ended before it are judged by their values.
            for value in state.finished[:-1] if state.is_complete else state.finished:
                self._raise(parse_chunk(create_state(self._options), json.dumps(value) + "\n"), None)
                cache = None
        return self._raise(state, cache)

    def _raise(self, state: ParserState, cache: Cache | None) -> Cache:
        resolution, cache = self._resolver.resolve(state, cache)
        if isinstance(resolution, Invalid):
            raise InvalidError(resolution)
        return cache


@final
class Judged:
    """What does not fit the schema: in the document or the content, or, where neither is JSON, in the calls."""

    def __init__(self, timeline: Timeline, resolver: Resolver[Any] | None) -> None:
        self._timeline = timeline
        self._resolver = resolver
        self._caches: dict[str, tuple[int, Cache]] = {}

    def problems(self, name: str | None = None) -> list[Problem]:
        """All of them, or those of one track."""
        if self._resolver is None:
            return []
        tracks = [track for track in self._timeline.tracks.values() if track.is_json]
        main = [track for track in tracks if track.name in (DOCUMENT, CONTENT)] or tracks
        return [
            problem
            for track in main
            if name is None or track.name == name
            for problem in self._of(track, self._resolver)
        ]

    def paths(self, track: Track) -> frozenset[Path]:
        """Where something is wrong in this track."""
        return frozenset([problem.path for problem in self.problems(track.name)])

    def _of(self, track: Track, resolver: Resolver[Any]) -> tuple[Problem, ...]:
        root = track.state.root
        first = -1 if root is None else root.id
        known = self._caches.get(track.name)
        cache = known[1] if known is not None and known[0] == first else None  # another document has another one
        resolution, cache = resolver.resolve(track.state, cache)
        self._caches[track.name] = (first, cache)
        return resolution.problems
