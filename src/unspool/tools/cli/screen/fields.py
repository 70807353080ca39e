"""A stream as lines, where there is no terminal: each field when it is complete.

    $.days[0].title = "Arrival"

Those are the leaves, and what is empty; with a pattern, whatever it matches, as a whole.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, final

from ...._events import Kind
from ...viewer.tracks import CLOSINGS, COMPLETIONS, DOCUMENT, STARTS
from ..terminal import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...._events import Event
    from ...._path import Path
    from ....select import Pattern
    from ...viewer.timeline import Timeline

__all__ = ["FieldLines"]


@final
class FieldLines:
    """The lines that each step of a timeline brings."""

    def __init__(self, timeline: Timeline, select: Pattern | None) -> None:
        self._timeline = timeline
        self._select = select
        self._open: dict[str, list[_Open]] = {}
        self._texts: dict[str, str] = {}  # of prose: the line that has not ended

    def take(self) -> Iterator[str]:
        """What the last step of the timeline brought."""
        timeline = self._timeline
        for name, events in timeline.news.items():
            prefix = self._prefix(name)
            for path, value in self._completed(name, events):
                yield f"{prefix}{shown(str(path))} = {shown(value)}"
        changes = timeline.changes(timeline.last)
        if changes:  # who goes on elsewhere has ended the line
            yield from self._left({change.track for change in changes})
        for change in changes:
            if not timeline.tracks[change.track].is_json and self._select is None:
                *lines, rest = (self._texts.get(change.track, "") + change.text).split("\n")
                self._texts[change.track] = rest
                yield from [self._prefix(change.track) + shown(line) for line in lines]

    def close(self) -> Iterator[str]:
        """What is left of the prose."""
        yield from self._left(set())

    def _left(self, growing: set[str]) -> list[str]:
        ended = [(name, text) for name, text in self._texts.items() if name not in growing]
        self._texts = {name: text for name, text in self._texts.items() if name in growing}
        return [
            self._prefix(name) + shown(text) for name, text in ended if text and not self._timeline.tracks[name].is_json
        ]

    def _prefix(self, name: str) -> str:
        return "" if name == DOCUMENT else f"{shown(self._timeline.label(name))}: "

    def _completed(self, name: str, events: list[Event]) -> Iterator[tuple[Path, str]]:
        stack = self._open.setdefault(name, [])
        for event in events:
            kind = event.kind
            if kind in STARTS:
                if not len(event.path):
                    stack.clear()  # another document, or another beginning of this one
                elif stack:
                    stack[-1].is_empty = False
                stack.append(_Open(event.offset))
            elif kind in COMPLETIONS:
                if kind is Kind.COMPLETE_STRING and stack:
                    stack.pop()
                elif stack:
                    stack[-1].is_empty = False
                if self._wants(event.path):
                    yield event.path, _spelled(event)
            elif kind in CLOSINGS and stack:
                ended = stack.pop()
                if self._select is None and ended.is_empty:
                    yield event.path, "{}" if kind is Kind.END_OBJECT else "[]"
                elif self._select is not None and self._wants(event.path):
                    yield event.path, self._source(name, ended.offset, event.offset + 1)

    def _wants(self, path: Path) -> bool:
        return self._select is None or self._select.matches(path)

    def _source(self, name: str, start: int, end: int) -> str:
        """The JSON text of a value, on one line."""
        track = self._timeline.tracks[name]
        base = track.start_at(self._timeline.last)
        return json.dumps(json.loads(track.text(base + start, base + end)), ensure_ascii=False)


@final
class _Open:
    """A value that has begun."""

    __slots__ = ("is_empty", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.is_empty = True


def _spelled(event: Event) -> str:
    return event.raw if event.raw is not None else json.dumps(event.value, ensure_ascii=False)
