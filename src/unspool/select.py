"""Path patterns: ``$.days[*].title``, ``$..name``, ``$.rows[0:10]``.

A pattern is the part of JSONPath (RFC 9535) that depends on the path of a node alone. So the answer is known as soon as
the node starts, and never changes::

    pattern  = "$" { segment }
    segment  = "." ( name | "*" ) | brackets            a child
             | ".." ( name | "*" | brackets )           a child, or a child of any descendant
    brackets = "[" choice { "," choice } "]"            any of these
    choice   = quoted | index | slice | "*"
    slice    = [ index ] ":" [ index ] [ ":" [ index ] ]    start : stop : step, the step not 0
    name     = a letter, "_" or any character from U+0080 on; digits too after the first
    quoted   = a key in "double" or 'single' quotes, with the escapes of JSON
    index    = "0", or digits that do not start with "0"

Blanks are allowed before a segment and around everything inside brackets. `compile` rejects everything else: filters
need values, negative indices need the end of an array, and a stream does not have them yet.

Matching follows all alternatives at once. State *i* means that the first *i* segments have matched the steps so far.
The bits of one integer hold a set of states, and a few operations on it move the whole set by one step. So no pattern
is slow: ``$..a..a..a`` costs as much as ``$.a.a.a``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, final

from ._errors import PatternError
from ._events import Kind
from ._native import expect
from ._path import MAX_INDEX, Path, name_end, read_index, read_quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ._events import Event
    from ._path import Step

__all__ = ["Pattern", "Selector", "compile", "matches"]

MAX_CHARS: Final = 1000
MAX_SEGMENTS: Final = 64
ERROR: Final = Kind.ERROR

START: Final = 1
"""The set of states at the root: no segment has matched yet."""

BLANKS: Final = (" ", "\t", "\n", "\r")

REJECTED: Final = {
    "?": "filters [?...] need values that a stream does not have yet",
    "@": "relative queries (@) are part of filters, which need values that a stream does not have yet",
    "-": "negative indices need the end of the array, which a stream does not have yet",
    "(": "functions and scripts (...) need values that a stream does not have yet",
}
"""Features of JSONPath that patterns lack, by the character that reveals them."""

EXPECTED: Final = (
    """expected '.', '..' or '[' (write keys with other characters as ["..."])""",
    """expected a name or '*' (write other keys as ["..."] and indices as [0])""",
    """expected a name, '*' or '['""",
)
"""The expected text after no dot, one dot and two dots."""

Choice = str | int | range | None
"""One alternative of a segment: a key, an index, a slice, or None for the wildcard."""


@final
class Pattern:
    """A compiled pattern, made by `compile`. Two patterns are equal if their texts are equal.

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
        # Bit i of these masks belongs to segment i, which leads from state i to state i + 1.
        self.accepted = accepted  # the state after the last segment
        self.descending = descending
        self.wildcards = wildcards
        self.names = names
        self.indices = indices
        self.slices = slices

    def matches(self, path: Path | Iterable[Step]) -> bool:
        """Return whether the pattern matches the node at this path. A str is parsed with `Path.parse`."""
        states = START
        for step in Path.parse(path) if isinstance(path, str) else path:
            states = self.advance(states, step)
            if not states:
                return False
        return states & self.accepted != 0

    def advance(self, states: int, step: Step) -> int:
        """Return the states after one more step; 0 if nothing below can match."""
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
    """A filter for events: it selects those whose node, or a container around it, matches the pattern.

    The answer depends on the path of the event alone, so any order of events gives the same answers. In document order
    each event costs one step, because the selector keeps the states of the ancestors.
    """

    __slots__ = ("_line", "_pattern")

    def __init__(self, pattern: str | Pattern) -> None:
        expect(pattern, (str, Pattern), "union[str, unspool.select.Pattern]")
        pattern = compile(pattern) if isinstance(pattern, str) else pattern
        # A selected value includes everything inside it, so an accepted state stays accepted.
        self._pattern = Pattern(
            pattern.text,
            pattern.accepted,
            pattern.descending | pattern.accepted,
            pattern.wildcards,
            pattern.names,
            pattern.indices,
            pattern.slices,
        )
        # The paths from the root to the last event, each with its states. Paths share their parents, so comparing
        # identities finds where the next event joins the line.
        self._line: list[tuple[Path, int]] = []

    def selects(self, event: Event) -> bool:
        """Return whether the event is selected. Errors always are, because they end the stream."""
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
        else:  # the first event, a new document, or a path of another stream
            states = self._enter(parent)
        if step is not None:
            states = pattern.advance(states, step)
        line.append((path, states))
        return states & pattern.accepted != 0

    def _enter(self, path: Path | None) -> int:
        """Build a new line from the root to this path, and return its states."""
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
    """Return whether the pattern matches the node at this path. Raise `PatternError` like `compile`.

    >>> matches("$..name", ("people", 0, "name"))
    True
    """
    return (compile(pattern) if isinstance(pattern, str) else pattern).matches(path)


def compile(text: str) -> Pattern:  # noqa: A001 - as in re: it is called select.compile
    """Compile a pattern; the results are cached. Raise `PatternError` with the reason and the offset."""
    expect(text, str, "str")
    return _compile(text)


@lru_cache(maxsize=256)
def _compile(text: str) -> Pattern:
    if len(text) > MAX_CHARS:
        raise PatternError(f"a pattern can have at most {MAX_CHARS} characters", MAX_CHARS)
    if not text.startswith("$"):
        raise _rejection(text, 0, "a pattern must start with '$'")
    descending = wildcards = 0
    names: dict[str, int] = {}
    indices: dict[int, int] = {}
    slices: list[tuple[range, int]] = []
    at, bit = 1, START
    while at < len(text):
        start = _after_blanks(text, at)
        if bit == 1 << MAX_SEGMENTS:
            raise PatternError(f"a pattern can have at most {MAX_SEGMENTS} segments", start)
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
    """Return whether the segment at `at` descends, its choices, and where it ends."""
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
    if text.startswith("-", at):  # a name that needs quotes, not an index
        raise PatternError(EXPECTED[dots], at)
    raise _rejection(text, at, EXPECTED[dots])


def _brackets(text: str, at: int) -> tuple[list[Choice], int]:
    choices: list[Choice] = []
    while not choices or text.startswith(",", at):
        choice, at = _choice(text, _after_blanks(text, at + 1))
        choices.append(choice)
        at = _after_blanks(text, at)
    if not text.startswith("]", at):
        raise _rejection(text, at, "expected ',' or ']'")
    return choices, at + 1


def _choice(text: str, at: int) -> tuple[Choice, int]:
    start = at
    if text.startswith("*", at):
        return None, at + 1
    if text.startswith(('"', "'"), at):
        key, end = read_quoted(text, at)
        if any(0xD800 <= ord(character) <= 0xDFFF for character in key):
            raise PatternError("half a surrogate pair in a key", at)  # RFC 9535, section 2.1: a pattern is Unicode
        return key, end
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
            raise PatternError("the step of a slice must not be 0", start)
        return range(first or 0, MAX_INDEX + 1 if stop is None else stop, step or 1), at
    if number is None:
        raise _rejection(text, at, "expected '*', an index, a slice or a key in quotes")
    return number, at


def _after_blanks(text: str, at: int) -> int:
    while text.startswith(BLANKS, at):
        at += 1
    return at


def _rejection(text: str, at: int, expected: str) -> PatternError:
    """Return the error for the text at `at`: it names a known feature of JSONPath, or what was expected."""
    end = name_end(text, at)
    if end > at and text.startswith("(", end):
        return PatternError(REJECTED["("], at)
    return PatternError(REJECTED.get(text[at : at + 1], expected), at)
