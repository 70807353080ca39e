"""One track in a terminal: the rows of its tree, or the lines of its text; the end of it where it does not fit.

What is open and what has just changed is told by a sign, by weight, and by colour:

    + new    ~ has grown    ! does not fit the schema    x is where the text breaks
    [ 3 …    an array that is open                [ 3 ]    one that is complete
    "Arri▌   a string that is open
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rich.text import Text

from ...._path import Path
from ...viewer.escaping import cells, clip, visible
from ...viewer.rows import label_of, picked, window
from ..terminal import crop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...._tree.nodes import Node
    from ...viewer.rows import TreeRow

__all__ = ["Marks", "Signs", "prose_lines", "row_count", "tree_lines", "wrapped"]

BRACKETS: Final = {"object": ("{", "}"), "array": ("[", "]")}
SIGNS: Final = {"new": "+", "grown": "~"}
STYLES: Final = {"new": "bold green", "grown": "bold yellow"}
GUTTER: Final = 2
NARROWEST: Final = 8  # columns for a value
LONGEST: Final = 100_000  # columns of a value that goes on in the next line


class Signs(NamedTuple):
    """The characters that the terminal may not have."""

    cursor: str
    dots: str
    is_ascii: bool

    @classmethod
    def chosen(cls, ascii_only: bool) -> Signs:
        """Those that it has."""
        return cls("_", "...", True) if ascii_only else cls("▌", "…", False)


class Marks(NamedTuple):
    """What is to be marked besides what has changed."""

    invalid: frozenset[Path] = frozenset()
    broken: Path | None = None


def row_count(root: Node | None) -> int:
    """How many rows the tree has."""
    return window(root, None, 0, 0).total


def tree_lines(
    root: Node | None,
    before: Node | None,
    start: int,
    count: int,
    width: int,
    signs: Signs,
    marks: Marks,
    ids: Sequence[int] | None = None,
    *,
    wraps: bool = False,
) -> list[Text]:
    """Some rows of a tree, compared with the one `before`. With `ids`, the rows of these nodes, with their paths.

    What is too long for its line is clipped, or goes on in the next one.
    """
    if ids is None:
        rows = [
            (row, str(row.path) if row.path.step is None else "") for row in window(root, before, start, count).rows
        ]
    else:
        rows = [(row._replace(depth=0), str(row.path)) for row in picked(root, before, ids[start : start + count])]
    return [line for row, name in rows for line in _lines(row, name, width, signs, marks, wraps)]


def _lines(row: TreeRow, name: str, width: int, signs: Signs, marks: Marks, wraps: bool) -> list[Text]:
    is_invalid, is_broken = row.path in marks.invalid, row.path == marks.broken
    sign = "x" if is_broken else "!" if is_invalid else SIGNS.get(row.mark, " ")
    style = "bold red" if is_broken or is_invalid else STYLES.get(row.mark, "")
    line = Text(no_wrap=True)
    line.append(f"{sign} ", style=style)
    indent = min(row.depth * 2, max((width - GUTTER) // 3, 0))
    line.append(" " * indent)
    label = visible(name or label_of(row.path), ascii_only=signs.is_ascii)
    room = max(width - GUTTER - indent, 1)
    label = clip(label, max(room - NARROWEST - 1, room // 2), keep_end=bool(name), ascii_only=signs.is_ascii)
    line.append(label, style="bold cyan" if row.is_open else "cyan")
    line.append(" ")
    room -= cells(label) + 1
    is_wrapped = wraps and row.kind == "string" and room >= NARROWEST
    first, *others = wrapped(_value(row, LONGEST, signs), room) if is_wrapped else [_value(row, room, signs)]
    style = "bold" if row.is_open or row.mark else ""
    line.append(first, style=style)
    crop(line, width)
    return [line, *[Text(" " * (width - room) + other, style=style, no_wrap=True) for other in others]]


def _value(row: TreeRow, room: int, signs: Signs) -> str:
    brackets = BRACKETS.get(row.kind)
    if brackets is not None:
        start, end = brackets
        if row.is_open:
            return f"{start} {row.size:,} {signs.dots}" if row.size else f"{start} {signs.dots}"
        return f"{start} {row.size:,} {end}" if row.size else start + end
    text = visible(row.text, ascii_only=signs.is_ascii)
    if row.is_open:
        return clip(text, room - 1, keep_end=True, ascii_only=signs.is_ascii) + signs.cursor
    return clip(text, room, keep_end=True, ascii_only=signs.is_ascii)


def prose_lines(text: str, width: int, signs: Signs, *, is_open: bool) -> list[Text]:
    """Text as it is, its line ends kept, everything else that cannot be seen spelled out."""
    room = max(width - GUTTER, 1)
    lines: list[str] = []
    for line in text.split("\n"):
        lines += wrapped(visible(line, ascii_only=signs.is_ascii), room)
    if is_open:
        lines[-1] = clip(lines[-1], max(room - 1, 1), keep_end=True, ascii_only=signs.is_ascii) + signs.cursor
    return [Text(" " * min(GUTTER, width - 1) + line, no_wrap=True, style="bold" if is_open else "") for line in lines]


def wrapped(line: str, room: int) -> list[str]:
    """A line in pieces that fit, cut between words where there are any."""
    pieces: list[str] = []
    while cells(line) > room:
        end = taken = 0
        while end < len(line) and taken + cells(line[end]) <= room:
            taken += cells(line[end])
            end += 1
        end = max(end, 1)
        space = line.rfind(" ", 1, end + 1)
        end = space if space > 0 else end
        pieces.append(line[:end])
        line = line[end:].removeprefix(" ")
    return [*pieces, line]
