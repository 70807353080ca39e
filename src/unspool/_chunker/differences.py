"""`diff_snapshots`: where two snapshots differ."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Containers hold any JSON value; the code checks the type of each value before it uses it.

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, final

from .._path import ROOT, Path
from .reading import ANY_READER
from .values import same

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SnapshotDiff", "diff_snapshots"]


@final
@dataclass(frozen=True, slots=True)
class SnapshotDiff:
    """The paths at which two snapshots differ, each in one of four groups. The diff of equal snapshots is false.

    - `new`: only the later snapshot has a value there. The diff does not list its contents.
    - `removed`: only the earlier snapshot has a value there.
    - `extended`: a string that starts with the earlier string.
    - `changed`: any other difference, for example of the type.
    """

    new: tuple[Path, ...] = ()
    removed: tuple[Path, ...] = ()
    extended: tuple[Path, ...] = ()
    changed: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.removed or self.extended or self.changed)

    def __iter__(self) -> Iterator[tuple[str, Path]]:
        """Yield each path with the name of its group."""
        for name in ("new", "removed", "extended", "changed"):
            for path in getattr(self, name):
                yield name, path


def diff_snapshots(before: object, after: object) -> SnapshotDiff:
    """Return where `after` differs from `before`.

    Both are JSON text (str or bytes) or parsed values, as for `SnapshotChunker.process`. The order of keys does not
    matter, and numbers differ if their spelling does. In each group, paths come in the order of the document, but those
    of a container come before those inside its contents. Raise `SnapshotError` for anything that is not JSON: its
    `step` is 1 for `before` and 2 for `after`.

    >>> diff = diff_snapshots({"title": "Tr", "days": [1]}, {"title": "Trip", "days": [1, 2]})
    >>> [(name, str(path)) for name, path in diff]
    [('new', '$.days[1]'), ('extended', '$.title')]
    """
    new: list[Path] = []
    removed: list[Path] = []
    extended: list[Path] = []
    changed: list[Path] = []
    pairs = [(ROOT, ANY_READER.read(before, 1), ANY_READER.read(after, 2))]
    while pairs:
        path, one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            old, now = cast("dict[str, object]", one), cast("dict[str, object]", other)
            removed += [Path(path, key) for key in old if key not in now]
            new += [Path(path, key) for key in now if key not in old]
            pairs += [(Path(path, key), old[key], now[key]) for key in reversed(old) if key in now]
        elif isinstance(one, list) and isinstance(other, list):
            shared = min(len(one), len(other))
            removed += [Path(path, index) for index in range(shared, len(one))]
            new += [Path(path, index) for index in range(shared, len(other))]
            pairs += [(Path(path, index), one[index], other[index]) for index in range(shared - 1, -1, -1)]
        elif not same(one, other):
            is_longer = isinstance(one, str) and isinstance(other, str) and other.startswith(one)
            (extended if is_longer else changed).append(path)
    return SnapshotDiff(tuple(new), tuple(removed), tuple(extended), tuple(changed))
