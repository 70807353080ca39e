"""`Path`: the place of a value in its document, such as ``$.days[0].title``.

A path is a linked list from the leaf to the root. The path of a child is one small object that shares the whole path of
its parent. So every event can carry a path, and old paths stay valid at no cost.
"""

# Compiled with mypyc.
from __future__ import annotations

from ._errors import PatternError
from ._native import TYPE_CHECKING, expect, final, mypyc_attr
from ._quoting import printable, quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import ClassVar, Final

__all__ = ["ROOT", "Path", "Step"]

Step = str | int
"""A key of an object or an index of an array."""

MAX_INDEX: Final = 2**53 - 1  # RFC 9535, section 2.1


@final
@mypyc_attr(free_list_len=1)
class Path:
    """An immutable path. It is equal to the tuple of its steps, and has the same hash.

    >>> path = Path.of("days", 0, "title")
    >>> str(path), path.pointer, path == ("days", 0, "title")
    ('$.days[0].title', '/days/0/title', True)
    """

    __slots__ = ("_parent", "_step", "_steps")
    __match_args__: ClassVar[tuple[str, ...]] = ("parent", "step")

    def __init__(self, parent: Path | None, step: Step | None) -> None:
        """Create the child of `parent` at `step`. `Path.of` and `path / step` are easier to read."""
        self._parent = parent
        self._step = step
        self._steps: tuple[Step, ...] | None = None

    @property
    def parent(self) -> Path | None:
        """The path of the container; None for the root."""
        return self._parent

    @property
    def step(self) -> Step | None:
        """The last step; None for the root."""
        return self._step

    @staticmethod
    def of(*steps: Step) -> Path:
        """Return the path with these steps."""
        path = ROOT
        for step in steps:
            expect(step, (str, int), "union[str, int]")
            path = Path(path, step)
        return path

    @staticmethod
    def parse(text: str) -> Path:
        """Parse a path as `str(path)` writes it; the ``$`` may be left out. Raise `PatternError` for anything else.

        >>> Path.parse("users[1].name") == Path.parse("$.users[1].name")
        True
        """
        expect(text, str, "str")
        return _parse(text)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps from the root to this path."""
        steps = self._steps
        if steps is None:
            steps = self._steps = tuple(self._walk())
        return steps

    def _walk(self) -> list[Step]:
        """Return the steps and keep nothing. A path that is only written down stays one small object at any depth."""
        backwards: list[Step] = []
        path = self
        while path._parent is not None and path._step is not None:
            backwards.append(path._step)
            path = path._parent
        backwards.reverse()
        return backwards

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901)."""
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self._walk())

    def __truediv__(self, step: Step) -> Path:
        expect(step, (str, int), "union[str, int]")
        return Path(self, step)

    def __str__(self) -> str:
        return "$" + "".join([_segment(step) for step in self._walk()])

    def __repr__(self) -> str:
        return f"Path.parse({str(self)!r})"

    def __len__(self) -> int:
        return len(self.steps)

    def __bool__(self) -> bool:
        return True  # the root has no steps, but is a path too

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, index: int) -> Step:
        expect(index, int, "int")
        return self.steps[index]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Path):
            return self.steps == other.steps
        if isinstance(other, tuple):
            return self.steps == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.steps)

    def __reduce__(self) -> tuple[object, ...]:
        return Path.of, self.steps


ROOT: Final = Path(None, None)
"""The path of the whole document, ``$``."""


def _segment(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step.isidentifier():
        return "." + step
    return f"[{printable(quote(step))}]"  # messages show paths, and must stay one readable line


def _parse(text: str) -> Path:
    if text.startswith("$"):
        path, at = ROOT, 1
    elif text.startswith("["):
        path, at = ROOT, 0
    else:
        name, at = read_name(text, 0)
        path = Path(ROOT, name)
    while at < len(text):
        if text[at] == ".":
            name, at = read_name(text, at + 1)
            path = Path(path, name)
        elif text[at] == "[":
            step, at = read_quoted(text, at + 1) if text[at + 1 : at + 2] in {'"', "'"} else read_index(text, at + 1)
            if text[at : at + 1] != "]":
                raise PatternError("expected ']'", at)
            path, at = Path(path, step), at + 1
        else:
            raise PatternError("expected '.' or '['", at)
    return path


# The three ways to write a step. The patterns of select.py use them too.


def read_name(text: str, start: int) -> tuple[str, int]:
    """Return the bare name at `start`, and where it ends."""
    end = name_end(text, start)
    if end == start:
        raise PatternError("expected a name", start)
    return text[start:end], end


def name_end(text: str, start: int) -> int:
    """Return where the bare name at `start` ends; `start` if there is no name (RFC 9535, section 2.5.1.1)."""
    end = start
    while end < len(text):
        character = text[end]
        if character < "\x80":
            is_in_name = character.isalpha() or character == "_" or (end > start and character.isdigit())
        else:
            is_in_name = not 0xD800 <= ord(character) <= 0xDFFF  # half a surrogate pair
        if not is_in_name:
            break
        end += 1
    return end


def read_index(text: str, start: int) -> tuple[int, int]:
    """Return the index at `start`, and where it ends."""
    end = start
    while end < len(text) and "0" <= text[end] <= "9":
        end += 1
    digits = text[start:end]
    if not digits or (digits[0] == "0" and digits != "0"):
        raise PatternError("expected an index", start)
    if len(digits) > 16 or int(digits) > MAX_INDEX:
        raise PatternError(f"an index can be at most {MAX_INDEX}", start)
    return int(digits), end


def read_quoted(text: str, start: int) -> tuple[str, int]:
    """Return the key in single or double quotes at `start`, and where it ends."""
    mark = text[start]
    json_text: list[str] = []
    end = start + 1
    while end < len(text) and text[end] != mark:
        piece = text[end : end + 2] if text[end] == "\\" else text[end]
        if piece == '\\"' and mark == "'":  # RFC 9535, section 2.3.1.1: each kind of quotes escapes its own only
            raise PatternError("invalid quoted key", start)
        json_text.append("'" if piece == "\\'" == "\\" + mark else '\\"' if piece == '"' else piece)
        end += len(piece)
    import json  # takes long to import, and only patterns with quotes need it

    try:
        key: str = json.loads('"' + "".join(json_text) + '"')
    except ValueError:
        raise PatternError("invalid quoted key", start) from None
    if end >= len(text):
        raise PatternError("unterminated quoted key", start)
    return key, end + 1
