"""Path patterns: ``$.days[*].title``, ``$..name``, ``$.rows[0:10]``.

A pattern is the part of JSONPath (RFC 9535) that the path of a node decides alone, so that the answer is
there the moment the node starts and never changes::

    pattern  = "$" { segment }
    segment  = "." ( name | "*" ) | brackets            a child
             | ".." ( name | "*" | brackets )           a child, or a child of any descendant
    brackets = "[" choice { "," choice } "]"            any of these
    choice   = quoted | index | slice | "*"
    slice    = [ index ] ":" [ index ] [ ":" [ index ] ]    start : stop : step, the step not 0
    name     = a letter, "_" or any character from U+0080 on; digits too after the first
    quoted   = a key in "double" or 'single' quotes, with the escapes of JSON
    index    = "0", or digits that do not start with "0"

Blanks may stand before a segment and around whatever is inside brackets. Everything else is refused when
the pattern is compiled: filters need values, negative indices need the end of an array, and a stream has
neither yet.

Matching runs all alternatives at once. State *i* means that the first *i* segments took the steps so far,
and a set of states is the bits of one integer. A step moves the whole set with a few operations on it, so
no pattern is slow: ``$..a..a..a`` costs what ``$.a.a.a`` costs.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Final, final

from ._errors import PatternError
from ._events import Kind
from ._path import Path, name_end, read_index, read_quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ._events import Event
    from ._path import Step

__all__ = ["Pattern", "Selector", "compile", "matches"]

MOST_CHARS: Final = 1000
MOST_SEGMENTS: Final = 64
ERROR: Final = Kind.ERROR

START: Final = 1
"""The set of states at the root: no segment has taken a step."""

BLANKS: Final = (" ", "\t", "\n", "\r")

REFUSED: Final = {
    "?": "filters [?...] need values that a stream does not have yet",
    "@": "relative queries (@) belong to filters, and those need values that a stream does not have yet",
    "-": "negative indices count from an end that a stream does not have yet",
    "(": "functions and scripts (...) need values that a stream does not have yet",
}
"""What stands in other JSONPath and not here, by the character that gives it away."""

EXPECTED: Final = (
    """expected '.', '..' or '[' (a key with other characters in it is written ["..."])""",
    """expected a name or '*' (any other key is written ["..."], an index [0])""",
    """expected a name, '*' or '['""",
)
"""What a segment needs after no, one and two dots."""

Choice = str | int | range | None
"""One alternative of a segment: a key, an index, a slice, or None for the wildcard."""


@final
class Pattern:
    """A compiled pattern; `compile` makes it. Two are equal when they are written alike.

    >>> days = compile("$.days[*]")
    >>> days.matches(("days", 0)), days.matches(("days", 0, "title"))
    (True, False)
    """

    __slots__ = ("accepted", "descending", "indices", "names", "slices", "text", "wildcards")

    def __init__(
        self,
        text: str,
        accepted: int,
        descending: int,
        wildcards: int,
        names: Mapping[str, int],
        indices: Mapping[int, int],
        slices: tuple[tuple[range, int], ...],
    ) -> None:
        self.text = text
        # Bit i of these masks speaks of segment i, which leads from state i to state i + 1.
        self.accepted = accepted  # the one state behind the last segment
        self.descending = descending
        self.wildcards = wildcards
        self.names = names
        self.indices = indices
        self.slices = slices

    def matches(self, path: Path | Iterable[Step]) -> bool:
        """Whether the node at this path is one that the pattern stands for. A str is read with `Path.parse`."""
        states = START
        for step in Path.parse(path) if isinstance(path, str) else path:
            states = self.advance(states, step)
            if not states:
                return False
        return states & self.accepted != 0

    def advance(self, states: int, step: Step) -> int:
        """The states that `states` become with one more step; 0 when nothing below can match."""
        takes = self.wildcards
        if isinstance(step, str):
            takes |= self.names.get(step, 0)
        else:
            takes |= self.indices.get(step, 0)
            for indices, segments in self.slices:
                if step in indices:
                    takes |= segments
        return (states & self.descending) | (states & takes) << 1

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Pattern) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return compile, (self.text,)


@final
class Selector:
    """Tells of each event of a stream whether its node, or a container around it, matches the pattern.

    That depends on the path of the event and on nothing else: any order of events gives the same answers.
    In document order each costs one step, because the states of the ancestors are still at hand.
    """

    __slots__ = ("_line", "_pattern")

    def __init__(self, pattern: str | Pattern) -> None:
        pattern = compile(pattern) if isinstance(pattern, str) else pattern
        # A selected value comes with everything inside it: once accepted, always accepted.
        self._pattern = Pattern(
            pattern.text,
            pattern.accepted,
            pattern.descending | pattern.accepted,
            pattern.wildcards,
            pattern.names,
            pattern.indices,
            pattern.slices,
        )
        # The path of the last event below those of its ancestors, each with its states. Paths share their
        # parents, so a look at identities finds where the next event joins the line.
        self._line: list[tuple[Path, int]] = []

    def selects(self, event: Event) -> bool:
        """Whether the event is selected. Errors always are: they tell why nothing follows."""
        if event.kind is ERROR:
            return True
        line, pattern, path = self._line, self._pattern, event.path
        parent, step, states = path.parent, path.step, START
        while line:
            known, states = line[-1]
            if known is path:
                return states & pattern.accepted != 0
            if known is parent:
                break
            line.pop()
        else:  # the first event, a new document, or a path from somewhere else
            states = self._enter(parent)
        if step is not None:
            states = pattern.advance(states, step)
        line.append((path, states))
        return states & pattern.accepted != 0

    def _enter(self, path: Path | None) -> int:
        """Make a new line from the root to this path."""
        missing: list[Path] = []
        while path is not None:
            missing.append(path)
            path = path.parent
        states = START
        for ancestor in reversed(missing):
            if ancestor.step is not None:
                states = self._pattern.advance(states, ancestor.step)
            self._line.append((ancestor, states))
        return states


def matches(pattern: str | Pattern, path: Path | Iterable[Step]) -> bool:
    """Whether the node at this path is one that the pattern stands for. Raises `PatternError` as `compile` does.

    >>> matches("$..name", ("people", 0, "name"))
    True
    """
    return (compile(pattern) if isinstance(pattern, str) else pattern).matches(path)


def compile(text: str) -> Pattern:  # noqa: A001 - as in re: it is called select.compile
    """Read a pattern, once for each text. Raises `PatternError` that says what is refused, and where."""
    return _compile(text)


@lru_cache(maxsize=256)
def _compile(text: str) -> Pattern:
    if len(text) > MOST_CHARS:
        raise PatternError(f"a pattern has at most {MOST_CHARS} characters", MOST_CHARS)
    if not text.startswith("$"):
        raise _refusal(text, 0, "a pattern starts with '$'")
    descending = wildcards = 0
    names: dict[str, int] = {}
    indices: dict[int, int] = {}
    slices: list[tuple[range, int]] = []
    at, bit = 1, START
    while at < len(text):
        start = _after_blanks(text, at)
        if bit == 1 << MOST_SEGMENTS:
            raise PatternError(f"a pattern has at most {MOST_SEGMENTS} segments", start)
        descends, choices, at = _segment(text, start)
        if descends:
            descending |= bit
        for choice in choices:
            if choice is None:
                wildcards |= bit
            elif isinstance(choice, str):
                names[choice] = names.get(choice, 0) | bit
            elif isinstance(choice, int):
                indices[choice] = indices.get(choice, 0) | bit
            else:
                slices.append((choice, bit))
        bit <<= 1
    return Pattern(text, bit, descending, wildcards, names, indices, tuple(slices))


def _segment(text: str, at: int) -> tuple[bool, list[Choice], int]:
    """Whether the segment at `at` descends, what it takes, and where it ends."""
    dots = 2 if text.startswith("..", at) else 1 if text.startswith(".", at) else 0
    at += dots
    if dots != 1 and text.startswith("[", at):
        choices, at = _brackets(text, at)
        return dots == 2, choices, at
    if dots and text.startswith("*", at):
        return dots == 2, [None], at + 1
    end = name_end(text, at) if dots else at
    if end > at:
        return dots == 2, [text[at:end]], end
    if text.startswith("-", at):  # no index here, but a name that needs quotes
        raise PatternError(EXPECTED[dots], at)
    raise _refusal(text, at, EXPECTED[dots])


def _brackets(text: str, at: int) -> tuple[list[Choice], int]:
    choices: list[Choice] = []
    while not choices or text.startswith(",", at):
        choice, at = _choice(text, _after_blanks(text, at + 1))
        choices.append(choice)
        at = _after_blanks(text, at)
    if not text.startswith("]", at):
        raise _refusal(text, at, "expected ',' or ']'")
    return choices, at + 1


def _choice(text: str, at: int) -> tuple[Choice, int]:
    start = at
    if text.startswith("*", at):
        return None, at + 1
    if text.startswith(('"', "'"), at):
        return read_quoted(text, at)
    numbers: list[int | None] = []
    while True:
        number = None
        if "0" <= text[at : at + 1] <= "9":
            number, at = read_index(text, at)
        numbers.append(number)
        colon = _after_blanks(text, at)
        if len(numbers) == 3 or not text.startswith(":", colon):
            break
        at = _after_blanks(text, colon + 1)
    if len(numbers) > 1:
        first, stop, step = [*numbers, None][:3]
        if step == 0:
            raise PatternError("a slice of step 0 selects nothing", start)
        return range(first or 0, sys.maxsize if stop is None else stop, step or 1), at
    if number is None:
        raise _refusal(text, at, "expected '*', an index, a slice or a key in quotes")
    return number, at


def _after_blanks(text: str, at: int) -> int:
    while text.startswith(BLANKS, at):
        at += 1
    return at


def _refusal(text: str, at: int, expected: str) -> PatternError:
    """The error for what stands at `at`: the name of a known feature, or else what was expected."""
    end = name_end(text, at)
    if end > at and text.startswith("(", end):
        return PatternError(REFUSED["("], at)
    return PatternError(REFUSED.get(text[at : at + 1], expected), at)
