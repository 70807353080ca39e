"""How a snapshot contradicts what is written to its end, place by place."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# What a dict or a list holds is any JSON value; each is looked at where it is taken.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from .._errors import Reason
from .._missing import MISSING
from .._path import Path

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Contradiction", "contradictions", "string_contradiction"]


class Contradiction(NamedTuple):
    """What the newest snapshot has at `path` cannot be; MISSING: it has nothing there."""

    path: Path
    reason: Reason
    value: object


def contradictions(path: Path, written: object, value: object) -> Iterator[Contradiction]:
    """Every place at which `value` differs from what is written at `path`, where nothing can be added any more."""
    pairs: list[tuple[Path, object, object]] = [(path, written, value)]
    while pairs:
        path, written, value = pairs.pop()
        if type(written) is not type(value):
            yield Contradiction(path, Reason.VANISHED if value is MISSING else Reason.CHANGED_KIND, value)
        elif isinstance(written, dict):
            seen = cast("dict[str, object]", value)
            members = cast("dict[str, object]", written)
            if not seen.keys() <= members.keys():
                yield Contradiction(path, Reason.GREW_LATE, value)
            pairs.extend([(Path(path, key), members[key], seen.get(key, MISSING)) for key in reversed(members)])
        elif isinstance(written, list):
            items = cast("list[object]", written)
            seen_items = cast("list[object]", value)
            if len(items) != len(seen_items):
                is_shorter = len(seen_items) < len(items)
                yield Contradiction(path, Reason.SHORTER if is_shorter else Reason.GREW_LATE, value)
            shared = range(min(len(items), len(seen_items)) - 1, -1, -1)
            pairs.extend([(Path(path, index), items[index], seen_items[index]) for index in shared])
        elif written == value:
            continue
        elif isinstance(written, str):
            yield Contradiction(path, string_contradiction(written, cast("str", value)), value)
        else:
            yield Contradiction(path, Reason.CHANGED, value)


def string_contradiction(written: str, text: str) -> Reason:
    """What is wrong with a string that is not the one that was written."""
    if text.startswith(written):
        return Reason.GREW_LATE
    return Reason.SHRUNK if written.startswith(text) else Reason.REWRITTEN
